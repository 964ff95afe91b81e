#include "lake/file_registry.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/strings.h"
#include "lake/row_index_test_support.h"

namespace fjord {
namespace {

PositionSet Positions(std::vector<uint32_t> values) {
  PositionSet set;
  for (const uint32_t value : values) set.Add(RowPosition(value));
  return set;
}

DataFileEntry File(uint32_t number, const std::string& path, uint64_t records) {
  return {.number = FileNumber(number),
          .path = path,
          .record_count = records,
          .sequence_number = SequenceNumber(number),
          .spec_id = SpecId(1),
          .partition = "p"};
}

TEST(PositionSet, IsASetOfPositions) {
  PositionSet set = Positions({5, 1, 5, 4'000'000'000});
  set.AddMany(std::vector<RowPosition>{RowPosition(1), RowPosition(2), RowPosition(3)});
  EXPECT_EQ(set.Cardinality(), 5u);
  EXPECT_TRUE(set.Contains(RowPosition(4'000'000'000)));
  EXPECT_FALSE(set.Contains(RowPosition(4)));
  EXPECT_EQ(set.ToVector(),
            (std::vector<RowPosition>{RowPosition(1), RowPosition(2), RowPosition(3),
                                      RowPosition(5), RowPosition(4'000'000'000)}));
  PositionSet other = Positions({4});
  other.Union(set);
  EXPECT_EQ(other, Positions({1, 2, 3, 4, 5, 4'000'000'000}));
  const PositionSet copy = other;
  other.Add(RowPosition(9));
  EXPECT_EQ(copy.Cardinality(), 6u);
  const PositionSet moved = std::move(other);
  EXPECT_EQ(moved.Cardinality(), 7u);
  EXPECT_TRUE(other.empty());
}

TEST(PositionSet, BytesThatAreNoSetAreDataLoss) {
  std::vector<uint32_t> values;
  for (uint32_t i = 0; i < 100'000; i += 3) values.push_back(i);
  const PositionSet set = Positions(values);
  const std::string good = set.Serialize();
  EXPECT_EQ(*PositionSet::Deserialize(good), set);
  EXPECT_EQ(*PositionSet::Deserialize(PositionSet().Serialize()), PositionSet());
  EXPECT_EQ(PositionSet::Deserialize("").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(PositionSet::Deserialize("nonsense").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(PositionSet::Deserialize(good.substr(0, good.size() - 1)).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(PositionSet::Deserialize(good + "x").status().code(), absl::StatusCode::kDataLoss);
}

TEST(FileRegistry, StepsAddDeleteRemoveAndForget) {
  const ScopedFolder folder;
  auto registry = *FileRegistry::Create(folder / "r", SnapshotId(1));
  ASSERT_EQ(registry->Allocate(), FileNumber(1));
  ASSERT_EQ(registry->Allocate(), FileNumber(2));
  ASSERT_TRUE(
      registry->Append(SnapshotId(2), {.added = {File(1, "a", 10), File(2, "b", 20)}}).ok());
  ASSERT_TRUE(
      registry->Append(SnapshotId(3), {.deleted = {{FileNumber(1), Positions({1, 2})}}}).ok());
  ASSERT_TRUE(registry
                  ->Append(SnapshotId(4), {.deleted = {{FileNumber(1), Positions({2, 3})}},
                                           .removed = {FileNumber(2)}})
                  .ok());
  EXPECT_EQ(registry->FindPath("a")->deleted, Positions({1, 2, 3}));
  EXPECT_EQ(registry->live_records(), 7u);
  EXPECT_EQ(registry->FindPath("b"), nullptr);
  EXPECT_FALSE(registry->Find(FileNumber(2))->live);
  ASSERT_TRUE(registry->Append(SnapshotId(5), {.forgotten = {FileNumber(2)}}).ok());
  EXPECT_EQ(registry->Find(FileNumber(2)), nullptr);

  const auto files = registry->files();
  registry.reset();
  registry = *FileRegistry::Open(folder / "r", SnapshotId(5));
  EXPECT_EQ(registry->files(), files);
  EXPECT_EQ(registry->FindPath("a")->number, FileNumber(1));
}

TEST(FileRegistry, ANumberIsNeverUsedTwiceEvenWhenItsFileIsForgotten) {
  const ScopedFolder folder;
  auto registry = *FileRegistry::Create(folder / "r", SnapshotId(1));
  ASSERT_TRUE(registry->Append(SnapshotId(2), {.added = {File(41, "a", 10)}}).ok());
  ASSERT_TRUE(registry->Append(SnapshotId(3), {.base = RegistryStep::Base::kClear}).ok());
  registry.reset();
  registry = *FileRegistry::Open(folder / "r", SnapshotId(3));
  EXPECT_TRUE(registry->files().empty());
  EXPECT_EQ(registry->Allocate(), FileNumber(42));
}

TEST(FileRegistry, AStepAfterTheIndexsSnapshotIsCutOff) {
  const ScopedFolder folder;
  auto registry = *FileRegistry::Create(folder / "r", SnapshotId(1));
  ASSERT_TRUE(registry->Append(SnapshotId(2), {.added = {File(1, "a", 10)}}).ok());
  ASSERT_TRUE(registry->Append(SnapshotId(3), {.added = {File(2, "b", 10)}}).ok());
  registry.reset();
  registry = *FileRegistry::Open(folder / "r", SnapshotId(2));
  EXPECT_EQ(registry->FindPath("b"), nullptr);
  ASSERT_TRUE(registry->Append(SnapshotId(4), {.added = {File(3, "c", 10)}}).ok());
  registry.reset();
  registry = *FileRegistry::Open(folder / "r", SnapshotId(4));
  EXPECT_EQ(registry->FindPath("b"), nullptr);
  EXPECT_NE(registry->FindPath("c"), nullptr);
  EXPECT_EQ(FileRegistry::Open(folder / "r", SnapshotId(3)).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST(FileRegistry, ATailThatAKillCutOffDoesNoHarm) {
  const ScopedFolder folder;
  auto registry = *FileRegistry::Create(folder / "r", SnapshotId(1));
  ASSERT_TRUE(registry->Append(SnapshotId(2), {.added = {File(1, "a", 10)}}).ok());
  const auto whole = std::filesystem::file_size(folder / "r");
  ASSERT_TRUE(registry->Append(SnapshotId(3), {.added = {File(2, "b", 10)}}).ok());
  registry.reset();
  for (auto size = std::filesystem::file_size(folder / "r") - 1; size >= whole; --size) {
    std::filesystem::resize_file(folder / "r", size);
    ASSERT_TRUE(FileRegistry::Open(folder / "r", SnapshotId(2)).ok()) << size;
    ASSERT_EQ(FileRegistry::Open(folder / "r", SnapshotId(3)).status().code(),
              absl::StatusCode::kDataLoss)
        << size;
  }
}

TEST(FileRegistry, AStepThatNamesAnUnknownFileIsRefused) {
  const ScopedFolder folder;
  auto registry = *FileRegistry::Create(folder / "r", SnapshotId(1));
  EXPECT_EQ(registry->Append(SnapshotId(2), {.deleted = {{FileNumber(1), Positions({1})}}}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(registry->Append(SnapshotId(2), {.removed = {FileNumber(1)}}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(registry->snapshot(), SnapshotId(1));
}

TEST(FileRegistry, TheLogIsRewrittenWhenItHasGrown) {
  const ScopedFolder folder;
  auto registry = *FileRegistry::Create(folder / "r", SnapshotId(1));
  ASSERT_TRUE(registry->Append(SnapshotId(2), {.added = {File(1, "a", 1'000'000)}}).ok());
  PositionSet all;
  for (int64_t i = 3; i < 1'000; ++i) {
    std::vector<RowPosition> positions;
    for (uint32_t n = 0; n < 300; ++n)
      positions.push_back(RowPosition(static_cast<uint32_t>(n * 1'009 + i)));
    PositionSet deleted;
    deleted.AddMany(positions);
    all.Union(deleted);
    ASSERT_TRUE(registry->Append(SnapshotId(i), {.deleted = {{FileNumber(1), deleted}}}).ok());
  }
  EXPECT_LT(std::filesystem::file_size(folder / "r"), 400'000u);
  registry.reset();
  // The step before the last can still be gone back to.
  EXPECT_TRUE(FileRegistry::Open(folder / "r", SnapshotId(998)).ok());
  registry = *FileRegistry::Open(folder / "r", SnapshotId(999));
  EXPECT_EQ(registry->Find(FileNumber(1))->deleted, all);
}

TEST(FileRegistry, NoFileIsNotFoundAndAnotherFileIsDataLoss) {
  const ScopedFolder folder;
  EXPECT_EQ(FileRegistry::Open(folder / "r", SnapshotId(1)).status().code(),
            absl::StatusCode::kNotFound);
  std::ofstream(folder / "r") << "something else";
  EXPECT_EQ(FileRegistry::Open(folder / "r", SnapshotId(1)).status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace fjord
