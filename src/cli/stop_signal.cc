#include "cli/stop_signal.h"

#include <csignal>
#include <ctime>

namespace fjord {
namespace {

sigset_t StopSet() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

StopSignal::StopSignal(std::function<void()> on_stop) : on_stop_(std::move(on_stop)) {
  const sigset_t set = StopSet();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this] {
    const sigset_t waited = StopSet();
    const timespec tick{.tv_sec = 0, .tv_nsec = 50'000'000};
    while (!ended_) {
      if (sigtimedwait(&waited, nullptr, &tick) < 0) continue;
      if (stopped_.exchange(true)) std::_Exit(130);
      on_stop_();
    }
  });
}

StopSignal::~StopSignal() {
  ended_ = true;
  thread_.join();
}

}  // namespace fjord
