// The threads that epochs run on. A task is submitted only for a table that has none running, so
// the queue is bounded by the number of tables.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace fjord {

class EpochPool {
 public:
  explicit EpochPool(int threads);
  ~EpochPool() { Stop(); }
  void Submit(std::function<void()> task);
  // Ends after the tasks that run; queued ones are dropped.
  void Stop();

 private:
  void Work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace fjord
