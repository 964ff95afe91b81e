// Gathering of the facts; source_findings.cc judges them.
#include "postgres/source_check.h"

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

bool Matches(const TablePattern& pattern, const TableInfo& table) {
  if (pattern.schema != table.schema) return false;
  if (pattern.name) return *pattern.name == table.name;
  const bool is_table =
      table.kind == RelationKind::kTable || table.kind == RelationKind::kPartitionedTable;
  return is_table && !table.is_partition && table.persistence != Persistence::kTemporary;
}

// The entry that a table belongs to: one with its name goes before one for its schema.
const CheckedTable* EntryOf(const std::vector<CheckedTable>& entries, const TableInfo& table) {
  const CheckedTable* by_schema = nullptr;
  for (const CheckedTable& entry : entries) {
    if (!Matches(entry.pattern, table)) continue;
    if (entry.pattern.name) return &entry;
    if (by_schema == nullptr) by_schema = &entry;
  }
  return by_schema;
}

absl::Status ReadServerFacts(Connection& session, SourceFacts& facts) {
  ASSIGN_OR_RETURN(
      const QueryResult rows,
      session.Query(
          "SELECT current_setting('wal_level'), current_setting('max_replication_slots'), "
          "current_setting('max_wal_senders'), coalesce(current_setting('max_slot_wal_keep_size', "
          "true), ''), "
          "coalesce(current_setting('idle_replication_slot_timeout', true), ''), "
          "(SELECT count(*) FROM pg_catalog.pg_replication_slots), "
          "(SELECT count(*) FROM pg_catalog.pg_stat_replication), "
          "r.rolreplication, r.rolsuper, r.rolbypassrls, "
          "has_database_privilege(current_database(), 'CREATE') "
          "FROM pg_catalog.pg_roles r WHERE r.rolname = current_user"));
  if (rows.rows() != 1) return absl::InternalError("the current role is not in pg_roles");
  auto number = [&](int column) { return ParseInt<int>(rows.Text(0, column)).value_or(0); };
  auto flag = [&](int column) { return rows.Text(0, column) == "t"; };
  facts.wal_level = std::string(rows.Text(0, 0));
  facts.max_replication_slots = number(1);
  facts.max_wal_senders = number(2);
  facts.max_slot_wal_keep_size = std::string(rows.Text(0, 3));
  facts.idle_slot_timeout = std::string(rows.Text(0, 4));
  facts.used_replication_slots = number(5);
  facts.used_wal_senders = number(6);
  facts.role_can_replicate = flag(7);
  facts.role_is_superuser = flag(8);
  facts.role_bypasses_rls = flag(9);
  facts.can_create_in_database = flag(10);
  return absl::OkStatus();
}

absl::Status ReadTableFacts(Connection& session, const SourceCheckOptions& options,
                            SourceFacts& facts) {
  std::vector<TablePattern> patterns;
  for (const CheckedTable& entry : options.tables) patterns.push_back(entry.pattern);
  ASSIGN_OR_RETURN(std::vector<TableInfo> tables, ReadTables(session, patterns));
  for (const CheckedTable& entry : options.tables) {
    const bool matched = std::any_of(tables.begin(), tables.end(), [&](const TableInfo& table) {
      return Matches(entry.pattern, table);
    });
    if (!matched) facts.unmatched.push_back(entry);
  }
  for (TableInfo& table : tables) {
    const CheckedTable* entry = EntryOf(options.tables, table);
    facts.tables.push_back(
        {.info = std::move(table), .append_only = entry != nullptr && entry->append_only});
  }
  return absl::OkStatus();
}

// Why no replication session can be had, or "".
std::string TryReplicationSession(const ConnectionOptions& options) {
  ConnectionOptions replication = options;
  replication.kind = SessionKind::kReplication;
  auto connection = Connection::Open(replication);
  if (!connection.ok()) return std::string(Message(connection.status()));
  const auto identity = ReadSourceIdentity(**connection);
  return identity.ok() ? "" : std::string(Message(identity.status()));
}

}  // namespace

absl::StatusOr<SourceFacts> GatherSourceFacts(const SourceCheckOptions& options) {
  ConnectionOptions ordinary = options.connection;
  ordinary.kind = SessionKind::kOrdinary;
  ASSIGN_OR_RETURN(std::unique_ptr<Connection> session, Connection::Open(ordinary));
  SourceFacts facts;
  ASSIGN_OR_RETURN(facts.server, ReadServerInfo(*session));
  RETURN_IF_ERROR(ReadServerFacts(*session, facts));
  ASSIGN_OR_RETURN(facts.slot, ReadSlot(*session, options.slot));
  ASSIGN_OR_RETURN(facts.publication, ReadPublication(*session, options.publication));
  ASSIGN_OR_RETURN(facts.append_only_publication,
                   ReadPublication(*session, options.append_only_publication));
  RETURN_IF_ERROR(ReadTableFacts(*session, options, facts));
  facts.replication_error = TryReplicationSession(options.connection);
  return facts;
}

}  // namespace fjord
