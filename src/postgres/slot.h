// Logical replication slots: their state, making and dropping them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/ids.h"
#include "postgres/connection.h"

namespace fjord {

struct SlotState {
  std::string name;
  std::string plugin;
  std::string database;
  bool is_logical = true;
  bool is_temporary = false;
  std::optional<int> active_pid;
  Lsn confirmed_flush_lsn;
  Lsn restart_lsn;           // 0: WAL is gone
  std::string wal_status;    // reserved, extended, unreserved, lost
  std::string invalidation;  // why it cannot be used any more, in words; empty: it can
  std::optional<int64_t>
      safe_wal_bytes;              // that may be written before it is in danger; nothing: no limit
  int64_t retained_wal_bytes = 0;  // from restart_lsn to the current end
  int64_t catalog_xmin_age = 0;    // in transactions
};
// Nothing when there is no such slot. `session`: an ordinary one.
absl::StatusOr<std::optional<SlotState>> ReadSlot(Connection& session, std::string_view name);

enum class SlotLife { kPermanent, kTemporary };
struct NewSlot {
  std::string name;
  Lsn consistent_point;       // changes of transactions that commit after it come through the slot
  std::string snapshot_name;  // shows exactly what committed before; valid while `session` lives
                              // and runs nothing else
};
// A transaction that the making of a slot waits for, or that holds back its restart position.
struct OldTransaction {
  int pid = 0;           // 0: a prepared transaction
  std::string prepared;  // its gid then
  std::string user;
  std::string application;
  std::string state;  // "idle in transaction"
  double age_seconds = 0;
};
// Oldest first, without our own session. `session`: an ordinary one.
absl::StatusOr<std::vector<OldTransaction>> ReadOldTransactions(Connection& session);
// "pid 4711 (user app, psql, idle in transaction for 312 s)"
std::string Describe(const OldTransaction& transaction);

// Makes a pgoutput slot with an exported snapshot. The server waits for all transactions that run
// now; each `interval` meanwhile `on_wait` is called (ask ReadOldTransactions on another session
// there); an error from it ends the waiting. `session` is a replication session. kAlreadyExists;
// kFailedPrecondition: wal_level, no free slot, missing REPLICATION.
absl::StatusOr<NewSlot> CreateSlot(Connection& session, std::string_view name, SlotLife life,
                                   absl::Duration interval,
                                   const std::function<absl::Status()>& on_wait);

// Does nothing when there is none. `session`: an ordinary one. kUnavailable when it is in use.
absl::Status DropSlot(Connection& session, std::string_view name);

// Lower-case letters, digits and underscores, at most 63, as PostgreSQL asks of a slot's name.
std::string SlotNameFor(std::string_view replication);

}  // namespace fjord
