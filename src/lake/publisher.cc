#include "lake/publisher.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/time/clock.h"
#include "base/digest.h"
#include "base/kill_point.h"
#include "base/log.h"
#include "base/status.h"
#include "base/strings.h"
#include "iceberg/manifest.h"
#include "iceberg/manifest_list.h"
#include "io/object_store.h"

namespace fjord {
namespace {

std::string MetadataFolder(const TableMetadata& metadata) {
  return StrCat(metadata.location, "/metadata");
}

// Writes one planned manifest; gives its live part as later commits see it.
absl::StatusOr<LiveManifest> WriteManifest(ObjectStore& store, const TableMetadata& metadata,
                                           const PlannedManifest& planned, SnapshotId snapshot,
                                           SequenceNumber sequence) {
  const Schema& schema = metadata.CurrentSchema();
  const ManifestContext context{.snapshot_id = snapshot,
                                .schema_json = SchemaToJson(schema).Dump(),
                                .schema_id = schema.id,
                                .partition_spec_id = metadata.default_spec_id,
                                .content = planned.content};
  ASSIGN_OR_RETURN(EncodedManifest encoded, EncodeManifest(context, planned.entries));
  encoded.file.manifest_path = StrCat(MetadataFolder(metadata), "/", RandomUuid(), "-m0.avro");
  RETURN_IF_ERROR(store.Put(encoded.file.manifest_path, encoded.bytes));
  LiveManifest live{.file = std::move(encoded.file)};
  for (const ManifestEntry& entry : planned.entries) {
    if (entry.status == EntryStatus::kDeleted) continue;
    ManifestEntry kept = entry;
    if (!kept.snapshot_id) kept.snapshot_id = snapshot;
    if (!kept.sequence_number) kept.sequence_number = sequence;
    if (!kept.file_sequence_number) kept.file_sequence_number = sequence;
    live.entries.push_back(std::move(kept));
  }
  return live;
}

// Every snapshot but those that a branch or tag of somebody leads to. (Our own ancestry cannot be
// walked by parents: thinning makes holes in it.)
std::vector<SnapshotId> Expired(const TableMetadata& metadata, const RetentionPolicy& policy,
                                const Snapshot& next) {
  absl::flat_hash_set<SnapshotId> protected_ids;
  for (const auto& [name, ref] : metadata.refs) {
    std::optional<SnapshotId> at = ref.snapshot_id;
    while (name != kMainBranch && at && protected_ids.insert(*at).second) {
      const Snapshot* snapshot = metadata.FindSnapshot(*at);
      at = snapshot == nullptr ? std::nullopt : snapshot->parent_snapshot_id;
    }
  }
  std::vector<const Snapshot*> all;
  for (const Snapshot& snapshot : metadata.snapshots) {
    if (!protected_ids.contains(snapshot.id)) all.push_back(&snapshot);
  }
  std::stable_sort(all.begin(), all.end(), [](const Snapshot* a, const Snapshot* b) {
    return a->sequence_number > b->sequence_number;
  });
  std::vector<RetainedSnapshot> lineage = {{next.id, next.timestamp_ms}};
  for (const Snapshot* snapshot : all) lineage.push_back({snapshot->id, snapshot->timestamp_ms});
  return SnapshotsToDrop(lineage, policy, next.timestamp_ms);
}

// Only looks. kUnavailable: not in, and nothing else either.
absl::StatusOr<LoadedTable> ReconcileCommit(Catalog& catalog, const TableIdent& ident,
                                            const PreparedCommit& commit,
                                            const CommitPatience& patience) {
  absl::StatusOr<LoadedTable> loaded;
  for (int i = 0; i < patience.looks_max; ++i) {
    if (i > 0) absl::SleepFor(patience.pause * (1 << i));
    loaded = catalog.LoadTable(ident);
    if (loaded.ok() || absl::IsNotFound(loaded.status())) break;
  }
  if (!loaded.ok()) {
    if (absl::IsNotFound(loaded.status())) return loaded.status();
    return absl::UnknownError(StrCat("whether the commit of ", ident.ToString(),
                                     " is in cannot be seen: ", Message(loaded.status())));
  }
  if (HasOperation(loaded->metadata, commit.operation)) return loaded;
  if (loaded->metadata.FindSnapshot(commit.snapshot) != nullptr) {
    return absl::FailedPreconditionError(
        StrCat(ident.ToString(), ": our snapshot ", commit.snapshot.value,
               " was committed and then taken out of main by somebody "
               "(rollback). Drop the table to have it copied again."));
  }
  if (loaded->metadata.current_snapshot_id == commit.base_snapshot) {
    return absl::UnavailableError("the commit is not in, and may be sent again");
  }
  return absl::AbortedError(StrCat("the head of ", ident.ToString(), " has moved"));
}

}  // namespace

absl::StatusOr<PreparedCommit> PrepareCommit(ObjectStore& store, const CommitInput& input) {
  const TableMetadata& metadata = input.base->loaded.metadata;
  const SnapshotPlan plan = PlanSnapshot(input.base->manifests, input.changes, input.snapshot);
  PreparedCommit commit{.snapshot = input.snapshot,
                        .operation = input.own.operation,
                        .base_snapshot = input.base->snapshot};
  const SequenceNumber sequence(metadata.last_sequence_number.value + 1);

  std::vector<ManifestFile> list;
  for (const PlannedManifest& planned : plan.written) {
    ASSIGN_OR_RETURN(LiveManifest live,
                     WriteManifest(store, metadata, planned, input.snapshot, sequence));
    list.push_back(live.file);
    commit.manifests.push_back(std::move(live));
  }
  for (const size_t index : plan.kept) {
    list.push_back(input.base->manifests[index].file);
    commit.manifests.push_back(input.base->manifests[index]);
  }
  Snapshot snapshot{.id = input.snapshot,
                    .parent_snapshot_id = input.base->snapshot,
                    .sequence_number = sequence,
                    .schema_id = metadata.current_schema_id};
  // Readers refuse logs that go back in time; clocks of several machines do.
  snapshot.timestamp_ms = std::max(input.now_ms, metadata.last_updated_ms);
  snapshot.manifest_list = StrCat(MetadataFolder(metadata), "/snap-", input.snapshot.value, "-0-",
                                  RandomUuid(), ".avro");
  ASSIGN_OR_RETURN(const std::string list_bytes,
                   EncodeManifestList({.snapshot_id = input.snapshot,
                                       .parent_snapshot_id = input.base->snapshot,
                                       .sequence_number = sequence},
                                      list));
  RETURN_IF_ERROR(store.Put(snapshot.manifest_list, list_bytes));
  for (LiveManifest& manifest : commit.manifests) {
    if (manifest.file.sequence_number == kUnassignedSequenceNumber)
      manifest.file.sequence_number = sequence;
    if (manifest.file.min_sequence_number == kUnassignedSequenceNumber)
      manifest.file.min_sequence_number = sequence;
  }
  // A manifest that only tells of removed files is named by this snapshot and by no later one.
  std::erase_if(commit.manifests,
                [](const LiveManifest& manifest) { return manifest.entries.empty(); });

  const Snapshot* parent =
      input.base->snapshot ? metadata.FindSnapshot(*input.base->snapshot) : nullptr;
  snapshot.summary =
      BuildSummary(plan.delta.Operation(), plan.delta,
                   parent == nullptr ? nullptr : &parent->summary, OwnSummaryKeys(input.own));
  commit.request.requirements.Push(AssertTableUuid(metadata.table_uuid));
  commit.request.requirements.Push(AssertRefSnapshotId(kMainBranch, input.base->snapshot));
  commit.request.requirements.Push(AssertCurrentSchemaId(metadata.current_schema_id));
  commit.request.updates.Push(AddSnapshotUpdate(snapshot));
  commit.request.updates.Push(SetMainUpdate(input.snapshot));
  commit.request.updates.Push(SetPropertiesUpdate(
      {{kWatermarkProperty,
        FormatMirroredWatermark({input.own.watermark, input.snapshot, sequence})}}));
  const std::vector<SnapshotId> expired = Expired(metadata, input.retention, snapshot);
  if (!expired.empty()) commit.request.updates.Push(RemoveSnapshotsUpdate(expired));
  return commit;
}

absl::StatusOr<LoadedTable> SendCommit(Catalog& catalog, const TableIdent& ident,
                                       const PreparedCommit& commit,
                                       const CommitPatience& patience) {
  absl::Status last;
  for (int i = 0; i < patience.sends_max; ++i) {
    if (i > 0) absl::SleepFor(patience.pause * (1 << i));
    KillPoint("before-commit");
    absl::StatusOr<LoadedTable> committed = catalog.CommitTable(ident, commit.request);
    if (committed.ok()) {
      KillPoint("after-commit");
      return committed;
    }
    last = committed.status();
    const bool unclear = absl::IsUnknown(last) || absl::IsUnavailable(last) ||
                         absl::IsDeadlineExceeded(last) || absl::IsAborted(last);
    if (!unclear) return last;
    // A rejection too is judged by looking: it may be the answer to a repetition of
    // our own, committed request.
    absl::StatusOr<LoadedTable> found = ReconcileCommit(catalog, ident, commit, patience);
    if (found.ok()) {
      LogInfo("a commit with an unclear answer is in", {{"table", ident.ToString()}});
      return found;
    }
    if (!absl::IsUnavailable(found.status())) return found.status();
    if (absl::IsAborted(last)) return last;
  }
  return absl::UnknownError(StrCat("the commit of ", ident.ToString(), " was sent ",
                                   patience.sends_max,
                                   " times without a clear answer: ", Message(last)));
}

}  // namespace fjord
