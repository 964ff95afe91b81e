#include "columnar/position_delete_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "columnar/columnar_test_support.h"

namespace fjord {
namespace {

std::vector<RowPosition> Rows(std::initializer_list<uint32_t> rows) {
  std::vector<RowPosition> positions;
  for (const uint32_t row : rows) positions.emplace_back(row);
  return positions;
}

absl::StatusOr<MemoryFile> Write(const PositionsByPath& positions) {
  MemoryObject object;
  ASSIGN_OR_RETURN(WrittenFile written,
                   WritePositionDeletes(positions, std::make_unique<MemoryWriteStream>(object)));
  return MemoryFile{object.bytes, std::move(written)};
}

absl::StatusOr<PositionsByPath> Read(const std::string& bytes) {
  return ReadPositionDeletes(std::make_unique<MemoryReadable>(bytes));
}

const FileField kPath{kDeleteFilePathId, "file_path", {TypeKind::kString}, true};
const FileField kPos{kDeletePositionId, "pos", {TypeKind::kLong}, true};

TEST(PositionDeleteFile, ComesBackByPath) {
  const PositionsByPath positions = {{"s3://b/a.parquet", Rows({0, 5, UINT32_MAX})},
                                     {"s3://b/b.parquet", Rows({7})}};
  const auto file = Write(positions);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->written.record_count, 4);
  EXPECT_EQ(*Read(file->bytes), positions);
}

TEST(PositionDeleteFile, OfOneDataFileIsBoundedByItsWholePath) {
  const std::string path = "s3://bucket/" + std::string(900, 'p') + "/data.parquet";
  const auto file = Write({{path, Rows({1, 2, 3})}});
  const ColumnStats& stats = file->written.columns[0].stats;
  EXPECT_EQ(file->written.columns[0].id, kDeleteFilePathId);
  EXPECT_EQ(stats.min_bytes(), path);
  EXPECT_EQ(stats.max_bytes(), path);
  EXPECT_EQ(file->written.columns[1].stats.min_int(), 1);
  EXPECT_EQ(file->written.columns[1].stats.max_int(), 3);
}

TEST(PositionDeleteFile, ManyRowsOfManyFiles) {
  PositionsByPath positions;
  std::mt19937_64 random(1);
  for (int i = 0; i < 30; ++i) {
    std::vector<RowPosition>& rows = positions[StrCat("/lake/t/data/", i, ".parquet")];
    for (uint32_t row = 0; rows.size() < 10'000; row += 1 + static_cast<uint32_t>(random() % 5))
      rows.emplace_back(row);
  }
  EXPECT_EQ(*Read(Write(positions)->bytes), positions);
}

TEST(PositionDeleteFile, WhatIsNoDeletionIsRefusedAndTheStreamAborted) {
  const PositionsByPath wrong[] = {{},
                                   {{"a", {}}},
                                   {{"a", Rows({2, 1})}},
                                   {{"a", Rows({2, 2})}},
                                   {{std::string(kStatsBytesMax + 1, 'a'), Rows({2})}}};
  for (const PositionsByPath& positions : wrong) {
    MemoryObject object;
    EXPECT_EQ(WritePositionDeletes(positions, std::make_unique<MemoryWriteStream>(object))
                  .status()
                  .code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(object.aborted);
    EXPECT_FALSE(object.closed);
  }
}

// A file with these rows, as another writer may make it.
std::string Foreign(const std::vector<std::pair<std::string, int64_t>>& rows) {
  ColumnBatch batch = EmptyBatchOf({kPath, kPos});
  for (const auto& [path, position] : rows) {
    batch.columns[0].valid.push_back(1);
    batch.columns[0].bytes.push_back(path);
    batch.columns[1].valid.push_back(1);
    batch.columns[1].int64s.push_back(position);
  }
  return WriteFile({kPath, kPos}, {&batch}).bytes;
}

TEST(PositionDeleteFile, UnsortedRowsWithDuplicatesAreSorted) {
  const PositionsByPath expected = {{"a", Rows({1, 4})}, {"b", Rows({0, 3})}};
  EXPECT_EQ(*Read(Foreign({{"b", 3}, {"a", 4}, {"b", 0}, {"a", 1}, {"a", 4}})), expected);
}

TEST(PositionDeleteFile, ImpossiblePositionsAreDamage) {
  for (const int64_t position : {int64_t{-1}, int64_t{1} << 32}) {
    EXPECT_EQ(Read(Foreign({{"a", position}})).status().code(), absl::StatusCode::kDataLoss);
  }
}

TEST(PositionDeleteFile, ANullPositionIsNotRowZero) {
  FileField path = kPath;
  FileField pos = kPos;
  path.required = pos.required = false;
  ColumnBatch batch = EmptyBatchOf({path, pos});
  batch.columns[0].valid.push_back(1);
  batch.columns[0].bytes.push_back("a");
  batch.columns[1].AppendNull();
  EXPECT_EQ(Read(WriteFile({path, pos}, {&batch}).bytes).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST(PositionDeleteFile, AFileWithoutPositionsIsNoDeleteFile) {
  ColumnBatch batch = EmptyBatchOf({kPath});
  batch.columns[0].valid.push_back(1);
  batch.columns[0].bytes.push_back("a");
  EXPECT_EQ(Read(WriteFile({kPath}, {&batch}).bytes).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace fjord
