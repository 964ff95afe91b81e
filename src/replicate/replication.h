// One replication: a PostgreSQL database's tables kept current in the lake.
//
// Run does everything from the checks to the clean stop. Threads: the caller's (scheduler,
// acknowledgement, control record), the stream's (StreamThread), a pool for epochs, and during a
// first copy the copier's workers. Other threads may call Snapshot at any time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/ids.h"
#include "catalog/catalog.h"
#include "lake/retention.h"
#include "postgres/connection.h"
#include "postgres/types.h"
#include "replicate/collapse.h"

namespace fjord {

class ObjectStore;

struct ReplicatedTableOptions {
  std::string source_schema;
  std::string source_name;
  TableIdent target;
  bool append_only = false;
  DivergenceRule divergence = DivergenceRule::kBlock;
  UnrepresentablePolicy unrepresentable = UnrepresentablePolicy::kBlock;
  bool accept_external_writes = false;
};

struct ReplicationOptions {
  std::string name;
  ConnectionOptions connection;
  std::string slot;
  std::string publication;
  std::string append_only_publication;
  // Decides for each table of the source whether it is replicated, and how.
  std::vector<ReplicatedTableOptions> tables;
  absl::Duration publish_every = absl::Milliseconds(500);
  int64_t publish_rows = 20'000;
  int64_t publish_bytes = 64 << 20;
  RetentionPolicy retention;
  int64_t memory_bytes_max = 256 << 20;
  int workers = 2;
  std::string state_dir;  // of this replication
};

struct ReplicationEnvironment {
  Catalog* catalog = nullptr;
  ObjectStore* store = nullptr;
};

enum class TableState {
  kStarting,
  kCopying,
  kStreaming,
  kRecovering,  // failed for a reason that may pass, and is brought back by itself
  kBlocked,     // waits for a person
};
std::string_view TableStateName(TableState state);

// What a table looks like now.
struct TableStatus {
  std::string source;
  std::string target;
  TableState state = TableState::kStarting;
  std::string reason;  // of kBlocked and kRecovering
  int64_t rows = 0;
  Lsn watermark;
  int64_t pending_bytes = 0;  // of changes received and not published
  double lag_seconds = 0;     // age of the oldest commit not published
  int64_t epochs = 0;
  int64_t changes = 0;
  int64_t repaired = 0;  // changes that onDivergence: repair took
  int64_t nulled = 0;    // values that onUnrepresentable: null gave up
  int64_t copy_rows = 0;
  int64_t copy_bytes = 0;
  double copy_fraction = 0;  // 0 … 1
};

struct ReplicationStatus {
  std::string name;
  bool connected = false;
  std::string last_error;
  Lsn received;
  Lsn confirmed;
  int64_t window_bytes = 0;
  int64_t spool_bytes = 0;
  int64_t retained_wal_bytes = 0;  // at the source, for the slot; looked up now and then
  int64_t catalog_xmin_age = 0;    // in transactions
  std::vector<TableStatus> tables;
  // True when every table streams and the connection stands.
  bool ready() const;
};

enum class RunUntil {
  kStopped,  // until Stop
  kCopied,   // until every table has its base
};

class ReplicationRunner {
 public:
  ReplicationRunner(ReplicationOptions options, ReplicationEnvironment environment);
  ~ReplicationRunner();

  // Blocks. kFailedPrecondition: configuration or source; kDataLoss: the source can no longer
  // continue (exit 79).
  absl::Status Run(RunUntil until);
  // Any thread, also a signal's helper thread: publish what was received, confirm
  // it, and return from Run.
  void Stop();
  ReplicationStatus Snapshot() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fjord
