#include "cli/runner.h"

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/time/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/status.h"
#include "base/strings.h"
#include "cli/assemble.h"
#include "cli/stop_signal.h"
#include "server/metrics_text.h"
#include "server/status_server.h"

namespace fjord {
namespace {

constexpr absl::Duration kStartWindow = absl::Seconds(60);
constexpr absl::Duration kRetryPause = absl::Seconds(2);

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
    if (absl::IsUnavailable(status)) return ExitCode::kUnavailable;
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

void WriteStatusFile(const Config& config, const ReplicationStatus& status) {
  const std::string path = StatusFile(config, status.name);
  const std::string temporary = StrCat(path, ".tmp");
  {
    std::ofstream out(temporary);
    out << FormatStatus(status) << "\n";
  }
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
}

}  // namespace

std::string StatusFile(const Config& config, const std::string& replication) {
  return StrCat(config.state_dir, "/", replication, "/status.json");
}

std::string FormatStatus(const ReplicationStatus& status) {
  Json json = Json::MakeObject();
  json.Set("replication", status.name);
  json.Set("time_ms", absl::ToUnixMillis(absl::Now()));
  json.Set("ready", status.ready());
  json.Set("connected", status.connected);
  if (!status.last_error.empty()) json.Set("last_error", status.last_error);
  json.Set("received_lsn", FormatLsn(status.received));
  json.Set("confirmed_lsn", FormatLsn(status.confirmed));
  json.Set("window_bytes", status.window_bytes);
  json.Set("spool_bytes", status.spool_bytes);
  Json tables = Json::MakeArray();
  for (const TableStatus& table : status.tables) {
    Json item = Json::MakeObject();
    item.Set("source", table.source);
    item.Set("target", table.target);
    item.Set("state", TableStateName(table.state));
    if (!table.reason.empty()) item.Set("reason", table.reason);
    item.Set("rows", table.rows);
    item.Set("watermark", FormatLsn(table.watermark));
    item.Set("pending_bytes", table.pending_bytes);
    item.Set("lag_seconds", table.lag_seconds);
    item.Set("epochs", table.epochs);
    item.Set("changes", table.changes);
    if (table.state == TableState::kCopying) {
      Json copy = Json::MakeObject();
      copy.Set("rows", table.copy_rows);
      copy.Set("bytes", table.copy_bytes);
      copy.Set("fraction", table.copy_fraction);
      item.Set("copy", std::move(copy));
    }
    tables.Push(std::move(item));
  }
  json.Set("tables", std::move(tables));
  return json.Dump();
}

std::string RenderMetrics(const std::vector<ReplicationStatus>& all) {
  MetricsText metrics;
  const auto per_table = [&](std::string_view name, MetricKind kind, std::string_view help,
                             auto value) {
    metrics.Begin(name, kind, help);
    for (const ReplicationStatus& status : all) {
      for (const TableStatus& table : status.tables) {
        metrics.Add({{"replication", status.name}, {"table", table.source}},
                    static_cast<double>(value(table)));
      }
    }
  };
  per_table("fjord_table_rows", MetricKind::kGauge, "Live rows of the lake table.",
            [](const auto& t) { return t.rows; });
  per_table("fjord_table_lag_seconds", MetricKind::kGauge,
            "Age of the oldest commit that is not published.",
            [](const auto& t) { return t.lag_seconds; });
  per_table("fjord_table_pending_bytes", MetricKind::kGauge, "Changes received and not published.",
            [](const auto& t) { return t.pending_bytes; });
  per_table("fjord_table_streaming", MetricKind::kGauge, "1 while the table follows its source.",
            [](const auto& t) { return t.state == TableState::kStreaming ? 1 : 0; });
  per_table("fjord_table_blocked", MetricKind::kGauge,
            "1 while the table is set aside and waits for a person.",
            [](const auto& t) { return t.state == TableState::kBlocked ? 1 : 0; });
  per_table("fjord_table_publications_total", MetricKind::kCounter,
            "Published epochs since the start.", [](const auto& t) { return t.epochs; });
  per_table("fjord_table_changes_total", MetricKind::kCounter, "Published changes since the start.",
            [](const auto& t) { return t.changes; });
  const auto per_replication = [&](std::string_view name, std::string_view help, auto value) {
    metrics.Begin(name, MetricKind::kGauge, help);
    for (const ReplicationStatus& status : all) {
      metrics.Add({{"replication", status.name}}, static_cast<double>(value(status)));
    }
  };
  per_replication("fjord_connected", "1 while the replication connection stands.",
                  [](const auto& s) { return s.connected ? 1 : 0; });
  per_replication("fjord_received_lsn_bytes", "Position up to which the stream was received.",
                  [](const auto& s) { return s.received.value; });
  per_replication("fjord_confirmed_lsn_bytes", "Position that the source may forget.",
                  [](const auto& s) { return s.confirmed.value; });
  per_replication("fjord_retained_wal_bytes", "WAL that the source keeps for the slot.",
                  [](const auto& s) { return s.retained_wal_bytes; });
  per_replication("fjord_slot_xmin_age_transactions",
                  "Age of the catalogue horizon that the slot holds.",
                  [](const auto& s) { return s.catalog_xmin_age; });
  per_replication("fjord_window_bytes", "Changes held in memory.",
                  [](const auto& s) { return s.window_bytes; });
  per_replication("fjord_spool_bytes", "Changes held on local disk.",
                  [](const auto& s) { return s.spool_bytes; });
  return metrics.text();
}

ExitCode RunReplications(const Config& config, RunUntil until) {
  std::vector<std::unique_ptr<ReplicationThread>> threads;
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
  const auto snapshots = [&] {
    std::vector<ReplicationStatus> all;
    for (const auto& thread : threads) {
      if (const std::optional<ReplicationStatus> status = thread->Snapshot())
        all.push_back(*status);
    }
    return all;
  };
  std::unique_ptr<StatusServer> server;
  if (config.server && until == RunUntil::kStopped) {
    absl::StatusOr<std::unique_ptr<StatusServer>> started = StatusServer::Start(
        config.server->host, config.server->port,
        {.ready =
             [&] {
               const std::vector<ReplicationStatus> all = snapshots();
               return all.size() == threads.size() &&
                      std::all_of(all.begin(), all.end(),
                                  [](const ReplicationStatus& status) { return status.ready(); });
             },
         .metrics = [&] { return RenderMetrics(snapshots()); }});
    if (started.ok()) {
      server = *std::move(started);
      LogInfo("status pages are served",
              {{"address", StrCat(config.server->host, ":", server->port())}});
    } else {
      LogError(StrCat("server.listen: ", Message(started.status())));
      for (const auto& thread : threads) thread->Stop();
    }
  }
  absl::Time next_status = absl::Now();
  while (!std::all_of(threads.begin(), threads.end(),
                      [](const auto& thread) { return thread->done(); })) {
    absl::SleepFor(absl::Milliseconds(50));
    if (absl::Now() < next_status) continue;
    next_status = absl::Now() + absl::Milliseconds(500);
    for (const auto& thread : threads) {
      if (const std::optional<ReplicationStatus> status = thread->Snapshot())
        WriteStatusFile(config, *status);
    }
  }
  for (const auto& thread : threads) {
    thread->Join();
    std::error_code error;
    std::filesystem::remove(StatusFile(config, thread->name()), error);
  }
  for (const auto& thread : threads) {
    if (thread->exit_code() != ExitCode::kClean) return thread->exit_code();
  }
  return ExitCode::kClean;
}

}  // namespace fjord
