#include "lake/snapshot_plan.h"

#include <algorithm>

namespace fjord {
namespace {

// Past this many entries a manifest is left alone and a new one is begun; some
// 8 MiB with wide tables.
constexpr size_t kManifestEntriesMax = 20'000;

ManifestEntry Kept(const ManifestEntry& entry) {
  ManifestEntry kept = entry;
  kept.status = EntryStatus::kExisting;
  return kept;
}

// Snapshot and sequence numbers of a removed file stay its own, but the snapshot id is the
// remover's (specification, "Manifest Entry Fields").
ManifestEntry Removed(const ManifestEntry& entry, SnapshotId snapshot) {
  ManifestEntry removed = entry;
  removed.status = EntryStatus::kDeleted;
  removed.snapshot_id = snapshot;
  return removed;
}

class Planner {
 public:
  Planner(absl::Span<const LiveManifest> base, const FileChanges& changes, SnapshotId snapshot)
      : base_(base), changes_(changes), snapshot_(snapshot), kept_(base.size(), true) {}

  SnapshotPlan Plan() {
    PlanContent(ManifestContent::kData, changes_.added_data);
    PlanContent(ManifestContent::kDeletes, changes_.added_deletes);
    for (size_t i = 0; i < base_.size(); ++i) {
      if (kept_[i] && !base_[i].entries.empty()) plan_.kept.push_back(i);
    }
    return std::move(plan_);
  }

 private:
  bool IsRemoved(const ManifestEntry& entry) const {
    return changes_.clear || changes_.removed.contains(entry.file.file_path);
  }

  bool NamesRemoved(const LiveManifest& manifest) const {
    return std::any_of(manifest.entries.begin(), manifest.entries.end(),
                       [&](const ManifestEntry& entry) { return IsRemoved(entry); });
  }

  void TakeIn(size_t index, std::vector<ManifestEntry>& live, std::vector<ManifestEntry>& gone) {
    kept_[index] = false;
    for (const ManifestEntry& entry : base_[index].entries) {
      if (IsRemoved(entry)) {
        gone.push_back(Removed(entry, snapshot_));
        plan_.delta.Remove(entry.file);
      } else {
        live.push_back(Kept(entry));
      }
    }
  }

  void PlanContent(ManifestContent content, const std::vector<DataFile>& added) {
    std::vector<ManifestEntry> live;
    std::vector<ManifestEntry> gone;
    for (const DataFile& file : added) {
      live.push_back({.status = EntryStatus::kAdded, .snapshot_id = snapshot_, .file = file});
      plan_.delta.Add(file);
    }
    for (size_t i = 0; i < base_.size(); ++i) {
      const LiveManifest& manifest = base_[i];
      if (manifest.file.content == content && NamesRemoved(manifest)) TakeIn(i, live, gone);
    }
    if (live.empty() && gone.empty()) return;
    Merge(content, live, gone);
    live.insert(live.end(), gone.begin(), gone.end());
    plan_.written.push_back({content, std::move(live)});
  }

  void Merge(ManifestContent content, std::vector<ManifestEntry>& live,
             std::vector<ManifestEntry>& gone) {
    for (size_t i = 0; i < base_.size(); ++i) {
      const LiveManifest& manifest = base_[i];
      if (!kept_[i] || manifest.file.content != content) continue;
      const size_t entries = manifest.entries.size();
      if (entries > live.size() || live.size() + entries > kManifestEntriesMax) return;
      TakeIn(i, live, gone);
    }
  }

  absl::Span<const LiveManifest> base_;
  const FileChanges& changes_;
  const SnapshotId snapshot_;
  std::vector<bool> kept_;
  SnapshotPlan plan_;
};

}  // namespace

SnapshotPlan PlanSnapshot(absl::Span<const LiveManifest> base, const FileChanges& changes,
                          SnapshotId snapshot) {
  return Planner(base, changes, snapshot).Plan();
}

}  // namespace fjord
