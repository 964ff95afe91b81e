#include "cli/assemble.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/embedded_catalog.h"
#include "catalog/rest_catalog.h"
#include "catalog/table_store.h"
#include "io/local_store.h"
#include "io/routing_store.h"
#include "postgres/list_tables.h"

namespace fjord {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

S3Settings S3OfEnvironment() {
  return {.region = Environment("AWS_REGION"),
          .credentials = {.access_key_id = Environment("AWS_ACCESS_KEY_ID"),
                          .secret_access_key = Secret(Environment("AWS_SECRET_ACCESS_KEY")),
                          .session_token = Secret(Environment("AWS_SESSION_TOKEN"))}};
}

absl::StatusOr<S3Settings> S3OfConfig(const std::optional<S3Config>& config) {
  if (!config) return S3Settings();
  S3Settings settings{
      .endpoint = config->endpoint, .region = config->region, .path_style = config->path_style};
  if (!config->credential) return settings;
  S3Credentials& credentials = settings.credentials;
  ASSIGN_OR_RETURN(const Secret access_key_id, config->credential->access_key_id.Read());
  credentials.access_key_id = access_key_id.Reveal();
  ASSIGN_OR_RETURN(credentials.secret_access_key, config->credential->secret_access_key.Read());
  if (config->credential->session_token) {
    ASSIGN_OR_RETURN(credentials.session_token, config->credential->session_token->Read());
  }
  return settings;
}

absl::StatusOr<RestCatalogOptions> RestOptions(const RestCatalogConfig& config) {
  RestCatalogOptions options{
      .uri = config.uri, .warehouse = config.warehouse, .oauth2_uri = config.oauth2_uri};
  if (!config.scope.empty()) options.scope = config.scope;
  if (config.token) {
    ASSIGN_OR_RETURN(options.token, config.token->Read());
  }
  if (config.credential) {
    ASSIGN_OR_RETURN(options.credential, config.credential->Read());
  }
  return options;
}

DivergenceRule RuleOf(OnDivergence policy) {
  return policy == OnDivergence::kRepair ? DivergenceRule::kRepair : DivergenceRule::kBlock;
}

UnrepresentablePolicy PolicyOf(OnUnrepresentable policy) {
  switch (policy) {
    case OnUnrepresentable::kBlock: return UnrepresentablePolicy::kBlock;
    case OnUnrepresentable::kNull: return UnrepresentablePolicy::kNull;
    case OnUnrepresentable::kText: return UnrepresentablePolicy::kText;
  }
  return UnrepresentablePolicy::kBlock;
}

ReplicatedTableOptions TableOptions(const TableEntry& entry, const TableName& source) {
  const TableName target = entry.TargetOf(source);
  return {.source_schema = source.schema,
          .source_name = source.name,
          .target = {{target.schema}, target.name},
          .append_only = entry.append_only,
          .divergence = RuleOf(entry.policy.on_divergence),
          .unrepresentable = PolicyOf(entry.policy.on_unrepresentable),
          .accept_external_writes = entry.policy.external_writes == ExternalWrites::kAccept};
}

// Tables named outright are taken even when the source lacks them, so that it is said; wildcards
// stand for what is there.
absl::StatusOr<std::vector<ReplicatedTableOptions>> ExpandTables(
    const Replication& replication, const ConnectionOptions& connection) {
  std::vector<ReplicatedTableOptions> tables;
  std::vector<TableName> names;
  for (const TableEntry& entry : replication.tables) {
    if (!entry.source.is_wildcard())
      names.push_back({entry.source.schema.pieces[0], entry.source.name.pieces[0]});
  }
  const bool any_wildcard = names.size() < replication.tables.size();
  if (any_wildcard) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Connection> session, Connection::Open(connection));
    ASSIGN_OR_RETURN(const std::vector<QualifiedName> all, ListTableNames(*session));
    for (const QualifiedName& table : all) {
      const TableName name{table.schema, table.name};
      if (FindTableEntry(replication.tables, name) != nullptr) names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const TableName& name : names)
    tables.push_back(TableOptions(*FindTableEntry(replication.tables, name), name));
  return tables;
}

}  // namespace

std::string WarehouseLocation(const EmbeddedCatalogConfig& catalog) {
  return catalog.warehouse.starts_with("/") ? StrCat("file://", catalog.warehouse)
                                            : catalog.warehouse;
}

absl::StatusOr<LakeHandle> OpenLake(const Replication& replication) {
  LakeHandle handle;
  TableStoreOptions storage{.environment = S3OfEnvironment()};
  ASSIGN_OR_RETURN(storage.configured, S3OfConfig(replication.lake.s3));
  const bool has_keys = storage.configured.has_keys();
  ASSIGN_OR_RETURN(std::unique_ptr<TableStore> s3, TableStore::Open(std::move(storage)));
  TableStore* const tables = s3.get();
  handle.store = MakeRoutingStore(OpenLocalStore(), std::move(s3));
  if (const auto* embedded = std::get_if<EmbeddedCatalogConfig>(&replication.lake.catalog)) {
    const std::string database = StrCat(embedded->path, "/catalog.db");
    ASSIGN_OR_RETURN(handle.catalog,
                     OpenEmbeddedCatalog({.database = database,
                                          .name = embedded->name,
                                          .warehouse = WarehouseLocation(*embedded)},
                                         handle.store.get()));
    handle.description = StrCat("embedded catalog ", database);
    return handle;
  }
  const auto& rest = std::get<RestCatalogConfig>(replication.lake.catalog);
  ASSIGN_OR_RETURN(RestCatalogOptions options, RestOptions(rest));
  // Some catalogs refuse a table when they are asked for keys and have none to give.
  if (has_keys) options.delegation = AccessDelegation::kNone;
  options.on_loaded = [tables](Catalog& catalog, const TableIdent& ident,
                               const LoadedTable& table) {
    tables->OnLoaded(catalog, ident, table);
  };
  ASSIGN_OR_RETURN(handle.catalog, OpenRestCatalog(std::move(options)));
  handle.description = StrCat("REST catalog ", RedactPasswords(rest.uri));
  return handle;
}

absl::StatusOr<LakeHandle> OpenLakeForReading(const Replication& replication) {
  if (const auto* embedded = std::get_if<EmbeddedCatalogConfig>(&replication.lake.catalog)) {
    if (!std::filesystem::exists(StrCat(embedded->path, "/catalog.db"))) return LakeHandle{};
  }
  return OpenLake(replication);
}

absl::StatusOr<ConnectionOptions> SourceConnection(const Replication& replication) {
  ConnectionOptions connection{.url = replication.source.url,
                               .application_name = StrCat("fjord ", replication.name)};
  if (replication.source.password) {
    ASSIGN_OR_RETURN(const Secret password, replication.source.password->Read());
    connection.password = password;
  }
  return connection;
}

std::string AppendOnlyPublication(const Replication& replication) {
  return StrCat(replication.source.publication, "_append");
}

SourceCheckOptions CheckOptionsFor(const Replication& replication,
                                   const ConnectionOptions& connection) {
  SourceCheckOptions options{.connection = connection,
                             .slot = replication.source.slot,
                             .publication = replication.source.publication,
                             .append_only_publication = AppendOnlyPublication(replication)};
  for (const TableEntry& entry : replication.tables) {
    const absl::StatusOr<TablePattern> pattern = ParseTablePattern(entry.source.ToString());
    if (pattern.ok())
      options.tables.push_back({*pattern, entry.source.ToString(), entry.append_only});
  }
  return options;
}

absl::StatusOr<ReplicationOptions> MakeReplicationOptions(const Config& config,
                                                          const Replication& replication) {
  ReplicationOptions options{
      .name = replication.name,
      .slot = replication.source.slot,
      .publication = replication.source.publication,
      .append_only_publication = AppendOnlyPublication(replication),
      .publish_every = replication.publish.every,
      .publish_rows = replication.publish.rows,
      .publish_bytes = replication.publish.bytes,
      .retention = {.keep = replication.snapshots.keep,
                    .at_least = replication.snapshots.at_least,
                    .at_most = replication.snapshots.at_most},
      .memory_bytes_max = replication.memory_bytes_max,
      .workers = replication.workers > 0
                     ? replication.workers
                     : static_cast<int>(std::max(1u, std::thread::hardware_concurrency())),
      .state_dir = StrCat(config.state_dir, "/", replication.name)};
  ASSIGN_OR_RETURN(options.connection, SourceConnection(replication));
  ASSIGN_OR_RETURN(options.tables, ExpandTables(replication, options.connection));
  if (options.tables.empty()) {
    return absl::FailedPreconditionError(
        StrCat("replication ", replication.name, ": no table of the source matches `tables`"));
  }
  return options;
}

}  // namespace fjord
