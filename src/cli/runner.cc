#include "cli/runner.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/time/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "base/strings.h"
#include "cli/assemble.h"
#include "cli/metrics.h"
#include "cli/status_file.h"
#include "cli/stop_signal.h"
#include "server/status_server.h"

namespace fjord {
namespace {

constexpr absl::Duration kStartWindow = absl::Seconds(60);
constexpr absl::Duration kRetryPause = absl::Seconds(2);
constexpr absl::Duration kStatusInterval = absl::Milliseconds(500);

// One replication's thread: tries again while a dependency is away, within the start-up window or
// after it once ran.
class ReplicationThread {
 public:
  ReplicationThread(const Config& config, const Replication& replication, RunUntil until)
      : config_(config), replication_(replication), until_(until), thread_([this] { Run(); }) {}
  ~ReplicationThread() { Join(); }

  void Join() {
    if (thread_.joinable()) thread_.join();
  }
  void Stop() {
    std::lock_guard lock(mutex_);
    stop_ = true;
    if (runner_ != nullptr) runner_->Stop();
  }
  bool done() const { return done_; }
  ExitCode exit_code() const { return exit_code_; }
  const std::string& name() const { return replication_.name; }
  std::optional<ReplicationStatus> Snapshot() const {
    std::lock_guard lock(mutex_);
    if (runner_ == nullptr) return std::nullopt;
    return runner_->Snapshot();
  }

 private:
  void Run() {
    absl::Time give_up = absl::Now() + kStartWindow;
    while (true) {
      const absl::Time started = absl::Now();
      const absl::Status status = RunOnce();
      if (status.ok() || stop_) {
        exit_code_ = status.ok() ? ExitCode::kClean : ExitCodeOf(status);
        break;
      }
      if (absl::Now() - started > kStartWindow)
        give_up = absl::Now() + kStartWindow;  // it ran for a while
      const bool passing = absl::IsUnavailable(status) || absl::IsUnknown(status) ||
                           absl::IsDeadlineExceeded(status);
      if (!passing || absl::Now() > give_up) {
        LogError(StrCat("replication ", replication_.name, " ended: ", Message(status)));
        exit_code_ = ExitCodeOf(status);
        break;
      }
      if (said_ != status) {
        LogWarning(StrCat("replication ", replication_.name,
                          " is started again until it runs: ", Message(status)));
        said_ = status;
      }
      const absl::Time until = absl::Now() + kRetryPause;
      while (!stop_ && absl::Now() < until) absl::SleepFor(absl::Milliseconds(50));
    }
    done_ = true;
  }

  static ExitCode ExitCodeOf(const absl::Status& status) {
    if (absl::IsDataLoss(status)) return ExitCode::kSourceGone;
    return ExitCodeFor(status);
  }

  absl::Status RunOnce() {
    ASSIGN_OR_RETURN(const LakeHandle lake, OpenLake(replication_));
    ASSIGN_OR_RETURN(ReplicationOptions options, MakeReplicationOptions(config_, replication_));
    {
      std::lock_guard lock(mutex_);
      if (stop_) return absl::OkStatus();
      runner_ = std::make_unique<ReplicationRunner>(
          std::move(options),
          ReplicationEnvironment{.catalog = lake.catalog.get(), .store = lake.store.get()});
    }
    const absl::Status status = runner_->Run(until_);
    std::lock_guard lock(mutex_);
    runner_.reset();
    return status;
  }

  const Config& config_;
  const Replication& replication_;
  const RunUntil until_;
  mutable std::mutex mutex_;
  std::unique_ptr<ReplicationRunner> runner_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> done_{false};
  ExitCode exit_code_ = ExitCode::kClean;
  absl::Status said_;  // of the thread: the last reason, said once
  std::thread thread_;
};

using Threads = std::vector<std::unique_ptr<ReplicationThread>>;

std::vector<ReplicationStatus> Snapshots(const Threads& threads) {
  std::vector<ReplicationStatus> all;
  for (const auto& thread : threads) {
    if (std::optional<ReplicationStatus> status = thread->Snapshot())
      all.push_back(*std::move(status));
  }
  return all;
}

absl::StatusOr<std::unique_ptr<StatusServer>> StartStatusServer(const ServerConfig& config,
                                                                const Threads& threads) {
  const auto ready = [&threads] {
    const std::vector<ReplicationStatus> all = Snapshots(threads);
    return all.size() == threads.size() &&
           std::all_of(all.begin(), all.end(),
                       [](const ReplicationStatus& status) { return status.ready(); });
  };
  return StatusServer::Start(config.host, config.port, {.ready = ready, .metrics = [&threads] {
                                                          return RenderMetrics(Snapshots(threads));
                                                        }});
}

// Writes the status files until every thread is done; then they go.
void WaitForAll(const Config& config, const Threads& threads) {
  absl::Time next_status = absl::Now();
  while (!std::all_of(threads.begin(), threads.end(),
                      [](const auto& thread) { return thread->done(); })) {
    absl::SleepFor(absl::Milliseconds(50));
    if (absl::Now() < next_status) continue;
    next_status = absl::Now() + kStatusInterval;
    for (const ReplicationStatus& status : Snapshots(threads)) WriteStatusFile(config, status);
  }
  for (const auto& thread : threads) {
    thread->Join();
    std::error_code error;
    std::filesystem::remove(StatusFile(config, thread->name()), error);
  }
}

}  // namespace

ExitCode RunReplications(const Config& config, RunUntil until) {
  Threads threads;
  std::mutex mutex;
  StopSignal signal([&] {
    std::lock_guard lock(mutex);
    LogInfo("stopping");
    for (const auto& thread : threads) thread->Stop();
  });
  {
    std::lock_guard lock(mutex);
    for (const auto& [name, replication] : config.replications) {
      std::error_code error;
      std::filesystem::create_directories(StrCat(config.state_dir, "/", name), error);
      threads.push_back(std::make_unique<ReplicationThread>(config, replication, until));
    }
    if (signal.stopped()) {
      for (const auto& thread : threads) thread->Stop();
    }
  }
  absl::StatusOr<std::unique_ptr<StatusServer>> server(nullptr);
  if (config.server && until == RunUntil::kStopped) {
    server = StartStatusServer(*config.server, threads);
    if (server.ok()) {
      LogInfo("status pages are served",
              {{"address", StrCat(config.server->host, ":", (*server)->port())}});
    } else {
      LogError(StrCat("server.listen: ", Message(server.status())));
      for (const auto& thread : threads) thread->Stop();
    }
  }
  WaitForAll(config, threads);
  for (const auto& thread : threads) {
    if (thread->exit_code() != ExitCode::kClean) return thread->exit_code();
  }
  return ExitCode::kClean;
}

}  // namespace fjord
