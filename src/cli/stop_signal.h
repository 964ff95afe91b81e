// SIGINT and SIGTERM as a call.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace fjord {

// While it lives, the first SIGINT or SIGTERM calls `on_stop` on a thread of its own; a second one
// ends the process as usual. Make it before any other thread, so that all inherit the mask.
class StopSignal {
 public:
  explicit StopSignal(std::function<void()> on_stop);
  ~StopSignal();
  bool stopped() const { return stopped_; }

 private:
  std::atomic<bool> stopped_{false};
  std::atomic<bool> ended_{false};
  std::function<void()> on_stop_;
  std::thread thread_;
};

}  // namespace fjord
