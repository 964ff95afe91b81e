// Everything that a replication keeps about one table. Owned by the runner; who may touch a member
// is said beside it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "absl/time/time.h"
#include "postgres/publication.h"
#include "replicate/copier.h"
#include "replicate/replication.h"
#include "replicate/router.h"
#include "replicate/source.h"
#include "replicate/table_worker.h"

namespace fjord {

// The way of a table, as the runner sees it.
//
//   kOpening ─► kCopying ─► kJoining ─► kLive ─► kRewinding ─► kJoining …
//   any ─► kBlocked, until a person acted and the process was started again
enum class TablePhase {
  kOpening,  // the lake table is being opened
  kCopying,  // waits for its base
  kJoining,  // has its base; the stream takes it up at its next connection
  kLive,
  kRewinding,  // an epoch failed for a passing reason: opened again after a pause
  kBlocked,
};

struct ReplicatedTable {
  ReplicatedTable(WindowAccount* account, Spool* spool) : routed(account, spool) {}

  // Set before any thread starts, then constant.
  SourceTable source;
  TableShape shape;
  CatalogRow membership;
  std::string row_filter;
  std::string table_uuid;  // of the lake table; empty when it could not be opened

  // The control record knows a base of it; if it cannot be opened now, its
  // WAL is kept all the same.
  bool known = false;

  // The runner's thread, or the one worker that has `busy`.
  std::unique_ptr<TableWorker> worker;

  // Any thread.
  // Every change after this was or will be received, as far as the slot can give it; 0: there is no
  // base to keep current.
  std::atomic<uint64_t> covered_since{0};
  RoutedTable routed;
  TableCounters counters;
  CopyProgress copy;
  std::atomic<TablePhase> phase{TablePhase::kOpening};
  std::atomic<bool> busy{false};

  // The runner's thread.
  absl::Time last_epoch = absl::InfinitePast();
  absl::Time retry_at = absl::InfinitePast();
  absl::Duration backoff = absl::Milliseconds(200);

  // Waits for a person.
  void Block(std::string why) { SetAside(std::move(why), TablePhase::kBlocked); }
  // Changes are dropped until the table joins the stream again. The phase is set once: the runner
  // ends when it sees every table blocked.
  void SetAside(std::string why, TablePhase next) {
    std::lock_guard lock(mutex_);
    reason_ = std::move(why);
    routed.blocked = true;
    phase = next;
  }
  std::string reason() const {
    std::lock_guard lock(mutex_);
    return reason_;
  }

 private:
  mutable std::mutex mutex_;
  std::string reason_;
};

}  // namespace fjord
