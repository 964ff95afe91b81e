#include "postgres/publication.h"

#include <algorithm>
#include <set>

#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

// Row filters and column lists came with 15.
std::string TablesSql(int version) {
  const std::string_view filter =
      version >= 150000 ? "coalesce(pg_get_expr(r.prqual, r.prrelid), '')" : "''";
  const std::string_view columns =
      version >= 150000 ? "coalesce(array_to_string(r.prattrs::int2[], ' '), '')" : "''";
  return StrCat(
      "SELECT c.oid, n.nspname, c.relname, coalesce(r.oid, 0), coalesce(r.xmin::text, '0'), ",
      filter, ", ", columns,
      " FROM pg_catalog.pg_publication p CROSS JOIN LATERAL "
      "pg_get_publication_tables(p.pubname::text) g "
      "JOIN pg_catalog.pg_class c ON c.oid = g.relid "
      "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
      "LEFT JOIN pg_catalog.pg_publication_rel r ON r.prpubid = p.oid AND r.prrelid = c.oid "
      "WHERE p.oid = $1::oid ORDER BY n.nspname, c.relname");
}

CatalogRow RowAt(const QueryResult& rows, int row, int column) {
  return {.oid = Oid(ParseInt<uint32_t>(rows.Text(row, column)).value_or(0)),
          .xmin = Xid(ParseInt<uint32_t>(rows.Text(row, column + 1)).value_or(0))};
}

PublishedTable TableAt(const QueryResult& rows, int row) {
  PublishedTable table{.relation = Oid(ParseInt<uint32_t>(rows.Text(row, 0)).value_or(0)),
                       .schema = std::string(rows.Text(row, 1)),
                       .name = std::string(rows.Text(row, 2)),
                       .membership = RowAt(rows, row, 3),
                       .row_filter = std::string(rows.Text(row, 5))};
  for (const std::string& word : Split(rows.Text(row, 6), ' ')) {
    if (const auto attnum = ParseInt<int16_t>(word)) table.column_attnums.push_back(*attnum);
  }
  return table;
}

absl::Status ReadSchemas(Connection& session, std::string_view oid, Publication& publication) {
  if (session.server_version() < 150000)
    return absl::OkStatus();  // FOR TABLES IN SCHEMA came with 15
  ASSIGN_OR_RETURN(const QueryResult rows,
                   session.Query("SELECT n.nspname FROM pg_catalog.pg_publication_namespace pn "
                                 "JOIN pg_catalog.pg_namespace n ON n.oid = pn.pnnspid "
                                 "WHERE pn.pnpubid = $1::oid ORDER BY 1",
                                 {std::string(oid)}));
  for (int row = 0; row < rows.rows(); ++row) publication.schemas.emplace_back(rows.Text(row, 0));
  return absl::OkStatus();
}

std::string_view OperationsOf(PublicationRole role) {
  return role == PublicationRole::kMain ? "insert, update, delete, truncate" : "insert, truncate";
}

bool HasOperations(const Publication& publication, PublicationRole role) {
  const bool changes = role == PublicationRole::kMain ? publication.update && publication.del
                                                      : !publication.update && !publication.del;
  return publication.insert && publication.truncate && changes;
}

// ONLY: a table that inherits from one of these is a table of its own here.
std::string TableList(const std::vector<QualifiedName>& tables) {
  std::vector<std::string> names;
  for (const QualifiedName& table : tables)
    names.push_back(StrCat("ONLY ", QuoteQualified(table.schema, table.name)));
  return Join(names, ", ");
}

}  // namespace

absl::StatusOr<std::optional<Publication>> ReadPublication(Connection& session,
                                                           std::string_view name) {
  ASSIGN_OR_RETURN(
      const QueryResult rows,
      session.Query(
          "SELECT oid, xmin::text, puballtables, pubinsert, pubupdate, pubdelete, pubtruncate, "
          "pubviaroot, pg_has_role(pubowner, 'USAGE') "
          "FROM pg_catalog.pg_publication WHERE pubname = $1",
          {std::string(name)}));
  if (rows.rows() == 0) return std::optional<Publication>();
  auto flag = [&](int column) { return rows.Text(0, column) == "t"; };
  Publication publication{.name = std::string(name),
                          .row = RowAt(rows, 0, 0),
                          .all_tables = flag(2),
                          .insert = flag(3),
                          .update = flag(4),
                          .del = flag(5),
                          .truncate = flag(6),
                          .via_partition_root = flag(7),
                          .is_owner = flag(8)};
  const std::string oid(rows.Text(0, 0));
  RETURN_IF_ERROR(ReadSchemas(session, oid, publication));
  ASSIGN_OR_RETURN(const QueryResult tables,
                   session.Query(TablesSql(session.server_version()), {oid}));
  for (int row = 0; row < tables.rows(); ++row) publication.tables.push_back(TableAt(tables, row));
  return std::optional<Publication>(std::move(publication));
}

std::vector<std::string> PlanPublication(std::string_view name, PublicationRole role,
                                         const std::optional<Publication>& existing,
                                         const std::vector<QualifiedName>& wanted) {
  std::vector<std::string> statements;
  if (wanted.empty()) return statements;
  const std::string quoted = QuoteIdent(name);
  if (!existing) {
    statements.push_back(StrCat("CREATE PUBLICATION ", quoted, " FOR TABLE ", TableList(wanted),
                                " WITH (publish = '", OperationsOf(role), "')"));
    return statements;
  }
  if (!HasOperations(*existing, role)) {
    statements.push_back(
        StrCat("ALTER PUBLICATION ", quoted, " SET (publish = '", OperationsOf(role), "')"));
  }
  std::set<QualifiedName> published;
  for (const PublishedTable& table : existing->tables) published.insert({table.schema, table.name});
  std::vector<QualifiedName> missing;
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(missing),
               [&](const QualifiedName& table) { return !published.contains(table); });
  if (!missing.empty()) {
    statements.push_back(StrCat("ALTER PUBLICATION ", quoted, " ADD TABLE ", TableList(missing)));
  }
  return statements;
}

}  // namespace fjord
