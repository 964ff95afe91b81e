#include "cli/discover_command.h"

#include <iostream>

#include "base/json.h"
#include "base/status.h"
#include "base/strings.h"
#include "cli/assemble.h"
#include "postgres/catalog.h"
#include "postgres/list_tables.h"

namespace fjord {
namespace {

TableSelector SelectorFor(const TableInfo& table) {
  return {.schema = {{table.schema}}, .name = {{table.name}}};
}

absl::Status Discover(const Replication& replication) {
  ASSIGN_OR_RETURN(const ConnectionOptions connection, SourceConnection(replication));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> session, Connection::Open(connection));
  ASSIGN_OR_RETURN(const std::vector<QualifiedName> names, ListTableNames(*session));
  std::vector<TablePattern> patterns;
  for (const QualifiedName& name : names)
    patterns.push_back({.schema = name.schema, .name = name.name});
  ASSIGN_OR_RETURN(const std::vector<TableInfo> tables, ReadTables(*session, patterns));
  std::cout << "# " << replication.name << "\ntables:\n";
  for (const TableInfo& table : tables) {
    const std::string text =
        JsonQuote(SelectorFor(table).ToString());  // a JSON string is a YAML string
    if (table.kind == RelationKind::kPartitionedTable) {
      std::cout << "  # " << text << ": partitioned tables are not supported yet\n";
    } else if (ChooseKey(table).kind == KeyChoice::Kind::kColumns) {
      std::cout << "  - " << text << "\n";
    } else {
      std::cout << "  - {source: " << text
                << ", appendOnly: true}  # has no key: only inserts can be followed\n";
    }
  }
  return absl::OkStatus();
}

}  // namespace

ExitCode RunDiscover(const Config& config, const DiscoverOptions& options) {
  for (const auto& [name, replication] : config.replications) {
    if (!options.replication.empty() && options.replication != name) continue;
    const absl::Status status = Discover(replication);
    if (!status.ok()) {
      std::cerr << "replication " << name << ": " << Message(status) << "\n";
      return ExitCode::kFailure;
    }
  }
  return ExitCode::kClean;
}

}  // namespace fjord
