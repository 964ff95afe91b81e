#include "lake/row_index.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "base/coding.h"
#include "base/strings.h"
#include "lake/row_index_file.h"
#include "lake/row_index_test_support.h"

namespace fjord {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<RowIndex> MakeScratch(const ScopedFolder& folder) {
  return *RowIndex::CreateScratch(folder.path(), {1, 2});
}

RowIndexOptions TestOptions() {
  return {.seed = {7, 8},
          .table_uuid = "0b7e3f0a-9c1d-4e55-8a11-2f6f5f7e9a01",
          .state = {SnapshotId(100), TimelineId(1), Lsn(0x16B374D848), 3}};
}

TEST(RowIndex, AnEmptyIndexFindsNothing) {
  const ScopedFolder folder;
  const auto index = MakeScratch(folder);
  const std::vector<Hash128> keys = {TestKey(1), TestKey(2), Hash128{},
                                     Hash128{~uint64_t{0}, ~uint64_t{0}}};
  std::vector<RowLocation> found(keys.size(), At(9, 9));
  index->Find(keys, found);
  for (const RowLocation& location : found) EXPECT_FALSE(location.present());
}

TEST(RowIndex, EveryHashIsAValidKeyEvenZeroAndAllOnes) {
  const ScopedFolder folder;
  const auto index = MakeScratch(folder);
  IndexModel model;
  std::vector<IndexChange> changes;
  for (const uint64_t low : {uint64_t{0}, ~uint64_t{0}}) {
    for (const uint64_t high : {uint64_t{0}, ~uint64_t{0}})
      changes.push_back({{low, high}, At(1, 0)});
  }
  changes.push_back({TestKey(1), At(UINT32_MAX, UINT32_MAX)});
  ASSERT_TRUE(index->Apply(changes).ok());
  ApplyToModel(model, changes);
  ExpectEqualsModel(*index, model);
}

TEST(RowIndex, OfChangesOfOneKeyTheLastWins) {
  const ScopedFolder folder;
  const auto index = MakeScratch(folder);
  const Hash128 key = TestKey(5);
  std::vector<RowLocation> previous(4);
  ASSERT_TRUE(index
                  ->ApplyAndFetch(
                      std::vector<IndexChange>{
                          {key, At(1, 1)}, {key, At(1, 2)}, {key, kNoRow}, {key, At(2, 3)}},
                      previous)
                  .ok());
  EXPECT_EQ(previous, (std::vector<RowLocation>{kNoRow, At(1, 1), At(1, 2), kNoRow}));
  ExpectEqualsModel(*index, {{key, At(2, 3)}});
}

TEST(RowIndex, RemovingWhatIsAbsentIsNoError) {
  const ScopedFolder folder;
  const auto index = MakeScratch(folder);
  ASSERT_TRUE(index->Apply(std::vector<IndexChange>{{TestKey(1), kNoRow}}).ok());
  EXPECT_EQ(index->size(), 0u);
}

TEST(RowIndex, RandomBatchesAgreeWithAMap) {
  const ScopedFolder folder;
  const auto index = MakeScratch(folder);
  IndexModel model;
  std::mt19937_64 random(1);
  for (int round = 0; round < 60; ++round) {
    // Grows, shrinks, grows: batches from one key to several segments' worth.
    const size_t count = size_t{1} << (random() % 15);
    const auto changes = RandomChanges(random, count, 60'000, round % 20 < 12 ? 10 : 80);
    std::vector<RowLocation> previous(changes.size());
    ASSERT_TRUE(index->ApplyAndFetch(changes, previous).ok());
    for (size_t i = 0; i < changes.size(); ++i) {
      const auto it = model.find(changes[i].key);
      ASSERT_EQ(previous[i], it == model.end() ? kNoRow : it->second);
      ApplyToModel(model, std::span(&changes[i], 1));
    }
    if (round % 10 == 9) ExpectEqualsModel(*index, model);
  }
}

TEST(RowIndex, GrowsFromNothingToTwoMillionEntries) {
  const ScopedFolder folder;
  const auto index = MakeScratch(folder);
  constexpr uint64_t kRows = 2'000'000;
  std::vector<IndexChange> changes;
  for (uint64_t row = 0; row < kRows;) {
    changes.clear();
    for (; changes.size() < 50'000; ++row)
      changes.push_back({TestKey(row), At(1, static_cast<uint32_t>(row))});
    ASSERT_TRUE(index->Apply(changes).ok());
  }
  ASSERT_EQ(index->size(), kRows);
  ASSERT_TRUE(index->file_for_test().Verify().ok());
  std::vector<Hash128> keys(kRows + 10);
  for (uint64_t row = 0; row < keys.size(); ++row) keys[row] = TestKey(row);
  std::vector<RowLocation> found(keys.size());
  index->Find(keys, found);
  for (uint64_t row = 0; row < kRows; ++row)
    ASSERT_EQ(found[row], At(1, static_cast<uint32_t>(row)));
  for (uint64_t row = kRows; row < keys.size(); ++row) ASSERT_FALSE(found[row].present());
  // Between 24 bytes at 80 % and at 40 % full, and the allocation ahead.
  EXPECT_LT(index->mapped_bytes(), kRows * 70);
}

// Keys whose first bits are alike all go to one segment, which must split until those bits differ.
TEST(RowIndex, CollidingTopBitsDeepenTheDirectoryBeyondItsFirstSegment) {
  const ScopedFolder folder;
  const auto index = MakeScratch(folder);
  IndexModel model;
  std::mt19937_64 random(2);
  std::vector<IndexChange> changes;
  for (int i = 0; i < 20'000; ++i) {
    const Hash128 key{random(), 0xABCD'0000'0000'0000 | random() >> 17};
    changes.push_back({key, At(1, static_cast<uint32_t>(i))});
  }
  for (int i = 0; i < 1'000; ++i) changes.push_back({TestKey(i), At(2, static_cast<uint32_t>(i))});
  ASSERT_TRUE(index->Apply(changes).ok());
  ApplyToModel(model, changes);
  ExpectEqualsModel(*index, model);
  EXPECT_GT(index->file_for_test().directory_size(), uint64_t{1} << kDirectoryDepthInside);
}

TEST(RowIndex, MoreKeysOfOnePrefixThanASegmentHoldsAreRefusedWithoutAChange) {
  const ScopedFolder folder;
  const auto index = MakeScratch(folder);
  std::vector<IndexChange> changes;
  for (uint64_t i = 0; i < kEntriesPerSegmentMax + 1; ++i)
    changes.push_back({{i, 0x1234'5678'9ABC'DEF0}, At(1, 1)});
  EXPECT_EQ(index->Apply(changes).code(), absl::StatusCode::kResourceExhausted);
  ExpectEqualsModel(*index, {});
  changes.pop_back();
  ASSERT_TRUE(index->Apply(changes).ok());
  EXPECT_EQ(index->size(), kEntriesPerSegmentMax);
  ASSERT_TRUE(index->file_for_test().Verify().ok());
}

TEST(RowIndex, ManyChangesOfFewKeysDoNotGrowTheIndex) {
  const ScopedFolder folder;
  const auto index = MakeScratch(folder);
  std::vector<IndexChange> changes;
  for (int i = 0; i < 100'000; ++i)
    changes.push_back({TestKey(i % 10), At(1, static_cast<uint32_t>(i))});
  const uint64_t before = index->mapped_bytes();
  ASSERT_TRUE(index->Apply(changes).ok());
  EXPECT_EQ(index->size(), 10u);
  EXPECT_EQ(index->mapped_bytes(), before);
}

TEST(RowIndex, ClearGivesTheSpaceBack) {
  const ScopedFolder folder;
  const auto index = MakeScratch(folder);
  const uint64_t empty = index->mapped_bytes();
  std::mt19937_64 random(3);
  ASSERT_TRUE(index->Apply(RandomChanges(random, 100'000, 100'000, 0)).ok());
  ASSERT_TRUE(index->Clear().ok());
  EXPECT_EQ(index->mapped_bytes(), empty);
  ExpectEqualsModel(*index, {});
  const auto changes = RandomChanges(random, 50'000, 50'000, 0);
  ASSERT_TRUE(index->Apply(changes).ok());
  IndexModel model;
  ApplyToModel(model, changes);
  ExpectEqualsModel(*index, model);
}

TEST(RowIndex, SweepRemovesTheEntriesOfFilesThatAreGone) {
  const ScopedFolder folder;
  const auto index = MakeScratch(folder);
  std::mt19937_64 random(4);
  const auto changes = RandomChanges(random, 60'000, 60'000, 0);
  ASSERT_TRUE(index->Apply(changes).ok());
  IndexModel model;
  ApplyToModel(model, changes);
  const auto removed =
      std::erase_if(model, [](const auto& entry) { return entry.second.file.value % 3 == 0; });
  const auto swept = index->Sweep([](FileNumber file) { return file.value % 3 == 0; });
  ASSERT_TRUE(swept.ok());
  EXPECT_EQ(*swept, removed);
  ExpectEqualsModel(*index, model);
}

TEST(RowIndex, HashIsTheKeyedHashOfTheTablesSeed) {
  const ScopedFolder folder;
  const auto index = *RowIndex::Create(folder / "a", TestOptions());
  EXPECT_EQ(index->Hash("key"), SipHash128({7, 8}, "key"));
}

// --- Disk full
// --------------------------------------------------------------------------------------------------------

// Files of this process cannot get larger than `bytes` while it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(uint64_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(RowIndex, AFullDiskLeavesTheContentAsItWas) {
  const ScopedFolder folder;
  const auto index = MakeScratch(folder);
  std::mt19937_64 random(5);
  IndexModel model;
  const auto first = RandomChanges(random, 20'000, 20'000, 0);
  ASSERT_TRUE(index->Apply(first).ok());
  ApplyToModel(model, first);
  auto second = RandomChanges(random, 200'000, 1'000'000, 20);
  {
    const FileSizeLimit limit(3 << 20);
    EXPECT_EQ(index->Apply(second).code(), absl::StatusCode::kResourceExhausted);
    ExpectEqualsModel(*index, model);
  }
  // There is space again.
  ASSERT_TRUE(index->Apply(second).ok());
  ApplyToModel(model, second);
  ExpectEqualsModel(*index, model);
}

TEST(RowIndex, CreateOnAFullDiskIsAnErrorAndNoSignal) {
  const ScopedFolder folder;
  const FileSizeLimit limit(100 * 1024);
  EXPECT_EQ(RowIndex::Create(folder / "a", TestOptions()).status().code(),
            absl::StatusCode::kResourceExhausted);
}

// --- Open and close
// -----------------------------------------------------------------------------------------------------

void Overwrite(const std::string& path, uint64_t offset, std::string_view bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(offset));
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string Fixed64(uint64_t value) {
  std::string bytes;
  PutFixed64(bytes, value);
  return bytes;
}

// An index with content at snapshot 200, closed or left as by a kill.
enum class Ending { kClose, kKill };
IndexModel MakeIndex(const std::string& path, Ending ending) {
  auto index = *RowIndex::Create(path, TestOptions());
  std::mt19937_64 random(6);
  const auto changes = RandomChanges(random, 30'000, 30'000, 10);
  EXPECT_TRUE(index->Apply(changes).ok());
  EXPECT_TRUE(index->FinishStep({SnapshotId(200), TimelineId(2), Lsn(77), 4}).ok());
  if (ending == Ending::kClose) {
    EXPECT_TRUE(index->Close().ok());
  }
  IndexModel model;
  ApplyToModel(model, changes);
  return model;
}

TEST(RowIndexOpen, NoFileIsNotFound) {
  const ScopedFolder folder;
  EXPECT_EQ(RowIndex::Open(folder / "none").status().code(), absl::StatusCode::kNotFound);
}

TEST(RowIndexOpen, AClosedIndexHasItsContentAndState) {
  const ScopedFolder folder;
  const IndexModel model = MakeIndex(folder / "a", Ending::kClose);
  auto index = RowIndex::Open(folder / "a");
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_EQ((*index)->state(), (IndexState{SnapshotId(200), TimelineId(2), Lsn(77), 4}));
  EXPECT_EQ((*index)->table_uuid(), TestOptions().table_uuid);
  EXPECT_EQ((*index)->seed(), TestOptions().seed);
  EXPECT_EQ((*index)->interrupted_step(), std::nullopt);
  ExpectEqualsModel(**index, model);
}

TEST(RowIndexOpen, AfterAKillOfTheProcessTheFileIsGood) {
  const ScopedFolder folder;
  const IndexModel model = MakeIndex(folder / "a", Ending::kKill);
  auto index = RowIndex::Open(folder / "a");
  ASSERT_TRUE(index.ok()) << index.status();
  ExpectEqualsModel(**index, model);
}

// Its pages come from the disk, where the folder for tests is on one.
TEST(RowIndexOpen, AnIndexThatIsNotInMemoryIsReadInBatches) {
  const ScopedFolder folder;
  const IndexModel model = MakeIndex(folder / "a", Ending::kClose);
  const int fd = open((folder / "a").c_str(), O_RDONLY);
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  close(fd);
  auto index = *RowIndex::Open(folder / "a");
  std::vector<Hash128> keys;
  for (const auto& [key, location] : model) keys.push_back(key);
  for (size_t i = 0; i < keys.size(); i += 100) {
    const std::span<const Hash128> batch(keys.data() + i, std::min<size_t>(100, keys.size() - i));
    std::vector<RowLocation> found(batch.size());
    index->Find(batch, found);
    for (size_t n = 0; n < batch.size(); ++n) ASSERT_EQ(found[n], model.at(batch[n]));
  }
}

TEST(RowIndexOpen, TwoProcessesCannotHaveOneIndex) {
  const ScopedFolder folder;
  const auto first = *RowIndex::Create(folder / "a", TestOptions());
  EXPECT_EQ(RowIndex::Open(folder / "a").status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(RowIndex::Create(folder / "a", TestOptions()).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST(RowIndexOpen, AnotherBootTrustsOnlyAClosedIndex) {
  const ScopedFolder folder;
  MakeIndex(folder / "killed", Ending::kKill);
  Overwrite(folder / "killed", offsetof(RowIndexHeader, boot_id), Fixed64(12345));
  const auto killed = RowIndex::Open(folder / "killed");
  EXPECT_EQ(killed.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(killed.status().message()), HasSubstr("machine went down"));

  const IndexModel model = MakeIndex(folder / "closed", Ending::kClose);
  Overwrite(folder / "closed", offsetof(RowIndexHeader, boot_id), Fixed64(12345));
  auto closed = RowIndex::Open(folder / "closed");
  ASSERT_TRUE(closed.ok()) << closed.status();
  ExpectEqualsModel(**closed, model);
}

TEST(RowIndexOpen, TheFirstChangeTakesTheCleanFlagOff) {
  const ScopedFolder folder;
  MakeIndex(folder / "a", Ending::kClose);
  {
    auto index = *RowIndex::Open(folder / "a");
    EXPECT_EQ(index->file_for_test().header().clean, 1u);
    ASSERT_TRUE(index->Apply(std::vector<IndexChange>{{TestKey(1), At(1, 1)}}).ok());
    EXPECT_EQ(index->file_for_test().header().clean, 0u);
  }
}

TEST(RowIndexOpen, AKillWithinAnUnloggedStepMeansRebuild) {
  const ScopedFolder folder;
  MakeIndex(folder / "a", Ending::kClose);
  ASSERT_TRUE((*RowIndex::Open(folder / "a"))
                  ->Apply(std::vector<IndexChange>{{TestKey(1), At(1, 1)}})
                  .ok());
  const auto index = RowIndex::Open(folder / "a");
  EXPECT_EQ(index.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(index.status().message()), HasSubstr("killed while it was built"));
}

TEST(RowIndexOpen, CloseWithinAStepSetsNoFlag) {
  const ScopedFolder folder;
  auto index = *RowIndex::Create(folder / "a", TestOptions());
  ASSERT_TRUE(index->BeginStep(SnapshotId(300)).ok());
  EXPECT_EQ(index->BeginStep(SnapshotId(301)).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(index->Close().code(), absl::StatusCode::kFailedPrecondition);
  index.reset();
  index = *RowIndex::Open(folder / "a");
  EXPECT_EQ(index->interrupted_step(), SnapshotId(300));
  EXPECT_TRUE(index->BeginStep(SnapshotId(300)).ok());
}

TEST(RowIndexOpen, DamageIsDataLossAndAnotherVersionIsNot) {
  const ScopedFolder folder;
  struct Case {
    std::string name;
    uint64_t offset;
    std::string bytes;
    absl::StatusCode code;
  };
  const std::vector<Case> cases = {
      {"magic", 0, "FJROWIDY", absl::StatusCode::kDataLoss},
      {"version", 8, std::string("\x02\0\0\0", 4), absl::StatusCode::kFailedPrecondition},
      {"seed", 16, "x", absl::StatusCode::kDataLoss},
      {"lsn", offsetof(RowIndexHeader, lsn), "x", absl::StatusCode::kDataLoss},
      {"directory depth", offsetof(RowIndexHeader, directory) + 4, "\x40",
       absl::StatusCode::kDataLoss},
      {"directory run", offsetof(RowIndexHeader, directory), "\x40", absl::StatusCode::kDataLoss},
      {"segments", offsetof(RowIndexHeader, segments) + 2, "\x40", absl::StatusCode::kDataLoss},
      {"directory word", 4096, "\xff", absl::StatusCode::kDataLoss},
      {"work", offsetof(RowIndexHeader, work) + 6, "\xff", absl::StatusCode::kDataLoss},
  };
  for (const Case& c : cases) {
    MakeIndex(folder / "a", Ending::kClose);
    Overwrite(folder / "a", c.offset, c.bytes);
    EXPECT_EQ(RowIndex::Open(folder / "a").status().code(), c.code) << c.name;
    // Without the checksum of a clean close the checks of the structure have to do.
    if (c.name == "lsn") continue;
    MakeIndex(folder / "a", Ending::kKill);
    Overwrite(folder / "a", c.offset, c.bytes);
    EXPECT_EQ(RowIndex::Open(folder / "a").status().code(), c.code) << c.name << " after a kill";
  }
  MakeIndex(folder / "short", Ending::kClose);
  std::filesystem::resize_file(folder / "short", 600 * 1024);
  EXPECT_EQ(RowIndex::Open(folder / "short").status().code(), absl::StatusCode::kDataLoss);
  std::filesystem::resize_file(folder / "short", 0);
  EXPECT_EQ(RowIndex::Open(folder / "short").status().code(), absl::StatusCode::kDataLoss);
}

TEST(RowIndexOpen, ScratchLeavesNoFile) {
  const ScopedFolder folder;
  const auto index = MakeScratch(folder);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// --- The worked example of docs/formats/row-index.md
// --------------------------------------------------------------------

std::string ReadBytes(const std::string& path, uint64_t offset, size_t size) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  std::string bytes(size, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  return bytes;
}

TEST(RowIndexFormat, TheWorkedExampleIsWhatTheProgramWrites) {
  const ScopedFolder folder;
  auto index = *RowIndex::Create(
      folder / "a", {.seed = {0x0706050403020100, 0x0f0e0d0c0b0a0908}, .table_uuid = "example"});
  const Hash128 key = index->Hash(Fixed64(42));
  ASSERT_TRUE(index->Apply(std::vector<IndexChange>{{key, At(3, 17)}}).ok());
  ASSERT_TRUE(
      index->FinishStep({SnapshotId(0x1122334455), TimelineId(1), Lsn(0x16B374D848), 5}).ok());
  ASSERT_TRUE(index->Close().ok());
  EXPECT_EQ(Hex(ReadBytes(folder / "a", 0, 80)),
            "464a524f574944580100000000000400"
            "000102030405060708090a0b0c0d0e0f"
            "6578616d706c65000000000000000000"
            "00000000000000000000000000000000"
            "0000000000000000383c06f200000000");
  EXPECT_EQ(Hex(ReadBytes(folder / "a", 112, 128)),
            "55443322110000000100000000000000"
            "48d874b3160000000500000000000000"
            "00000000000000000000000000000000"
            "00000000090000000200000000000000"
            "00000000000000000000000000000000"
            "00000000000000000000000000000000"
            "00000000000000000000000000000000"
            "00000000000000000000000000000000");
  EXPECT_EQ(Hex(ReadBytes(folder / "a", 4096, 16)), "01000000000100000100000000000000");
  EXPECT_EQ(HomeSlot(key.high, 0), 836u);
  EXPECT_EQ(Hex(ReadBytes(folder / "a", 262144 + 24 * 836, 24)),
            "e41a7c9cd825eb6b4aa8de8966989a131100000003000000");
}

}  // namespace
}  // namespace fjord
