// From a configuration to the parts that run: stores, catalogs, and the options of a replication.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "io/object_store.h"
#include "postgres/connection.h"
#include "postgres/source_check.h"
#include "replicate/replication.h"
#include "spec/config.h"

namespace fjord {

// The lake of one replication. The catalog goes before the store; between the two the store is not
// used, since it asks the catalog for keys.
struct LakeHandle {
  std::shared_ptr<ObjectStore> store;
  std::unique_ptr<Catalog> catalog;
  std::string description;  // "embedded catalog /data/lake/catalog.db", without secrets
};
absl::StatusOr<LakeHandle> OpenLake(const Replication& replication);
// The same without making anything: no catalog where the embedded one does not exist yet.
absl::StatusOr<LakeHandle> OpenLakeForReading(const Replication& replication);

absl::StatusOr<ConnectionOptions> SourceConnection(const Replication& replication);
SourceCheckOptions CheckOptionsFor(const Replication& replication,
                                   const ConnectionOptions& connection);

// Where the embedded catalog puts tables: "file:///data/lake", "s3://bucket/prefix".
std::string WarehouseLocation(const EmbeddedCatalogConfig& catalog);

// Asks the source which tables the configured entries stand for. kFailedPrecondition: none at all.
absl::StatusOr<ReplicationOptions> MakeReplicationOptions(const Config& config,
                                                          const Replication& replication);

// The name of the second publication, for append-only tables without an identity.
std::string AppendOnlyPublication(const Replication& replication);

}  // namespace fjord
