// Which manifests the next snapshot has. Pure: plans from the live manifests of the head and what
// an epoch changes.
//
// Manifests are merged like a binary counter: the one that a commit writes takes in the newest ones
// that are not larger than itself, so a table has a handful of manifests however often it is
// committed to, and each entry is rewritten a logarithmic number of times. A manifest that names a
// removed file is rewritten.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "base/ids.h"
#include "iceberg/data_file.h"
#include "iceberg/manifest.h"
#include "iceberg/summary.h"

namespace fjord {

// A manifest of the head with its live entries, sequence numbers filled in.
struct LiveManifest {
  ManifestFile file;
  std::vector<ManifestEntry> entries;
};

// What one snapshot changes.
struct FileChanges {
  std::vector<DataFile> added_data;
  std::vector<DataFile> added_deletes;
  absl::flat_hash_set<std::string> removed;  // paths of data and delete files
  bool clear = false;                        // TRUNCATE: every live file of the head goes

  bool empty() const {
    return added_data.empty() && added_deletes.empty() && removed.empty() && !clear;
  }
};

struct PlannedManifest {
  ManifestContent content = ManifestContent::kData;
  std::vector<ManifestEntry> entries;
};

struct SnapshotPlan {
  std::vector<PlannedManifest> written;
  std::vector<size_t> kept;  // indexes into the base, in its order
  SummaryDelta delta;
};

// `base` is in the order of the manifest list, newest first. All of one partition spec: a table
// with another one is refused when it is opened.
SnapshotPlan PlanSnapshot(absl::Span<const LiveManifest> base, const FileChanges& changes,
                          SnapshotId snapshot);

}  // namespace fjord
