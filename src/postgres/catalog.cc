#include "postgres/catalog.h"

#include <algorithm>
#include <map>

#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

// Values that our own queries return; a text that does not fit means that the server is not the one
// we think it is.
template <class Int>
absl::StatusOr<Int> IntAt(const QueryResult& result, int row, int column) {
  const auto value = ParseInt<Int>(result.Text(row, column));
  if (!value) {
    return absl::InternalError(StrCat("the server's catalogue answered \"",
                                      result.Text(row, column), "\" where ",
                                      result.column_name(column), " should be a number"));
  }
  return *value;
}

bool BoolAt(const QueryResult& result, int row, int column) {
  return result.Text(row, column) == "t";
}
char CharAt(const QueryResult& result, int row, int column) {
  const std::string_view text = result.Text(row, column);
  return text.empty() ? 0 : text[0];
}

// Since PostgreSQL 18 a NOT NULL constraint may be NOT VALID: new rows obey it, old ones may not.
std::string WithValidatedNotNull(std::string_view sql, int server_version) {
  constexpr std::string_view kMark = "$VALIDATED";
  constexpr std::string_view kCondition =
      "AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint nn WHERE nn.conrelid = a.attrelid AND "
      "nn.contype = 'n' AND nn.conkey = ARRAY[a.attnum] AND NOT nn.convalidated)";
  std::string out(sql);
  out.replace(out.find(kMark), kMark.size(), server_version >= 180000 ? kCondition : "");
  return out;
}

// "1 2 3", as int2vector prints.
std::vector<int16_t> AttnumsOf(std::string_view text) {
  std::vector<int16_t> attnums;
  for (const std::string& word : Split(text, ' ')) {
    if (const auto attnum = ParseInt<int16_t>(word)) attnums.push_back(*attnum);
  }
  return attnums;
}

RelationKind KindOf(char relkind) {
  switch (relkind) {
    case 'r': return RelationKind::kTable;
    case 'p': return RelationKind::kPartitionedTable;
    case 'f': return RelationKind::kForeignTable;
    case 'v': return RelationKind::kView;
    case 'm': return RelationKind::kMaterializedView;
    default: return RelationKind::kOther;
  }
}

Persistence PersistenceOf(char relpersistence) {
  switch (relpersistence) {
    case 'u': return Persistence::kUnlogged;
    case 't': return Persistence::kTemporary;
    default: return Persistence::kPermanent;
  }
}

ReplicaIdentity IdentityOf(char relreplident) {
  switch (relreplident) {
    case 'n': return ReplicaIdentity::kNothing;
    case 'f': return ReplicaIdentity::kFull;
    case 'i': return ReplicaIdentity::kIndex;
    default: return ReplicaIdentity::kDefault;
  }
}

constexpr char kTablesSql[] = R"(
SELECT c.oid, n.nspname, c.relname, c.relkind, c.relpersistence, c.relispartition, c.relhassubclass, c.relreplident,
       coalesce(pg_relation_filenode(c.oid), 0),
       CASE WHEN c.relkind IN ('r', 'm') THEN
         coalesce(pg_relation_size(c.oid), 0) / current_setting('block_size')::bigint ELSE 0 END,
       c.reltuples,
       c.relrowsecurity AND row_security_active(c.oid),
       has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'),
       has_schema_privilege(n.oid, 'USAGE'),
       pg_has_role(c.relowner, 'USAGE')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE )";

// Domains are followed down to the type below them; a typmod is that of the
// outermost level that has one.
constexpr char kColumnsSql[] = R"(
WITH RECURSIVE below AS (
  SELECT oid, oid AS base, -1 AS typmod FROM pg_catalog.pg_type WHERE typtype <> 'd'
  UNION ALL
  SELECT d.oid, b.base, CASE WHEN d.typtypmod >= 0 THEN d.typtypmod ELSE b.typmod END
  FROM pg_catalog.pg_type d JOIN below b ON d.typbasetype = b.oid WHERE d.typtype = 'd'
)
SELECT a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, format_type(a.atttypid, a.atttypmod),
       a.attnotnull $VALIDATED, a.attgenerated, a.attidentity,
       b.base, CASE WHEN a.atttypmod >= 0 THEN a.atttypmod ELSE b.typmod END, t.typtype,
       t.typinput::oid = 'pg_catalog.array_in'::regproc::oid,
       coalesce(eb.base, 0), coalesce(e.typdelim, ',')
FROM pg_catalog.pg_attribute a
JOIN below b ON b.oid = a.atttypid
JOIN pg_catalog.pg_type t ON t.oid = b.base
LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem
LEFT JOIN below eb ON eb.oid = t.typelem
WHERE a.attrelid = ANY($1::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attrelid, a.attnum)";

constexpr char kKeysSql[] = R"(
SELECT i.indrelid, i.indexrelid, c.relname, i.indisprimary, i.indisreplident,
       i.indisvalid AND i.indisready AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL
         AND NOT EXISTS (SELECT FROM unnest(k.attnums) n
                         LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = n
                         WHERE n <= 0 OR a.attgenerated <> '' OR NOT (a.attnotnull $VALIDATED)),
       array_to_string(k.attnums, ' ')
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
CROSS JOIN LATERAL (SELECT array_agg(v ORDER BY o) AS attnums
                    FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS u(v, o) WHERE o <= i.indnkeyatts) k
WHERE i.indrelid = ANY($1::oid[]) AND i.indisunique
ORDER BY i.indrelid, i.indisprimary DESC, i.indexrelid)";

absl::StatusOr<TableInfo> TableAt(const QueryResult& rows, int row) {
  TableInfo table;
  ASSIGN_OR_RETURN(const uint32_t oid, IntAt<uint32_t>(rows, row, 0));
  table.oid = Oid(oid);
  table.schema = std::string(rows.Text(row, 1));
  table.name = std::string(rows.Text(row, 2));
  table.kind = KindOf(CharAt(rows, row, 3));
  table.persistence = PersistenceOf(CharAt(rows, row, 4));
  table.is_partition = BoolAt(rows, row, 5);
  table.has_children = BoolAt(rows, row, 6);
  table.replica_identity = IdentityOf(CharAt(rows, row, 7));
  ASSIGN_OR_RETURN(table.relfilenode, IntAt<uint32_t>(rows, row, 8));
  ASSIGN_OR_RETURN(table.pages, IntAt<int64_t>(rows, row, 9));
  table.estimated_rows = std::strtod(std::string(rows.Text(row, 10)).c_str(), nullptr);
  table.row_security_active = BoolAt(rows, row, 11);
  table.can_select = BoolAt(rows, row, 12);
  table.can_use_schema = BoolAt(rows, row, 13);
  table.is_owner = BoolAt(rows, row, 14);
  return table;
}

absl::StatusOr<ColumnInfo> ColumnAt(const QueryResult& rows, int row) {
  ColumnInfo column;
  ASSIGN_OR_RETURN(column.attnum, IntAt<int16_t>(rows, row, 1));
  column.name = std::string(rows.Text(row, 2));
  ASSIGN_OR_RETURN(column.type.value, IntAt<uint32_t>(rows, row, 3));
  ASSIGN_OR_RETURN(column.typmod, IntAt<int32_t>(rows, row, 4));
  column.type_name = std::string(rows.Text(row, 5));
  column.not_null = BoolAt(rows, row, 6);
  column.generated = CharAt(rows, row, 7);
  column.identity = CharAt(rows, row, 8);
  ASSIGN_OR_RETURN(column.base_type.value, IntAt<uint32_t>(rows, row, 9));
  ASSIGN_OR_RETURN(column.base_typmod, IntAt<int32_t>(rows, row, 10));
  column.base_typtype = CharAt(rows, row, 11);
  column.is_array = BoolAt(rows, row, 12);
  ASSIGN_OR_RETURN(column.element_base_type.value, IntAt<uint32_t>(rows, row, 13));
  column.element_delimiter = CharAt(rows, row, 14);
  return column;
}

absl::StatusOr<CandidateKey> KeyAt(const QueryResult& rows, int row) {
  CandidateKey key;
  ASSIGN_OR_RETURN(key.index.value, IntAt<uint32_t>(rows, row, 1));
  key.name = std::string(rows.Text(row, 2));
  key.is_primary = BoolAt(rows, row, 3);
  key.is_replica_identity = BoolAt(rows, row, 4);
  key.is_usable = BoolAt(rows, row, 5);
  key.attnums = AttnumsOf(rows.Text(row, 6));
  return key;
}

// The tables with their columns and keys, in three queries however many there are.
absl::StatusOr<std::vector<TableInfo>> ReadWhere(Connection& session, std::string_view condition,
                                                 const std::vector<std::string>& parameters) {
  ASSIGN_OR_RETURN(
      const QueryResult found,
      session.Query(StrCat(kTablesSql, condition, " ORDER BY n.nspname, c.relname"), parameters));
  std::vector<TableInfo> tables;
  std::map<Oid, size_t> by_oid;
  std::vector<std::string> oids;
  for (int row = 0; row < found.rows(); ++row) {
    ASSIGN_OR_RETURN(TableInfo table, TableAt(found, row));
    by_oid[table.oid] = tables.size();
    oids.push_back(StrCat(table.oid.value));
    tables.push_back(std::move(table));
  }
  const int version = session.server_version();
  const std::string oid_array = StrCat("{", Join(oids, ","), "}");
  ASSIGN_OR_RETURN(const QueryResult columns,
                   session.Query(WithValidatedNotNull(kColumnsSql, version), {oid_array}));
  for (int row = 0; row < columns.rows(); ++row) {
    ASSIGN_OR_RETURN(const uint32_t oid, IntAt<uint32_t>(columns, row, 0));
    ASSIGN_OR_RETURN(ColumnInfo column, ColumnAt(columns, row));
    tables[by_oid.at(Oid(oid))].columns.push_back(std::move(column));
  }
  ASSIGN_OR_RETURN(const QueryResult keys,
                   session.Query(WithValidatedNotNull(kKeysSql, version), {oid_array}));
  for (int row = 0; row < keys.rows(); ++row) {
    ASSIGN_OR_RETURN(const uint32_t oid, IntAt<uint32_t>(keys, row, 0));
    ASSIGN_OR_RETURN(CandidateKey key, KeyAt(keys, row));
    tables[by_oid.at(Oid(oid))].keys.push_back(std::move(key));
  }
  return tables;
}

}  // namespace

absl::StatusOr<ServerInfo> ReadServerInfo(Connection& session) {
  ASSIGN_OR_RETURN(
      const QueryResult rows,
      session.Query("SELECT current_database(), pg_encoding_to_char(encoding), current_user "
                    "FROM pg_catalog.pg_database WHERE datname = current_database()"));
  if (rows.rows() != 1) return absl::InternalError("the current database is not in pg_database");
  return ServerInfo{.version = session.server_version(),
                    .database = std::string(rows.Text(0, 0)),
                    .encoding = std::string(rows.Text(0, 1)),
                    .user = std::string(rows.Text(0, 2))};
}

absl::StatusOr<SourceIdentity> ReadSourceIdentity(Connection& session) {
  ASSIGN_OR_RETURN(const QueryResult rows, session.Query("IDENTIFY_SYSTEM"));
  if (rows.rows() != 1 || rows.columns() < 4) {
    return absl::InternalError("IDENTIFY_SYSTEM did not answer with one row of four columns");
  }
  SourceIdentity identity{.system_identifier = std::string(rows.Text(0, 0)),
                          .database = std::string(rows.Text(0, 3))};
  ASSIGN_OR_RETURN(identity.timeline.value, IntAt<uint32_t>(rows, 0, 1));
  ASSIGN_OR_RETURN(identity.wal_position, ParseLsn(rows.Text(0, 2)));
  ASSIGN_OR_RETURN(const QueryResult recovery, session.Query("SELECT pg_is_in_recovery()"));
  identity.in_recovery = BoolAt(recovery, 0, 0);
  return identity;
}

absl::StatusOr<std::vector<TimelineEnd>> ReadTimelineHistory(Connection& session,
                                                             TimelineId timeline) {
  if (timeline.value <= 1) return std::vector<TimelineEnd>{};
  ASSIGN_OR_RETURN(const QueryResult rows,
                   session.Query(StrCat("TIMELINE_HISTORY ", timeline.value)));
  if (rows.rows() != 1 || rows.columns() < 2) {
    return absl::InternalError("TIMELINE_HISTORY did not answer with one row of two columns");
  }
  return ParseTimelineHistory(rows.Text(0, 1));
}

absl::StatusOr<std::vector<TimelineEnd>> ParseTimelineHistory(std::string_view content) {
  std::vector<TimelineEnd> history;
  for (const std::string& line : Split(content, '\n')) {
    const std::string_view text = Trim(line);
    if (text.empty() || text[0] == '#') continue;
    const size_t number_end = text.find_first_of(" \t");
    const auto number = ParseInt<uint32_t>(text.substr(0, number_end));
    if (!number || number_end == std::string_view::npos) {
      return absl::DataLossError(
          StrCat("timeline history: no timeline at the start of \"", text, "\""));
    }
    const std::string_view rest = Trim(text.substr(number_end));
    const auto end = ParseLsn(rest.substr(0, rest.find_first_of(" \t")));
    if (!end.ok())
      return absl::DataLossError(StrCat("timeline history: no position in \"", text, "\""));
    history.push_back({TimelineId(*number), *end});
  }
  return history;
}

bool OnHistory(TimelineId timeline, Lsn lsn, TimelineId current,
               const std::vector<TimelineEnd>& history) {
  if (timeline == current) return true;
  for (const TimelineEnd& ended : history) {
    if (ended.timeline == timeline) return lsn <= ended.end;
  }
  return false;
}

std::string DisplayName(std::string_view schema, std::string_view name) {
  const auto part = [](std::string_view text) {
    return text.find_first_of(".\"") == std::string_view::npos ? std::string(text)
                                                               : QuoteIdent(text);
  };
  return StrCat(part(schema), ".", part(name));
}

std::string DisplayName(const TableInfo& table) { return DisplayName(table.schema, table.name); }

absl::StatusOr<std::vector<TableInfo>> ReadTables(Connection& session,
                                                  const std::vector<TablePattern>& patterns) {
  std::vector<std::string> conditions;
  for (const TablePattern& pattern : patterns) {
    const std::string schema = StrCat("n.nspname = ", QuoteLiteral(pattern.schema));
    // An explicit name may be anything, so that the caller can say why it does not do.
    conditions.push_back(
        pattern.name ? StrCat("(", schema, " AND c.relname = ", QuoteLiteral(*pattern.name),
                              " AND c.relkind IN ('r', 'p', 'f', 'v', 'm'))")
                     : StrCat("(", schema, " AND c.relkind IN ('r', 'p') AND NOT c.relispartition ",
                              "AND c.relpersistence <> 't')"));
  }
  if (conditions.empty()) return std::vector<TableInfo>{};
  return ReadWhere(session, StrCat("(", Join(conditions, " OR "), ")"), {});
}

absl::StatusOr<std::vector<TableInfo>> ReadTablesByOid(Connection& session,
                                                       const std::vector<Oid>& oids) {
  std::vector<std::string> numbers;
  for (const Oid oid : oids) numbers.push_back(StrCat(oid.value));
  return ReadWhere(session, "c.oid = ANY($1::oid[])", {StrCat("{", Join(numbers, ","), "}")});
}

}  // namespace fjord
