// Tests of the pure plans: manifests, delete files, retention, lineage.
#include <gtest/gtest.h>

#include "lake/delete_plan.h"
#include "lake/head.h"
#include "lake/retention.h"
#include "lake/snapshot_plan.h"
#include "lake/watermark.h"

namespace fjord {
namespace {

PositionSet Rows(std::initializer_list<uint32_t> rows) {
  PositionSet set;
  for (const uint32_t row : rows) set.Add(RowPosition(row));
  return set;
}

LiveManifest DataManifest(std::initializer_list<const char*> paths) {
  LiveManifest manifest;
  for (const char* path : paths) {
    manifest.entries.push_back({.status = EntryStatus::kAdded,
                                .snapshot_id = SnapshotId(1),
                                .sequence_number = SequenceNumber(1),
                                .file_sequence_number = SequenceNumber(1),
                                .file = {.file_path = path, .record_count = 1}});
  }
  return manifest;
}

TEST(PlanSnapshot, SmallManifestsAreTakenInAndLargeOnesKept) {
  const std::vector<LiveManifest> base = {DataManifest({"a"}), DataManifest({"b", "c", "d", "e"})};
  FileChanges changes;
  changes.added_data = {{.file_path = "new", .record_count = 1}};
  const SnapshotPlan plan = PlanSnapshot(base, changes, SnapshotId(2));
  ASSERT_EQ(plan.written.size(), 1u);
  ASSERT_EQ(plan.written[0].entries.size(), 2u);
  EXPECT_EQ(plan.written[0].entries[0].status, EntryStatus::kAdded);
  EXPECT_EQ(plan.written[0].entries[1].status, EntryStatus::kExisting);
  EXPECT_EQ(plan.written[0].entries[1].snapshot_id, SnapshotId(1));
  EXPECT_EQ(plan.kept, std::vector<size_t>{1});
}

TEST(PlanSnapshot, RemovedFileIsTakenOutOfItsManifest) {
  const std::vector<LiveManifest> base = {DataManifest({"a", "b", "c"})};
  FileChanges changes;
  changes.removed = {"b"};
  const SnapshotPlan plan = PlanSnapshot(base, changes, SnapshotId(2));
  ASSERT_EQ(plan.written.size(), 1u);
  ASSERT_EQ(plan.written[0].entries.size(), 3u);
  const ManifestEntry& gone = plan.written[0].entries[2];
  EXPECT_EQ(gone.status, EntryStatus::kDeleted);
  EXPECT_EQ(gone.file.file_path, "b");
  EXPECT_EQ(gone.snapshot_id, SnapshotId(2));
  EXPECT_EQ(gone.sequence_number, SequenceNumber(1));
  EXPECT_TRUE(plan.kept.empty());
}

TEST(PlanSnapshot, ClearRemovesEverything) {
  const std::vector<LiveManifest> base = {DataManifest({"a"}), DataManifest({"b", "c"})};
  FileChanges changes;
  changes.clear = true;
  const SnapshotPlan plan = PlanSnapshot(base, changes, SnapshotId(2));
  ASSERT_EQ(plan.written.size(), 1u);
  for (const ManifestEntry& entry : plan.written[0].entries)
    EXPECT_EQ(entry.status, EntryStatus::kDeleted);
  EXPECT_EQ(plan.written[0].entries.size(), 3u);
  EXPECT_TRUE(plan.kept.empty());
}

TEST(PlanDeletes, FewFilesGetOneScopedFileEachInPlaceOfTheOneBefore) {
  const std::vector<LiveDeleteFile> live = {{"old", {{FileNumber(1), Rows({1, 2})}}}};
  const DeletePlan plan =
      PlanDeletes(live, {{FileNumber(1), Rows({7})}, {FileNumber(2), Rows({3})}}, {}, {});
  ASSERT_EQ(plan.written.size(), 2u);
  EXPECT_EQ(plan.written[0].at(FileNumber(1)), Rows({1, 2, 7}));
  EXPECT_EQ(plan.removed, std::vector<std::string>{"old"});
}

TEST(PlanDeletes, ManyFilesShareOneLooseFileAndSmallLooseOnesAreTakenIn) {
  PositionsByFile fresh;
  for (uint32_t i = 1; i <= 9; ++i) fresh[FileNumber(i)] = Rows({i});
  const std::vector<LiveDeleteFile> live = {
      {"loose", {{FileNumber(1), Rows({50})}, {FileNumber(20), Rows({51})}}}};
  const DeletePlan plan = PlanDeletes(live, fresh, {}, {});
  ASSERT_EQ(plan.written.size(), 1u);
  EXPECT_EQ(plan.written[0].size(), 10u);
  EXPECT_EQ(plan.written[0].at(FileNumber(1)), Rows({1, 50}));
  EXPECT_EQ(plan.removed, std::vector<std::string>{"loose"});
}

TEST(PlanDeletes, OldPositionsThatOutweighNewOnesAreNotRewritten) {
  LiveDeleteFile old{.path = "old"};
  for (uint32_t i = 0; i < 1000; ++i) old.positions[FileNumber(1)].Add(RowPosition(i));
  const DeletePlan plan = PlanDeletes({old}, {{FileNumber(1), Rows({5000})}}, {},
                                      {.rewrite_factor_max = 4, .rewrite_free_positions = 100});
  ASSERT_EQ(plan.written.size(), 1u);
  EXPECT_EQ(plan.written[0].at(FileNumber(1)), Rows({5000}));
  EXPECT_TRUE(plan.removed.empty());
}

TEST(PlanDeletes, DeleteFileOfADroppedDataFileGoesWithIt) {
  const std::vector<LiveDeleteFile> live = {{"old", {{FileNumber(1), Rows({1})}}}};
  const DeletePlan plan = PlanDeletes(live, {}, {FileNumber(1)}, {});
  EXPECT_TRUE(plan.written.empty());
  EXPECT_EQ(plan.removed, std::vector<std::string>{"old"});
}

std::vector<RetainedSnapshot> OneASecond(int count) {
  std::vector<RetainedSnapshot> lineage;
  for (int i = 0; i < count; ++i) lineage.push_back({SnapshotId(count - i), (count - i) * 1000});
  return lineage;
}

TEST(Retention, OldOnesGoButTheNewestStay) {
  const std::vector<SnapshotId> dropped = SnapshotsToDrop(
      OneASecond(100), {.keep = absl::Seconds(10), .at_least = 20, .at_most = 200}, 100'000);
  EXPECT_EQ(dropped.size(), 80u);
  for (const SnapshotId id : dropped) EXPECT_LE(id.value, 80);
}

TEST(Retention, BeyondTheMostTheyAreThinnedAndTheHeadStays) {
  const std::vector<SnapshotId> dropped = SnapshotsToDrop(
      OneASecond(100), {.keep = absl::Hours(1), .at_least = 5, .at_most = 30}, 100'000);
  EXPECT_EQ(dropped.size(), 70u);
  for (const SnapshotId id : dropped) EXPECT_LE(id.value, 95);
}

Snapshot Own(int64_t id, std::optional<int64_t> parent, uint64_t lsn) {
  Snapshot snapshot{.id = SnapshotId(id), .sequence_number = SequenceNumber(id)};
  if (parent) snapshot.parent_snapshot_id = SnapshotId(*parent);
  snapshot.summary = OwnSummaryKeys({.base_lsn = Lsn(lsn - 1),
                                     .watermark = {TimelineId(1), Lsn(lsn)},
                                     .source = "s",
                                     .operation = "o"});
  return snapshot;
}

Snapshot Foreign(int64_t id, int64_t parent) {
  Snapshot snapshot{.id = SnapshotId(id),
                    .parent_snapshot_id = SnapshotId(parent),
                    .sequence_number = SequenceNumber(id)};
  snapshot.summary = {{"operation", "replace"}};
  return snapshot;
}

TableMetadata With(std::vector<Snapshot> snapshots, int64_t head, int64_t mirrored,
                   uint64_t mirrored_lsn) {
  TableMetadata metadata;
  metadata.snapshots = std::move(snapshots);
  metadata.current_snapshot_id = SnapshotId(head);
  metadata.properties[kWatermarkProperty] = FormatMirroredWatermark(
      {{TimelineId(1), Lsn(mirrored_lsn)}, SnapshotId(mirrored), SequenceNumber(mirrored)});
  return metadata;
}

TEST(FindLineage, ForeignSnapshotsBehindOursAreNamedOldestFirst) {
  const auto lineage = FindLineage(With({Own(1, {}, 10), Foreign(2, 1), Foreign(3, 2)}, 3, 1, 10));
  ASSERT_TRUE(lineage.ok());
  EXPECT_EQ(lineage->watermark->lsn, Lsn(10));
  EXPECT_EQ(lineage->foreign, (std::vector<SnapshotId>{SnapshotId(2), SnapshotId(3)}));
  EXPECT_FALSE(lineage->rolled_back);
  EXPECT_TRUE(lineage->proven);
}

TEST(FindLineage, RolledBackMainIsNoticed) {
  const auto lineage = FindLineage(With({Own(1, {}, 10), Own(2, 1, 20)}, 1, 2, 20));
  ASSERT_TRUE(lineage.ok());
  EXPECT_TRUE(lineage->rolled_back);
}

TEST(FindLineage, ExpiredChainIsUnproven) {
  const auto lineage = FindLineage(With({Foreign(3, 2)}, 3, 2, 20));
  ASSERT_TRUE(lineage.ok());
  EXPECT_FALSE(lineage->proven);
  EXPECT_EQ(lineage->watermark->lsn, Lsn(20));
}

}  // namespace
}  // namespace fjord
