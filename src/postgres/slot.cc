#include "postgres/slot.h"

#include <cctype>

#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

std::string SlotSql(int version, std::string_view name) {
  // Since 16 a logical slot can be in conflict with recovery on a standby; since 17 the server
  // names the reason.
  const std::string_view reason = version >= 170000 ? "coalesce(s.invalidation_reason, '')"
                                  : version >= 160000
                                      ? "CASE WHEN s.conflicting THEN 'conflict' ELSE '' END"
                                      : "''";
  return StrCat(
      "SELECT s.plugin, s.database, s.slot_type, s.temporary, s.active_pid, s.confirmed_flush_lsn, "
      "s.restart_lsn, "
      "s.wal_status, s.safe_wal_size, "
      "coalesce(pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() "
      "ELSE pg_current_wal_lsn() END, s.restart_lsn)::bigint, 0), coalesce(age(s.catalog_xmin), "
      "0), ",
      reason, " FROM pg_catalog.pg_replication_slots s WHERE s.slot_name = ", QuoteLiteral(name));
}

std::string InvalidationOf(std::string_view wal_status, std::string_view reason) {
  if (reason == "wal_removed" || (reason.empty() && wal_status == "lost")) {
    return "the server removed WAL that the slot still needed (max_slot_wal_keep_size)";
  }
  if (reason == "idle_timeout")
    return "it was unused for longer than idle_replication_slot_timeout";
  if (reason == "rows_removed")
    return "rows that it needed were removed (conflict with recovery on a standby)";
  if (reason == "wal_level_insufficient") return "the primary's wal_level was lowered";
  if (reason == "conflict") return "it was in conflict with recovery on a standby";
  return std::string(reason);
}

Lsn LsnOrNone(std::optional<std::string_view> text) {
  if (!text) return Lsn();
  const auto lsn = ParseLsn(*text);
  return lsn.ok() ? *lsn : Lsn();
}

}  // namespace

absl::StatusOr<std::optional<SlotState>> ReadSlot(Connection& session, std::string_view name) {
  ASSIGN_OR_RETURN(const QueryResult rows, session.Query(SlotSql(session.server_version(), name)));
  if (rows.rows() == 0) return std::optional<SlotState>();
  SlotState slot{.name = std::string(name)};
  slot.plugin = std::string(rows.Text(0, 0));
  slot.database = std::string(rows.Text(0, 1));
  slot.is_logical = rows.Text(0, 2) == "logical";
  slot.is_temporary = rows.Text(0, 3) == "t";
  if (const auto pid = rows.Get(0, 4)) slot.active_pid = ParseInt<int>(*pid);
  slot.confirmed_flush_lsn = LsnOrNone(rows.Get(0, 5));
  slot.restart_lsn = LsnOrNone(rows.Get(0, 6));
  slot.wal_status = std::string(rows.Text(0, 7));
  if (const auto safe = rows.Get(0, 8)) slot.safe_wal_bytes = ParseInt<int64_t>(*safe);
  slot.retained_wal_bytes = ParseInt<int64_t>(rows.Text(0, 9)).value_or(0);
  slot.catalog_xmin_age = ParseInt<int64_t>(rows.Text(0, 10)).value_or(0);
  slot.invalidation = InvalidationOf(slot.wal_status, rows.Text(0, 11));
  return slot;
}

absl::StatusOr<std::vector<OldTransaction>> ReadOldTransactions(Connection& session) {
  // Only transactions with an xid count, of any database: a slot's making waits for those.
  ASSIGN_OR_RETURN(const QueryResult rows, session.Query(R"(
SELECT pid, '' AS gid, coalesce(usename, ''), coalesce(application_name, ''), coalesce(state, ''),
       extract(epoch FROM now() - xact_start) AS age
FROM pg_catalog.pg_stat_activity
WHERE backend_xid IS NOT NULL AND pid <> pg_backend_pid()
UNION ALL
SELECT 0, gid, owner, '', 'prepared', extract(epoch FROM now() - prepared) FROM pg_catalog.pg_prepared_xacts
ORDER BY age DESC NULLS LAST)"));
  std::vector<OldTransaction> transactions;
  for (int row = 0; row < rows.rows(); ++row) {
    transactions.push_back(
        {.pid = ParseInt<int>(rows.Text(row, 0)).value_or(0),
         .prepared = std::string(rows.Text(row, 1)),
         .user = std::string(rows.Text(row, 2)),
         .application = std::string(rows.Text(row, 3)),
         .state = std::string(rows.Text(row, 4)),
         .age_seconds = std::strtod(std::string(rows.Text(row, 5)).c_str(), nullptr)});
  }
  return transactions;
}

std::string Describe(const OldTransaction& transaction) {
  const int64_t seconds = static_cast<int64_t>(transaction.age_seconds);
  if (transaction.pid == 0) {
    return StrCat("prepared transaction ", QuoteLiteral(transaction.prepared), " (user ",
                  transaction.user, ", prepared ", seconds, " s ago)");
  }
  return StrCat("pid ", transaction.pid, " (user ", transaction.user,
                transaction.application.empty() ? "" : ", ", transaction.application,
                transaction.state.empty() ? "" : ", ", transaction.state, ", open for ", seconds,
                " s)");
}

absl::StatusOr<NewSlot> CreateSlot(Connection& session, std::string_view name, SlotLife life,
                                   absl::Duration interval,
                                   const std::function<absl::Status()>& on_wait) {
  // The form without parentheses is the one that all versions know.
  const std::string sql =
      StrCat("CREATE_REPLICATION_SLOT ", QuoteIdent(name),
             life == SlotLife::kTemporary ? " TEMPORARY" : "", " LOGICAL pgoutput EXPORT_SNAPSHOT");
  auto rows = session.QueryWaiting(sql, interval, on_wait);
  if (!rows.ok())
    return Annotate(rows.status(), StrCat("cannot create the replication slot ", name));
  if (rows->rows() != 1 || rows->columns() < 3) {
    return absl::InternalError(
        "CREATE_REPLICATION_SLOT did not answer with one row of four columns");
  }
  ASSIGN_OR_RETURN(const Lsn consistent_point, ParseLsn(rows->Text(0, 1)));
  return NewSlot{.name = std::string(rows->Text(0, 0)),
                 .consistent_point = consistent_point,
                 .snapshot_name = std::string(rows->Text(0, 2))};
}

absl::Status DropSlot(Connection& session, std::string_view name) {
  return Annotate(session
                      .Query("SELECT pg_catalog.pg_drop_replication_slot(slot_name) "
                             "FROM pg_catalog.pg_replication_slots WHERE slot_name = $1",
                             {std::string(name)})
                      .status(),
                  StrCat("cannot drop the replication slot ", name));
}

std::string SlotNameFor(std::string_view replication) {
  constexpr size_t kNameBytesMax = 63;
  std::string name = "fjord_";
  for (const char c : replication) {
    if (name.size() == kNameBytesMax) break;
    const bool kept =
        std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 0x80;
    name += kept ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '_';
  }
  return name;
}

}  // namespace fjord
