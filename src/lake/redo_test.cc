#include "lake/redo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <fstream>

#include "base/strings.h"
#include "lake/row_index_test_support.h"

namespace fjord {
namespace {

using ::testing::HasSubstr;

RedoHeader TestHeader() {
  return {.table_uuid = "example",
          .parent = SnapshotId(1),
          .child = {SnapshotId(2), TimelineId(1), Lsn(0x10), 3}};
}

// An index and a registry at snapshot 1, in a folder of their own.
class RedoTest : public testing::Test {
 protected:
  RedoTest() {
    index_ = *RowIndex::Create(folder_ / "rows",
                               {.table_uuid = "example", .state = {.snapshot = SnapshotId(1)}});
    registry_ = *FileRegistry::Create(folder_ / "files", SnapshotId(1));
  }

  void Write(const RedoHeader& header, const RegistryStep& step,
             std::span<const IndexChange> changes) {
    auto writer = *RedoWriter::Create(Path(), header);
    ASSERT_TRUE(writer->AddFiles(step).ok());
    ASSERT_TRUE(writer->AddChanges(changes).ok());
    ASSERT_TRUE(writer->Finish().ok());
  }
  std::string Path() const { return folder_ / "redo"; }
  std::string Bytes() const {
    std::ifstream file(Path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void SetBytes(const std::string& bytes) const {
    std::ofstream(Path(), std::ios::binary) << bytes;
  }
  absl::StatusOr<RedoOutcome> Apply() { return ApplyRedo(Path(), *index_, *registry_); }

  ScopedFolder folder_;
  std::unique_ptr<RowIndex> index_;
  std::unique_ptr<FileRegistry> registry_;
};

TEST_F(RedoTest, AppliesFilesRowsAndState) {
  RegistryStep step;
  step.added.push_back({.number = FileNumber(1), .path = "a.parquet", .record_count = 5});
  Write(TestHeader(), step,
        std::vector<IndexChange>{
            {TestKey(1), At(1, 0)}, {TestKey(2), At(1, 1)}, {TestKey(1), kNoRow}});
  ASSERT_EQ(*ReadRedoHeader(Path()), TestHeader());
  ASSERT_EQ(*Apply(), RedoOutcome::kApplied);
  EXPECT_EQ(index_->state(), TestHeader().child);
  EXPECT_EQ(registry_->snapshot(), SnapshotId(2));
  ASSERT_NE(registry_->FindPath("a.parquet"), nullptr);
  ExpectEqualsModel(*index_, {{TestKey(2), At(1, 1)}});
}

TEST_F(RedoTest, IsDoneOnlyOnce) {
  Write(TestHeader(), {}, std::vector<IndexChange>{{TestKey(1), At(1, 0)}});
  ASSERT_EQ(*Apply(), RedoOutcome::kApplied);
  EXPECT_EQ(*Apply(), RedoOutcome::kWasApplied);
  ASSERT_TRUE(RemoveRedo(Path()).ok());
  ASSERT_TRUE(RemoveRedo(Path()).ok());
  EXPECT_EQ(ReadRedoHeader(Path()).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(RedoTest, AClearingStepForgetsWhatWasBefore) {
  ASSERT_TRUE(index_->Apply(std::vector<IndexChange>{{TestKey(1), At(1, 0)}}).ok());
  ASSERT_TRUE(index_->FinishStep({.snapshot = SnapshotId(1)}).ok());
  RedoHeader header = TestHeader();
  header.base = RedoHeader::Base::kClear;
  Write(header, {.base = RegistryStep::Base::kClear},
        std::vector<IndexChange>{{TestKey(2), At(2, 0)}});
  ASSERT_TRUE(Apply().ok());
  ExpectEqualsModel(*index_, {{TestKey(2), At(2, 0)}});
}

TEST_F(RedoTest, MoreChangesThanOneRecordHolds) {
  std::mt19937_64 random(1);
  const auto changes = RandomChanges(random, 150'000, 150'000, 5);
  Write(TestHeader(), {}, changes);
  ASSERT_TRUE(Apply().ok());
  IndexModel model;
  ApplyToModel(model, changes);
  ExpectEqualsModel(*index_, model);
}

TEST_F(RedoTest, OfAnotherSnapshotOrTableIsRefused) {
  RedoHeader header = TestHeader();
  header.parent = SnapshotId(7);
  Write(header, {}, {});
  EXPECT_EQ(Apply().status().code(), absl::StatusCode::kFailedPrecondition);
  header = TestHeader();
  header.table_uuid = "other";
  Write(header, {}, {});
  EXPECT_THAT(std::string(Apply().status().message()), HasSubstr("is of table other"));
  EXPECT_EQ(index_->state().snapshot, SnapshotId(1));
}

TEST_F(RedoTest, WithoutFinishThereIsNoFile) {
  {
    auto writer = *RedoWriter::Create(Path(), TestHeader());
    ASSERT_TRUE(writer->AddFiles({}).ok());
    EXPECT_FALSE(std::filesystem::exists(Path()));
  }
  EXPECT_FALSE(std::filesystem::exists(Path()));
  EXPECT_FALSE(std::filesystem::exists(Path() + ".tmp"));
}

TEST_F(RedoTest, EveryDamagedByteAndEveryLengthIsRecognised) {
  RegistryStep step;
  step.added.push_back({.number = FileNumber(1), .path = "a.parquet", .record_count = 5});
  Write(TestHeader(), step,
        std::vector<IndexChange>{{TestKey(1), At(1, 0)}, {TestKey(2), At(1, 1)}});
  const std::string good = Bytes();
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    SetBytes(bad);
    EXPECT_EQ(Apply().status().code(), absl::StatusCode::kDataLoss) << "byte " << i;
    SetBytes(good.substr(0, i));
    EXPECT_EQ(Apply().status().code(), absl::StatusCode::kDataLoss) << "length " << i;
  }
  EXPECT_EQ(index_->state().snapshot, SnapshotId(1));
  SetBytes(good);
  EXPECT_TRUE(Apply().ok());
}

TEST_F(RedoTest, AFullDiskWhileApplyingIsRepairedByApplyingAgain) {
  std::mt19937_64 random(2);
  const auto changes = RandomChanges(random, 200'000, 1'000'000, 0);
  RegistryStep step;
  step.added.push_back({.number = FileNumber(1), .path = "a.parquet"});
  Write(TestHeader(), step, changes);
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit limit = before;
  limit.rlim_cur = 4 << 20;
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_EQ(Apply().status().code(), absl::StatusCode::kResourceExhausted);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(index_->interrupted_step(), SnapshotId(2));
  ASSERT_TRUE(Apply().ok());
  IndexModel model;
  ApplyToModel(model, changes);
  ExpectEqualsModel(*index_, model);
}

TEST_F(RedoTest, AFullDiskWhileWritingLeavesNoFile) {
  std::mt19937_64 random(3);
  const auto changes = RandomChanges(random, 50'000, 50'000, 0);
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit limit = before;
  limit.rlim_cur = 100'000;
  setrlimit(RLIMIT_FSIZE, &limit);
  {
    auto writer = *RedoWriter::Create(Path(), TestHeader());
    ASSERT_TRUE(writer->AddFiles({}).ok());
    EXPECT_EQ(writer->AddChanges(changes).code(), absl::StatusCode::kResourceExhausted);
  }
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_FALSE(std::filesystem::exists(Path() + ".tmp"));
}

// The worked example of docs/formats/redo.md.
TEST_F(RedoTest, TheWorkedExampleIsWhatTheProgramWrites) {
  RegistryStep step;
  PositionSet deleted;
  deleted.Add(RowPosition(4));
  step.added.push_back({.number = FileNumber(3),
                        .path = "s3://b/x.parquet",
                        .record_count = 18,
                        .sequence_number = SequenceNumber(6),
                        .spec_id = SpecId(0)});
  step.deleted.push_back({.file = FileNumber(3), .positions = deleted});
  Write(TestHeader(), step,
        std::vector<IndexChange>{{{0x1122, 0x3344}, At(3, 17)}, {{0x5566, 0x7788}, kNoRow}});
  EXPECT_EQ(Hex(Bytes()),
            "464a5245444f3031310000007c9c78af01070000006578616d706c6501000000"
            "0000000002000000000000000100000010000000000000000300000000000000"
            "005d000000e1b2d2cd020001030000001000000073333a2f2f622f782e706172"
            "7175657412000000000000000600000000000000000000000000000001080000"
            "003a300000000000000103000000120000003a30000001000000000000001000"
            "00000400000031000000347c0b1f032211000000000000443300000000000011"
            "0000000300000066550000000000008877000000000000000000000000000009"
            "000000de5052f7040200000000000000");
}

}  // namespace
}  // namespace fjord
