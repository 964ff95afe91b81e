#include "postgres/list_tables.h"

#include "base/status.h"

namespace fjord {

absl::StatusOr<std::vector<QualifiedName>> ListTableNames(Connection& session) {
  ASSIGN_OR_RETURN(
      const QueryResult rows,
      session.Query(
          "SELECT n.nspname, c.relname FROM pg_catalog.pg_class c "
          "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
          "WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence <> 't' "
          "AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%' ORDER BY 1, 2"));
  std::vector<QualifiedName> names;
  for (int i = 0; i < rows.rows(); ++i) {
    names.push_back({std::string(rows.Text(i, 0)), std::string(rows.Text(i, 1))});
  }
  return names;
}

}  // namespace fjord
