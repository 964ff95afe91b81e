// Tests of the pure plans: manifests, delete files.
#include <gtest/gtest.h>

#include "lake/delete_plan.h"
#include "lake/snapshot_plan.h"

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

}  // namespace
}  // namespace fjord
