#include "lake/index_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/digest.h"
#include "base/strings.h"
#include "lake/row_index_test_support.h"

namespace fjord {
namespace {

using testing::HasSubstr;

constexpr std::array<uint64_t, 2> kSeed{7, 8};
const IndexState kHead{.snapshot = SnapshotId(5)};

ColumnBatch Rows(std::vector<int64_t> keys) {
  ColumnBatch batch;
  batch.columns.emplace_back(ColumnType{TypeKind::kLong});
  batch.columns[0].valid.assign(keys.size(), 1);
  batch.columns[0].int64s = std::move(keys);
  return batch;
}

class IndexBuilderTest : public testing::Test {
 protected:
  std::unique_ptr<IndexBuilder> Create() {
    return *IndexBuilder::Create({.path = folder_ / "t.rows",
                                  .registry_path = folder_ / "t.files",
                                  .table_uuid = "00000000-0000-4000-8000-000000000001",
                                  .seed = kSeed,
                                  .display_name = "public.t"});
  }
  static absl::Status AddAll(IndexedFile& file, const ColumnBatch& batch) {
    for (size_t row = 0; row < batch.rows(); ++row) {
      const absl::Status status = file.Add(batch, row, RowPosition(static_cast<uint32_t>(row)));
      if (!status.ok()) return status;
    }
    return file.Finish();
  }
  static LiveFiles Live(const std::map<std::string, int64_t>& records) {
    LiveFiles files;
    for (const auto& [path, count] : records) files.data[path].file.record_count = count;
    return files;
  }
  static RowLocation Find(RowIndex& index, int64_t key) {
    std::string bytes;
    const std::vector<int> all{0};
    AppendKeyBytes(Rows({key}), 0, all, bytes);
    const Hash128 hash = SipHash128(kSeed, bytes);
    RowLocation place;
    index.Find({&hash, 1}, {&place, 1});
    return place;
  }

  ScopedFolder folder_;
};

TEST_F(IndexBuilderTest, FilesThatAreIndexedSideBySideAreAllInTheIndex) {
  constexpr int64_t kRows = 150'000;
  std::unique_ptr<IndexBuilder> builder = Create();
  std::vector<std::thread> threads;
  std::vector<absl::Status> statuses(3);
  for (int64_t i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      std::vector<int64_t> keys;
      for (int64_t k = 0; k < kRows; ++k) keys.push_back(3 * k + i);
      IndexedFile file(*builder, StrCat("f", i), {0});
      statuses[static_cast<size_t>(i)] = AddAll(file, Rows(std::move(keys)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(statuses, testing::Each(absl::OkStatus()));
  const auto built =
      std::move(*builder).Finish(Live({{"f0", kRows}, {"f1", kRows}, {"f2", kRows}}), kHead);
  ASSERT_TRUE(built.ok()) << built.status();
  EXPECT_EQ(built->index->size(), 3u * kRows);
  EXPECT_EQ(built->index->state().snapshot, SnapshotId(5));
  for (const int64_t key : {0, 1, 200'000, 449'999}) {
    const RowLocation place = Find(*built->index, key);
    ASSERT_TRUE(place.present()) << key;
    EXPECT_EQ(built->registry->Find(place.file)->path, StrCat("f", key % 3));
    EXPECT_EQ(place.position, RowPosition(static_cast<uint32_t>(key / 3)));
  }
}

TEST_F(IndexBuilderTest, TwoRowsOfOneKeyAreRefusedInOneFileAndInTwo) {
  std::unique_ptr<IndexBuilder> builder = Create();
  IndexedFile first(*builder, "f0", {0});
  ASSERT_TRUE(AddAll(first, Rows({1, 2})).ok());
  for (const std::vector<int64_t>& keys : {std::vector<int64_t>{3, 2}, {4, 4}}) {
    IndexedFile file(*builder, "f1", {0});
    const absl::Status status = AddAll(file, Rows(keys));
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(status.ToString(), HasSubstr("public.t: the lake table has two rows of one key"));
  }
}

TEST_F(IndexBuilderTest, AFileThatWasGivenUpMayBeWrittenAgain) {
  std::unique_ptr<IndexBuilder> builder = Create();
  {
    std::vector<int64_t> keys(70'000);  // enough that a part of them gets into the index
    for (size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int64_t>(i);
    IndexedFile lost(*builder, "f0", {0});
    const ColumnBatch batch = Rows(keys);
    for (size_t row = 0; row < batch.rows(); ++row) {
      ASSERT_TRUE(lost.Add(batch, row, RowPosition(static_cast<uint32_t>(row))).ok());
    }
  }
  std::vector<int64_t> keys;
  for (int64_t i = 69'999; i >= 0; --i) keys.push_back(i);
  {
    IndexedFile again(*builder, "f1", {0});
    ASSERT_TRUE(AddAll(again, Rows(keys)).ok());
  }
  const auto built = std::move(*builder).Finish(Live({{"f1", 70'000}}), kHead);
  ASSERT_TRUE(built.ok()) << built.status();
  for (const int64_t key : {0, 69'999}) {
    const RowLocation place = Find(*built->index, key);
    EXPECT_EQ(built->registry->Find(place.file)->path, "f1");
    EXPECT_EQ(place.position, RowPosition(static_cast<uint32_t>(69'999 - key)));
  }
}

TEST_F(IndexBuilderTest, WhatIsNotTheTablesDoesNotFit) {
  const std::vector<LiveFiles> others = {Live({}), Live({{"f1", 2}}), Live({{"f0", 2}, {"f1", 1}}),
                                         Live({{"f0", 3}}), Live({{"f0", 1}})};
  for (const LiveFiles& other : others) {
    std::unique_ptr<IndexBuilder> builder = Create();
    {
      IndexedFile file(*builder, "f0", {0});
      ASSERT_TRUE(AddAll(file, Rows({1, 2})).ok());
    }
    EXPECT_TRUE(absl::IsInternal(std::move(*builder).Finish(other, kHead).status()));
  }
}

TEST_F(IndexBuilderTest, RowsOfAGivenUpFileThatDidNotComeAgainDoNotFit) {
  std::unique_ptr<IndexBuilder> builder = Create();
  {
    std::vector<int64_t> keys(65'536);
    for (size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int64_t>(i);
    IndexedFile lost(*builder, "f0", {0});
    const ColumnBatch batch = Rows(keys);
    for (size_t row = 0; row < batch.rows(); ++row) {
      ASSERT_TRUE(lost.Add(batch, row, RowPosition(static_cast<uint32_t>(row))).ok());
    }
  }
  {
    IndexedFile again(*builder, "f1", {0});
    ASSERT_TRUE(AddAll(again, Rows({0, 1})).ok());
  }
  EXPECT_TRUE(absl::IsInternal(std::move(*builder).Finish(Live({{"f1", 2}}), kHead).status()));
}

TEST_F(IndexBuilderTest, AnUnfinishedIndexIsNotTrusted) {
  {
    std::unique_ptr<IndexBuilder> builder = Create();
    IndexedFile file(*builder, "f0", {0});
    ASSERT_TRUE(AddAll(file, Rows({1, 2})).ok());
  }
  const auto opened = RowIndex::Open(folder_ / "t.rows");
  EXPECT_TRUE(!opened.ok() || (*opened)->interrupted_step());
}

}  // namespace
}  // namespace fjord
