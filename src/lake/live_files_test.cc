#include "lake/live_files.h"

#include <gtest/gtest.h>

#include "lake/lake_test_support.h"

namespace fjord {
namespace {

using absl::StatusCode;

// Manifests as ReadLiveManifests gives them, over files in memory.
class LiveFilesTest : public testing::Test {
 protected:
  void AddData(const std::string& path, int64_t sequence, int64_t records = 10) {
    Add(ManifestContent::kData, sequence, {.file_path = path, .record_count = records});
  }
  void AddDeletes(const std::string& path, int64_t sequence, const PositionsByPath& positions) {
    auto stream = store_.Create(path);
    ASSERT_TRUE(stream.ok()) << stream.status();
    ASSERT_TRUE(WritePositionDeletes(positions, *std::move(stream)).ok());
    Add(ManifestContent::kDeletes, sequence,
        {.content = FileContent::kPositionDeletes, .file_path = path, .record_count = 1});
  }
  void Add(ManifestContent content, int64_t sequence, DataFile file) {
    LiveManifest manifest;
    manifest.file.content = content;
    manifest.entries.push_back({.status = EntryStatus::kExisting,
                                .sequence_number = SequenceNumber(sequence),
                                .file = std::move(file)});
    manifests_.push_back(std::move(manifest));
  }
  static std::vector<RowPosition> Positions(std::initializer_list<uint32_t> rows) {
    std::vector<RowPosition> positions;
    for (const uint32_t row : rows) positions.push_back(RowPosition(row));
    return positions;
  }
  std::vector<RowPosition> DeletedOf(const LiveFiles& files, const std::string& path) {
    return files.data.at(path).deleted.ToVector();
  }

  MemoryStore store_;
  std::vector<LiveManifest> manifests_;
};

TEST_F(LiveFilesTest, DeletesOfSeveralFilesAreJoined) {
  AddDeletes("d1", 2, {{"a", Positions({1, 3})}, {"b", Positions({0})}});
  AddDeletes("d2", 3, {{"a", Positions({3, 9})}});
  AddData("a", 1);
  AddData("b", 2);
  const auto files = ReadLiveFiles(store_, manifests_);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(DeletedOf(*files, "a"), Positions({1, 3, 9}));
  EXPECT_EQ(DeletedOf(*files, "b"), Positions({0}));
  EXPECT_EQ(files->data.at("a").live_rows(), 7);
  EXPECT_EQ(files->delete_files.at("d2").at("a"), Positions({3, 9}));
}

TEST_F(LiveFilesTest, DeletesOfTheSameCommitCountAndOlderOnesDoNot) {
  AddDeletes("same", 5, {{"a", Positions({1})}});
  AddDeletes("older", 4, {{"a", Positions({2})}});
  AddData("a", 5);
  const auto files = ReadLiveFiles(store_, manifests_);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(DeletedOf(*files, "a"), Positions({1}));
  EXPECT_TRUE(files->delete_files.at("older").empty());
}

TEST_F(LiveFilesTest, DeletesOfAFileThatIsGoneAreNobodys) {
  AddDeletes("d", 5, {{"gone", Positions({1})}});
  const auto files = ReadLiveFiles(store_, manifests_);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_TRUE(files->data.empty());
  EXPECT_TRUE(files->delete_files.at("d").empty());
}

TEST_F(LiveFilesTest, DeletesOfOtherKindsAreRefusedByName) {
  for (const DataFile& file :
       {DataFile{.content = FileContent::kEqualityDeletes, .file_path = "equality"},
        DataFile{.content = FileContent::kPositionDeletes,
                 .file_path = "vector",
                 .file_format = "PUFFIN"}}) {
    manifests_.clear();
    Add(ManifestContent::kDeletes, 2, file);
    const absl::Status status = ReadLiveFiles(store_, manifests_).status();
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
    EXPECT_NE(status.message().find(file.file_path), absl::string_view::npos) << status;
  }
}

TEST_F(LiveFilesTest, DeleteFileThatIsMissingOrDamagedIsAnError) {
  Add(ManifestContent::kDeletes, 2,
      {.content = FileContent::kPositionDeletes, .file_path = "not there"});
  EXPECT_EQ(ReadLiveFiles(store_, manifests_).status().code(), StatusCode::kNotFound);
  ASSERT_TRUE(store_.Put("not there", "no Parquet").ok());
  const absl::Status status = ReadLiveFiles(store_, manifests_).status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss) << status;
  EXPECT_NE(status.message().find("not there"), absl::string_view::npos) << status;
}

TEST_F(LiveFilesTest, VisitPassesOverDeletedRowsInEveryBatch) {
  constexpr int32_t kRows = 40'000;  // several batches
  TestRows rows;
  PositionSet skip;
  for (int32_t id = 0; id < kRows; ++id) {
    rows[id] = {"v", {}};
    if (id % 3 == 0) skip.Add(RowPosition(static_cast<uint32_t>(id)));
  }
  CopyWriter writer(&store_, "data", TestFields());
  ASSERT_TRUE(writer.Append(BatchOf(rows)).ok());
  ASSERT_TRUE(writer.Finish().ok());
  std::vector<int32_t> seen;
  uint64_t batches = 0;
  const absl::Status status = VisitLiveRows(
      store_, "data", {TestFields()[0]}, skip,
      [&](const ColumnBatch& batch, uint64_t first, const std::vector<uint32_t>& live) {
        ++batches;
        for (const uint32_t row : live) {
          EXPECT_EQ(static_cast<uint64_t>(batch.columns[0].int32s[row]), first + row);
          seen.push_back(batch.columns[0].int32s[row]);
        }
        return absl::OkStatus();
      });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_GT(batches, 1u);
  std::vector<int32_t> expected;
  for (int32_t id = 0; id < kRows; ++id) {
    if (id % 3 != 0) expected.push_back(id);
  }
  EXPECT_EQ(seen, expected);
}

TEST_F(LiveFilesTest, ForeignSnapshotWithoutItsParentCannotBeJudged) {
  TableMetadata metadata;
  metadata.snapshots = {{.id = SnapshotId(2), .parent_snapshot_id = SnapshotId(1)}};
  const absl::Status status =
      CheckForeignSnapshots(store_, metadata, TestFields(), {SnapshotId(2)});
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("expired"), absl::string_view::npos) << status;
}

}  // namespace
}  // namespace fjord
