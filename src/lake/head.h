// The head of a table as its manifests say it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "lake/snapshot_plan.h"
#include "lake/watermark.h"

namespace fjord {

class ObjectStore;

struct TableHead {
  LoadedTable loaded;
  std::optional<SnapshotId> snapshot;
  std::vector<LiveManifest> manifests;  // in the order of the manifest list
};

// Reads the manifest list and every manifest of a snapshot (nothing: the table has none yet).
absl::StatusOr<std::vector<LiveManifest>> ReadLiveManifests(ObjectStore& store,
                                                            const TableMetadata& metadata,
                                                            std::optional<SnapshotId> snapshot);

// Where a table's ancestry says it is.
struct Lineage {
  std::optional<Watermark> watermark;      // of the newest own snapshot
  std::optional<SnapshotId> own_snapshot;  // that one
  std::string source;                      // of it
  std::vector<SnapshotId> foreign;         // snapshots after it, oldest first
  bool rolled_back = false;                // main was set back behind a snapshot of ours
  // False: the chain to our last snapshot was expired, and the mirrored property is all there is.
  bool proven = true;
};
// Pure. kDataLoss when our own keys are damaged.
absl::StatusOr<Lineage> FindLineage(const TableMetadata& metadata);

// Is there a snapshot of this publication in the ancestry of main? Answers "did my commit land?".
bool HasOperation(const TableMetadata& metadata, std::string_view operation);

}  // namespace fjord
