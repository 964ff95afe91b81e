#include "replicate/table_worker.h"

#include <gtest/gtest.h>

#include "replicate/worker_test_support.h"

namespace fjord {
namespace {

using absl::StatusCode;

const std::string kLarge = LargeText();
const std::string kOtherLarge(2 * TestSource::kLargeBytes, 'M');

TEST_F(WorkerTest, EpochOfEveryKindOfChange) {
  Start(SomeRows());
  source_.Insert(20, {"new", {}});
  source_.Update(1, {{}, "1"});
  source_.Update(2, {"large left alone", source_.rows().at(2).big});
  source_.Delete(3);
  source_.Move(4, 21, {"moved", source_.rows().at(4).big});
  source_.Delete(5);
  source_.Insert(5, {"again", kLarge});
  source_.Insert(22, {"comes and", "goes"});
  source_.Delete(22);
  ASSERT_TRUE(Publish().ok());
  ExpectPublished();
  EXPECT_EQ(counters_.epochs, 1);
  EXPECT_EQ(counters_.changes, 9);
}

TEST_F(WorkerTest, NothingThatWaitsIsNoEpoch) {
  Start(SomeRows());
  const int commits = lake_.catalog.commits();
  ASSERT_TRUE(worker_->RunEpoch().ok());
  EXPECT_EQ(lake_.catalog.commits(), commits);
}

TEST_F(WorkerTest, EpochWithoutNetEffectMovesTheWatermark) {
  Start(SomeRows());
  source_.Insert(20, {"comes and", "goes"});
  source_.Delete(20);
  ASSERT_TRUE(Publish().ok());
  EXPECT_EQ(worker_->lake()->watermark()->lsn, transactions_.back().mark.end_lsn);
  ExpectPublished();
}

TEST_F(WorkerTest, TruncateLeavesWhatCameAfterIt) {
  for (const EpochLimits& limits : {kOnePart, kManyParts}) {
    limits_ = limits;
    lake_.catalog.DropTable(TestIdent()).IgnoreError();  // because the first time there is none
    transactions_.clear();
    source_ = TestSource(OldTuple::kKey);
    Start(SomeRows());
    source_.Update(1, {"before", {}});
    source_.Insert(20, {"staged before", kLarge});
    source_.CutBlock();
    source_.Truncate();
    source_.Insert(1, {"after", kLarge});
    source_.CutBlock();
    source_.Update(1, {"after, large left alone", kLarge});
    source_.Insert(2, {"two", {}});
    ASSERT_TRUE(Publish().ok());
    ASSERT_NO_FATAL_FAILURE(ExpectPublished());
    source_.Truncate();
    ASSERT_TRUE(Publish().ok());
    ASSERT_NO_FATAL_FAILURE(ExpectPublished());
    EXPECT_TRUE(lake_.Read().empty());
  }
}

TEST_F(WorkerTest, UnchangedLargeValuesComeFromRowsOfEarlierParts) {
  limits_ = kManyParts;
  Start(SomeRows());
  source_.Insert(20, {"a", kLarge});
  source_.CutBlock();
  source_.Move(20, 21, {"b", kLarge});
  source_.CutBlock();
  source_.Update(21, {"c", kLarge});
  source_.Insert(20, {"other", kOtherLarge});
  source_.CutBlock();
  source_.Move(21, 22, {"d", kLarge});
  source_.Move(20, 21, {"e", kOtherLarge});
  ASSERT_TRUE(Publish().ok());
  ExpectPublished();
}

// Three rows change places: each takes its large value from the row that had its key before.
TEST_F(WorkerTest, KeysThatChangePlacesKeepTheirLargeValues) {
  Start({{1, {"a", kLarge + "1"}}, {2, {"b", kLarge + "2"}}, {3, {"c", kLarge + "3"}}});
  source_.Move(1, 99, source_.rows().at(1));
  source_.Move(2, 1, source_.rows().at(2));
  source_.Move(3, 2, source_.rows().at(3));
  source_.Move(99, 3, source_.rows().at(99));
  ASSERT_TRUE(Publish().ok());
  ExpectPublished();
}

// As before, with more rows than one read of large values takes, after a part that left no key.
TEST_F(WorkerTest, ManyKeysThatMoveOnTakeTheirValuesFromTheLakeNotFromThisEpoch) {
  limits_ = kManyParts;
  TestRows base;
  for (int32_t id = 0; id < 700; ++id) base[id] = {StrCat(id), kLarge + StrCat(id)};
  Start(base);
  source_.Insert(1000, {"comes and", "goes"});
  source_.Delete(1000);
  source_.CutBlock();
  for (int32_t id = 699; id >= 0; --id) source_.Move(id, id + 1, source_.rows().at(id));
  source_.Insert(0, {"complete", "row"});
  ASSERT_TRUE(Publish().ok());
  ASSERT_EQ(lake_.Read(), AsRead(source_.rows()));
}

TEST_F(WorkerTest, EpochEndsAtTheFirstTransactionPastItsLimit) {
  limits_.epoch_changes_max = 2;
  Start(SomeRows());
  for (int32_t id = 20; id < 23; ++id) {
    source_.Insert(id, {"a", {}});
    source_.CutBlock();
    source_.Insert(id + 10, {"b", {}});
    Commit();
    source_.CutBlock();
  }
  // Transactions of several blocks are not joined.
  DeliverAll();
  ASSERT_TRUE(worker_->RunEpoch().ok());
  EXPECT_EQ(worker_->lake()->watermark()->lsn, transactions_[0].mark.end_lsn);
  EXPECT_EQ(lake_.Read().size(), 14u);
  ASSERT_TRUE(RunAll().ok());
  ExpectPublished();
}

TEST_F(WorkerTest, RowsThatContradictTheChangesBlockTheTable) {
  Start(SomeRows());
  source_.Fill({});  // the source does not know that the lake has row 1
  source_.Insert(1, {"again", {}});
  const absl::Status inserted = Publish();
  EXPECT_EQ(inserted.code(), StatusCode::kFailedPrecondition) << inserted;
  EXPECT_NE(inserted.message().find("diverged"), absl::string_view::npos) << inserted;
  EXPECT_EQ(lake_.Read(), AsRead(SomeRows()));

  transactions_.clear();
  source_.Fill({{50, {"only here", {}}}});
  source_.Delete(50);
  EXPECT_EQ(Publish().code(), StatusCode::kFailedPrecondition);
  transactions_.clear();
  source_.Fill({{50, {"only here", kLarge}}});
  source_.Update(50, {"with a large value", kLarge});
  EXPECT_EQ(Publish().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(lake_.Read(), AsRead(SomeRows()));
}

TEST_F(WorkerTest, RepairTakesTheSourcesWord) {
  policy_.divergence = DivergenceRule::kRepair;
  Start(SomeRows());
  TestRows expected = SomeRows();
  source_.Fill({{50, {"only here", {}}}, {51, {"only here", {}}}});
  source_.Insert(1, {"inserted again", {}});
  source_.Update(50, {"updated", {}});
  source_.Delete(51);
  ASSERT_TRUE(Publish().ok());
  expected[1] = {"inserted again", {}};
  expected[50] = {"updated", {}};
  EXPECT_EQ(lake_.Read(), AsRead(expected));
  ExpectIndexFits(*worker_->lake(), expected, 300);
  EXPECT_EQ(counters_.repaired, 3);
}

class AppendOnlyTest : public WorkerTest {
 protected:
  static TableShape Shape() {
    TableShape shape = TestShape();
    shape.key.clear();
    shape.columns[0].is_key = false;
    return shape;
  }
  AppendOnlyTest() : WorkerTest(Shape()) {}

  // A row that may be there already.
  void Insert(int32_t id, const TestRow& row) {
    source_.Fill({});
    source_.Insert(id, row);
    expected_.emplace(id, row);
  }
  std::multimap<int32_t, TestRow> expected_;
};

TEST_F(AppendOnlyTest, EqualRowsAreKeptAndTruncateTakesThemAll) {
  limits_ = kManyParts;
  Start({{1, {"one", kLarge}}});
  expected_.emplace(1, TestRow{"one", kLarge});
  for (int i = 0; i < 3; ++i) {
    Insert(1, {"one", kLarge});
    source_.CutBlock();
  }
  ASSERT_TRUE(Publish().ok());
  EXPECT_THAT(lake_.Read(), testing::UnorderedElementsAreArray(expected_));
  EXPECT_EQ(worker_->lake()->rows(), 4);
  Insert(2, {"before", {}});
  source_.CutBlock();
  source_.Truncate();
  expected_.clear();
  Insert(2, {"after", {}});
  ASSERT_TRUE(Publish().ok());
  EXPECT_THAT(lake_.Read(), testing::UnorderedElementsAreArray(expected_));
  EXPECT_EQ(worker_->lake()->rows(), 1);
}

TEST_F(AppendOnlyTest, NoRowComesTwiceOrIsLostWhicheverCallFails) {
  limits_ = kManyParts;
  Start({});
  for (int n = 1; n < 100; ++n) {
    for (int i = 0; i < 3; ++i) {
      Insert(i, {StrCat(n), kLarge});
      source_.CutBlock();
    }
    const int calls = lake_.store.calls();
    lake_.store.Plan({.nth = n});
    const absl::Status status = Publish();
    const bool whole = lake_.store.calls() - calls < n;
    lake_.store.ForgetFaults();
    if (!status.ok()) {
      ASSERT_EQ(status.code(), StatusCode::kUnavailable) << status;
      if (n % 2 == 0) {
        ASSERT_NO_FATAL_FAILURE(Reopen());
      } else {
        routed_.feed.Clear();
      }
      DeliverAll();
      ASSERT_TRUE(RunAll().ok());
    }
    ASSERT_THAT(lake_.Read(), testing::UnorderedElementsAreArray(expected_)) << "call " << n;
    ASSERT_EQ(worker_->lake()->rows(), static_cast<int64_t>(expected_.size()));
    if (whole) return;
  }
  FAIL() << "an epoch without an end of its calls";
}

}  // namespace
}  // namespace fjord
