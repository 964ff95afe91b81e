// What PostgreSQL's system catalogue says of a server and its tables. Read-only queries; works with
// 14 and later.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "postgres/connection.h"

namespace fjord {

// Identity of a server as a source: a position means something only together with these.
struct SourceIdentity {
  std::string system_identifier;  // made by initdb; decimal
  TimelineId timeline;
  Lsn wal_position;  // the end of what is flushed
  bool in_recovery = false;
  std::string database;
};
// `session` is a replication session (IDENTIFY_SYSTEM: the current timeline, also
// right after a promotion).
absl::StatusOr<SourceIdentity> ReadSourceIdentity(Connection& session);

// One line of a timeline's history: `timeline` ended at `end`, where the next one begins.
struct TimelineEnd {
  TimelineId timeline;
  Lsn end;
};
// Ancestors of a timeline, oldest first; none for timeline 1. `session` is a replication session.
absl::StatusOr<std::vector<TimelineEnd>> ReadTimelineHistory(Connection& session,
                                                             TimelineId timeline);
absl::StatusOr<std::vector<TimelineEnd>> ParseTimelineHistory(std::string_view content);
// Is (timeline, lsn) on the history that led to `current`? Pure.
bool OnHistory(TimelineId timeline, Lsn lsn, TimelineId current,
               const std::vector<TimelineEnd>& history);

struct ServerInfo {
  int version = 0;  // 150018
  std::string database;
  std::string encoding;  // "UTF8", "SQL_ASCII", "LATIN1"
  std::string user;
};
absl::StatusOr<ServerInfo> ReadServerInfo(Connection& session);

enum class RelationKind {
  kTable,
  kPartitionedTable,
  kForeignTable,
  kView,
  kMaterializedView,
  kOther
};
enum class Persistence { kPermanent, kUnlogged, kTemporary };
enum class ReplicaIdentity { kDefault, kNothing, kFull, kIndex };

// A column that was not dropped.
struct ColumnInfo {
  int16_t attnum = 0;
  std::string name;
  Oid type;  // as declared: may be a domain
  int32_t typmod = -1;
  std::string type_name;  // "numeric(9,2)", "shop.mood[]"
  bool not_null = false;
  char generated = 0;  // 0, 's' stored, 'v' virtual
  char identity = 0;   // 0, 'a' always, 'd' by default
  // With domains followed to what is below them:
  Oid base_type;
  int32_t base_typmod = -1;
  char base_typtype = 'b';  // 'b' base, 'e' enum, 'c' composite, 'r' range, 'm' multirange
  // Of a true array (one that prints as {…}):
  bool is_array = false;
  Oid element_base_type;
  char element_delimiter = ',';
};

// A unique index that could identify rows.
struct CandidateKey {
  Oid index;
  std::string name;
  bool is_primary = false;
  bool is_replica_identity = false;  // pg_index.indisreplident
  bool is_usable = false;  // valid, non-partial, non-deferrable, plain stored columns, all NOT NULL
  std::vector<int16_t> attnums;  // in the order of the index; without INCLUDE columns
};

struct TableInfo {
  Oid oid;
  std::string schema;
  std::string name;
  RelationKind kind = RelationKind::kTable;
  Persistence persistence = Persistence::kPermanent;
  bool is_partition = false;
  bool has_children = false;  // other tables inherit from it
  ReplicaIdentity replica_identity = ReplicaIdentity::kDefault;
  uint32_t relfilenode = 0;
  int64_t pages = 0;                 // of 8 KiB (of the server's block size)
  double estimated_rows = -1;        // pg_class.reltuples; -1 unknown
  bool row_security_active = false;  // policies hide rows from the current role
  bool can_select = false;
  bool can_use_schema = false;
  bool is_owner = false;            // the current role is the owner or a member of it
  std::vector<ColumnInfo> columns;  // by attnum
  std::vector<CandidateKey> keys;   // primary key first, then by index oid
};

// "schema.table" with the names exactly as they are spelled: no folding of case. A name with a dot
// or a quote stands in double quotes, so that no two tables have one display name.
std::string DisplayName(std::string_view schema, std::string_view name);
std::string DisplayName(const TableInfo& table);

// One entry of a configured list of tables.
struct TablePattern {
  std::string schema;
  std::optional<std::string> name;  // nothing: every table of the schema
};
// `schema.table`, `schema.*`; each name as it is stored, in double quotes where it has a dot, a
// star or a quote.
absl::StatusOr<TablePattern> ParseTablePattern(std::string_view text);

// Tables that match, by (schema, name). A pattern with a name that matches nothing gives nothing:
// the caller compares. Schema patterns leave out system schemas, views and partitions of
// partitioned tables' children that are not leaves.
absl::StatusOr<std::vector<TableInfo>> ReadTables(Connection& session,
                                                  const std::vector<TablePattern>& patterns);
absl::StatusOr<std::vector<TableInfo>> ReadTablesByOid(Connection& session,
                                                       const std::vector<Oid>& oids);

// How rows of a table are told apart, in the changes that PostgreSQL sends.
struct KeyChoice {
  enum class Kind {
    kColumns,   // `attnums` identify a row, and old tuples carry them
    kWholeRow,  // REPLICA IDENTITY FULL without a usable key
    kNone,  // updates and deletes cannot be followed; `reason` and `remedy` say why and what helps
  };
  Kind kind = Kind::kNone;
  std::vector<int16_t> attnums;
  std::string reason;
  std::string remedy;  // a statement to type
};
// DEFAULT: the primary key. USING INDEX: that index. FULL: the primary key, else the unique index
// with the lowest oid. Pure.
KeyChoice ChooseKey(const TableInfo& table);

}  // namespace fjord
