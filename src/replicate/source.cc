#include "replicate/source.h"

#include <algorithm>

#include "base/log.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

ConnectionOptions WithKind(ConnectionOptions options, SessionKind kind) {
  options.kind = kind;
  return options;
}

std::string Refusal(const SourceTable& table) {
  const TableInfo& info = *table.info;
  if (info.kind == RelationKind::kPartitionedTable || info.is_partition) {
    return "it is partitioned, which is not supported yet";
  }
  if (info.kind != RelationKind::kTable) return "it is no ordinary table";
  if (info.persistence != Persistence::kPermanent) {
    return StrCat("it is not logged and PostgreSQL does not replicate it. ALTER TABLE ",
                  QuoteQualified(info.schema, info.name), " SET LOGGED");
  }
  if (info.row_security_active) {
    return "row-level security hides rows from this role. ALTER ROLE … BYPASSRLS, or use the "
           "table's owner";
  }
  if (!info.can_use_schema)
    return StrCat("GRANT USAGE ON SCHEMA ", QuoteIdent(info.schema), " TO this role");
  if (!info.can_select) {
    return StrCat("GRANT SELECT ON ", QuoteQualified(info.schema, info.name), " TO this role");
  }
  if (info.columns.empty()) return "it has no column, and Iceberg has no table without one";
  if (table.options->append_only) return "";
  switch (table.key.kind) {
    case KeyChoice::Kind::kColumns: return "";
    case KeyChoice::Kind::kWholeRow:
      return StrCat(
          "REPLICA IDENTITY FULL without a key is not supported yet. Add a primary key (ALTER "
          "TABLE ",
          QuoteQualified(info.schema, info.name), " ADD PRIMARY KEY (…)), or set appendOnly: true");
    case KeyChoice::Kind::kNone: return StrCat(table.key.reason, ". ", table.key.remedy);
  }
  return "";
}

absl::Status ReadIdentity(const ReplicationOptions& options, SourceView& view) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> session,
                   Connection::Open(WithKind(options.connection, SessionKind::kReplication)));
  ASSIGN_OR_RETURN(view.identity, ReadSourceIdentity(*session));
  ASSIGN_OR_RETURN(view.history, ReadTimelineHistory(*session, view.identity.timeline));
  return absl::OkStatus();
}

absl::Status ReadConfiguredTables(Connection& session, const ReplicationOptions& options,
                                  SourceView& view) {
  std::vector<TablePattern> patterns;
  for (const ReplicatedTableOptions& table : options.tables) {
    patterns.push_back({.schema = table.source_schema, .name = table.source_name});
  }
  ASSIGN_OR_RETURN(const std::vector<TableInfo> found, ReadTables(session, patterns));
  for (const ReplicatedTableOptions& table : options.tables) {
    SourceTable entry{.options = &table,
                      .name = DisplayName(table.source_schema, table.source_name)};
    for (const TableInfo& info : found) {
      if (info.schema == table.source_schema && info.name == table.source_name) entry.info = info;
    }
    view.tables.push_back(std::move(entry));
  }
  return absl::OkStatus();
}

absl::Status PreparePublication(Connection& session, const std::string& name, PublicationRole role,
                                const std::vector<QualifiedName>& wanted, SourceView& view) {
  if (wanted.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(std::optional<Publication> publication, ReadPublication(session, name));
  for (const std::string& statement : PlanPublication(name, role, publication, wanted)) {
    const absl::Status status = session.Exec(statement);
    if (!status.ok()) {
      return absl::FailedPreconditionError(StrCat(
          "publication ", name, " lacks tables and this role may not change it (", Message(status),
          "). Run as the owner of the database and the tables: ", statement));
    }
    LogInfo("publication changed", {{"statement", statement}});
  }
  ASSIGN_OR_RETURN(publication, ReadPublication(session, name));
  if (!publication) return absl::FailedPreconditionError(StrCat("publication ", name, " vanished"));
  for (PublishedTable& table : publication->tables) {
    table.publication = publication->row;
    view.published[table.relation] = table;
  }
  view.publications.push_back(name);
  return absl::OkStatus();
}

absl::Status PreparePublications(Connection& session, const ReplicationOptions& options,
                                 SourceView& view) {
  std::vector<QualifiedName> main;
  std::vector<QualifiedName> append_only;
  for (const SourceTable& table : view.tables) {
    if (!table.refusal.empty()) continue;
    const QualifiedName name{table.info->schema, table.info->name};
    // A table with an identity may be in the main publication even if we only follow its inserts.
    const bool needs_own = table.options->append_only && table.key.kind == KeyChoice::Kind::kNone;
    (needs_own ? append_only : main).push_back(name);
  }
  RETURN_IF_ERROR(
      PreparePublication(session, options.publication, PublicationRole::kMain, main, view));
  return PreparePublication(session, options.append_only_publication, PublicationRole::kAppendOnly,
                            append_only, view);
}

absl::Status ReadDefinitions(Connection& session, SourceView& view) {
  std::vector<WatchedTable> watched;
  for (const SourceTable& table : view.tables) {
    if (!table.info) continue;
    const auto published = view.published.find(table.info->oid);
    watched.push_back({table.info->oid, published == view.published.end()
                                            ? std::vector<int16_t>{}
                                            : published->second.column_attnums});
  }
  ASSIGN_OR_RETURN(const std::vector<FoundTable> found, FindTables(session, watched));
  for (const FoundTable& table : found) view.definitions[table.oid] = table.definition;
  return absl::OkStatus();
}

}  // namespace

void JudgeTables(std::vector<SourceTable>& tables) {
  for (SourceTable& table : tables) {
    if (!table.info) {
      table.refusal = "there is no such table at the source";
      continue;
    }
    table.key = ChooseKey(*table.info);
    table.refusal = Refusal(table);
  }
}

absl::StatusOr<SourceView> PrepareSource(const ReplicationOptions& options) {
  SourceView view;
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> session, Connection::Open(options.connection));
  ASSIGN_OR_RETURN(view.server, ReadServerInfo(*session));
  RETURN_IF_ERROR(ReadIdentity(options, view));
  RETURN_IF_ERROR(ReadConfiguredTables(*session, options, view));
  JudgeTables(view.tables);
  RETURN_IF_ERROR(PreparePublications(*session, options, view));
  RETURN_IF_ERROR(ReadDefinitions(*session, view));
  ASSIGN_OR_RETURN(view.slot, ReadSlot(*session, options.slot));
  return view;
}

absl::StatusOr<SourceView> LookAgain(const ReplicationOptions& options) {
  SourceView view;
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> session, Connection::Open(options.connection));
  RETURN_IF_ERROR(ReadIdentity(options, view));
  ASSIGN_OR_RETURN(view.slot, ReadSlot(*session, options.slot));
  return view;
}

}  // namespace fjord
