#include "lake/head.h"

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "iceberg/manifest.h"
#include "iceberg/manifest_list.h"
#include "io/object_store.h"

namespace fjord {
namespace {

absl::StatusOr<LiveManifest> ReadLiveManifest(ObjectStore& store, const ManifestFile& file) {
  ASSIGN_OR_RETURN(const std::string bytes, store.Get(file.manifest_path));
  absl::StatusOr<std::vector<ManifestEntry>> entries = DecodeManifest(bytes, file);
  if (!entries.ok()) return Annotate(entries.status(), file.manifest_path);
  LiveManifest manifest{.file = file, .entries = *std::move(entries)};
  std::erase_if(manifest.entries,
                [](const ManifestEntry& entry) { return entry.status == EntryStatus::kDeleted; });
  return manifest;
}

}  // namespace

absl::StatusOr<std::vector<LiveManifest>> ReadLiveManifests(ObjectStore& store,
                                                            const TableMetadata& metadata,
                                                            std::optional<SnapshotId> snapshot) {
  std::vector<LiveManifest> manifests;
  if (!snapshot) return manifests;
  const Snapshot* found = metadata.FindSnapshot(*snapshot);
  if (found == nullptr) {
    return absl::DataLossError(StrCat("the table's metadata has no snapshot ", snapshot->value));
  }
  ASSIGN_OR_RETURN(const std::string bytes, store.Get(found->manifest_list));
  absl::StatusOr<std::vector<ManifestFile>> files = DecodeManifestList(bytes);
  if (!files.ok()) return Annotate(files.status(), found->manifest_list);
  for (const ManifestFile& file : *files) {
    if (!file.HasLiveFiles()) continue;
    ASSIGN_OR_RETURN(LiveManifest manifest, ReadLiveManifest(store, file));
    manifests.push_back(std::move(manifest));
  }
  return manifests;
}

absl::StatusOr<Lineage> FindLineage(const TableMetadata& metadata) {
  Lineage lineage;
  std::optional<MirroredWatermark> mirrored;
  if (const auto it = metadata.properties.find(kWatermarkProperty);
      it != metadata.properties.end()) {
    ASSIGN_OR_RETURN(mirrored, ParseMirroredWatermark(it->second));
  }
  std::optional<SnapshotId> at = metadata.current_snapshot_id;
  while (at && !lineage.own_snapshot) {
    const Snapshot* snapshot = metadata.FindSnapshot(*at);
    if (snapshot == nullptr) break;
    ASSIGN_OR_RETURN(const std::optional<OwnSnapshot> own, ParseOwnSnapshot(snapshot->summary));
    if (own) {
      lineage.watermark = own->watermark;
      lineage.own_snapshot = *at;
      lineage.source = own->source;
    } else {
      lineage.foreign.push_back(*at);
      at = snapshot->parent_snapshot_id;
    }
  }
  std::reverse(lineage.foreign.begin(), lineage.foreign.end());
  if (!mirrored) return lineage;
  if (lineage.own_snapshot) {
    // The property was set by the newest own commit: another newest own snapshot on main means that
    // main was set back.
    lineage.rolled_back = mirrored->snapshot_id != *lineage.own_snapshot;
  } else if (!lineage.foreign.empty()) {
    // Foreign snapshots lead to the head, and what they stand on was expired.
    lineage.watermark = mirrored->watermark;
    lineage.proven = false;
  } else {
    lineage.rolled_back = true;
  }
  return lineage;
}

bool HasOperation(const TableMetadata& metadata, std::string_view operation) {
  std::optional<SnapshotId> at = metadata.current_snapshot_id;
  while (at) {
    const Snapshot* snapshot = metadata.FindSnapshot(*at);
    if (snapshot == nullptr) return false;
    const auto it = snapshot->summary.find(kOperationKey);
    if (it != snapshot->summary.end() && it->second == operation) return true;
    at = snapshot->parent_snapshot_id;
  }
  return false;
}

}  // namespace fjord
