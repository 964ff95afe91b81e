#include "postgres/table_definition.h"

#include <algorithm>
#include <map>

#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

// One statement, so that file and columns are of one moment.
constexpr char kDefinitionsSql[] = R"(
SELECT c.oid, n.nspname, c.relname, c.relfilenode, c.relreplident = 'f',
       coalesce((SELECT string_agg(k::text, ' ' ORDER BY k) FROM pg_catalog.pg_index i,
                   LATERAL unnest((i.indkey::int2[])[0:i.indnkeyatts - 1]) k
                 WHERE i.indrelid = c.oid AND i.indisvalid AND i.indimmediate
                   AND CASE c.relreplident WHEN 'd' THEN i.indisprimary WHEN 'i' THEN i.indisreplident ELSE false END), ''),
       a.attnum, a.xmin::text, a.attname, a.atttypid, a.atttypmod
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
WHERE c.oid = ANY($1::oid[])
ORDER BY c.oid, a.attnum)";

constexpr char kMembersSql[] = R"(
SELECT p.oid, p.xmin::text, p.pubinsert AND p.pubtruncate, p.pubupdate AND p.pubdelete,
       coalesce(r.prrelid, 0), coalesce(r.oid, 0), coalesce(r.xmin::text, '0')
FROM pg_catalog.pg_publication p LEFT JOIN pg_catalog.pg_publication_rel r ON r.prpubid = p.oid
WHERE p.pubname = $1)";

uint32_t NumberAt(const QueryResult& rows, int row, int column) {
  return ParseInt<uint32_t>(rows.Text(row, column)).value_or(0);
}

std::string Digest(std::string_view text) { return Hex(Sha256(text).substr(0, 8)); }

}  // namespace

absl::StatusOr<std::vector<FoundTable>> FindTables(Connection& session,
                                                   const std::vector<WatchedTable>& tables) {
  std::map<Oid, const WatchedTable*> watched;
  std::vector<std::string> oids;
  for (const WatchedTable& table : tables) {
    watched[table.oid] = &table;
    oids.push_back(StrCat(table.oid.value));
  }
  ASSIGN_OR_RETURN(const QueryResult rows,
                   session.Query(kDefinitionsSql, {StrCat("{", Join(oids, ","), "}")}));
  std::vector<FoundTable> found;
  std::string columns;
  std::string column_rows;
  for (int row = 0; row < rows.rows(); ++row) {
    const Oid oid(NumberAt(rows, row, 0));
    if (found.empty() || found.back().oid != oid) {
      columns.clear();
      column_rows.clear();
      found.push_back({.oid = oid,
                       .schema = std::string(rows.Text(row, 1)),
                       .name = std::string(rows.Text(row, 2)),
                       .identity_is_full = rows.Text(row, 4) == "t",
                       .identity = std::string(rows.Text(row, 5))});
      found.back().definition.relfilenode = NumberAt(rows, row, 3);
    }
    const std::vector<int16_t>& wanted = watched.at(oid)->columns;
    const int16_t attnum = ParseInt<int16_t>(rows.Text(row, 6)).value_or(0);
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), attnum) != wanted.end()) {
      for (const int column : {6, 8, 9, 10}) {
        columns.append(rows.Text(row, column)).push_back('\0');
      }
      column_rows.append(rows.Text(row, 6)).append(" ").append(rows.Text(row, 7)).append(",");
    }
    found.back().definition.columns = Digest(columns);
    found.back().definition.column_rows = Digest(column_rows);
  }
  return found;
}

std::string DefinitionDifference(const TableDefinition& before, const TableDefinition& now) {
  if (before.columns != now.columns) {
    return "its columns changed (one was added, dropped, renamed, or has another type)";
  }
  if (before.relfilenode != now.relfilenode && before.column_rows != now.column_rows) {
    return "ALTER TABLE computed a column's values anew, and PostgreSQL does not send them";
  }
  if (before.key != now.key) return "its key changed";
  return "";
}

absl::StatusOr<std::vector<PublicationMember>> FindMembers(Connection& session,
                                                           const std::string& publication) {
  ASSIGN_OR_RETURN(const QueryResult rows, session.Query(kMembersSql, {publication}));
  std::vector<PublicationMember> members;
  for (int row = 0; row < rows.rows(); ++row) {
    members.push_back({.publication = {Oid(NumberAt(rows, row, 0)), Xid(NumberAt(rows, row, 1))},
                       .inserts = rows.Text(row, 2) == "t",
                       .changes = rows.Text(row, 3) == "t",
                       .relation = Oid(NumberAt(rows, row, 4)),
                       .membership = {Oid(NumberAt(rows, row, 5)), Xid(NumberAt(rows, row, 6))}});
  }
  return members;
}

std::string FormatAttnums(const std::vector<int16_t>& attnums) {
  std::vector<std::string> numbers;
  for (const int16_t attnum : attnums) numbers.push_back(StrCat(attnum));
  return Join(numbers, " ");
}

}  // namespace fjord
