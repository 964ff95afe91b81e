#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>

#include "replicate/worker_test_support.h"

namespace fjord {
namespace {

// Changes, parts, faults of the store, answers of the catalog and lost indexes by chance; what a
// reader sees is always the source as of the watermark. FJORD_TEST_SEED repeats a run.
class RandomEpochs : public WorkerTest, public testing::WithParamInterface<uint64_t> {
 protected:
  static uint64_t Seed() {
    static const char* const given = std::getenv("FJORD_TEST_SEED");
    static const uint64_t first =
        given == nullptr ? std::random_device{}() : std::strtoull(given, nullptr, 10);
    return first + GetParam();
  }
  uint64_t Below(uint64_t n) { return random_() % n; }
  bool Chance(uint64_t percent) { return Below(100) < percent; }

  std::optional<std::string> Text(size_t bytes_min) {
    if (Chance(15)) return std::nullopt;
    return std::string(bytes_min + Below(6), static_cast<char>('a' + Below(26)));
  }
  TestRow Row() { return {Text(0), Text(Chance(60) ? TestSource::kLargeBytes : 0)}; }
  // A key that is there, or not.
  std::optional<int32_t> Key(bool there) {
    for (int i = 0; i < 20; ++i) {
      const int32_t id = static_cast<int32_t>(Below(24));
      if (source_.rows().contains(id) == there) return id;
    }
    return std::nullopt;
  }

  void Change() {
    const std::optional<int32_t> old = Key(true);
    const std::optional<int32_t> free = Key(false);
    TestRow row = Row();
    if (old && Chance(60)) row.big = source_.rows().at(*old).big;
    const uint64_t kind = Below(100);
    if (kind < 3) {
      source_.Truncate();
    } else if (kind < 8) {
      source_.InsertRolledBack(static_cast<int32_t>(Below(24)));
    } else if (kind < 30 && free) {
      source_.Insert(*free, std::move(row));
    } else if (kind < 45 && old) {
      source_.Delete(*old);
    } else if (kind < 65 && old && free) {
      source_.Move(*old, *free, std::move(row));
    } else if (old) {
      source_.Update(*old, std::move(row));
    }
  }
  void ChangeTransaction() {
    for (uint64_t i = Below(12); i > 0; --i) {
      Change();
      if (Chance(20)) source_.CutBlock();
    }
    Commit();
    rows_at_[transactions_.back().mark.end_lsn] = source_.rows();
  }

  void PlanTrouble() {
    if (Chance(35)) {
      lake_.store.Plan({.nth = 1 + static_cast<int>(Below(60)),
                        .times = 1 + static_cast<int>(Below(3)),
                        .effect = static_cast<FaultEffect>(Below(3))});
    }
    if (Chance(40)) {
      using enum CommitAnswer;
      constexpr CommitAnswer kAnswers[] = {
          kDone,     kDoneButConflict, kDoneButUnknown, kForeignFirst, kDoneThenForeign,
          kConflict, kUnknown,         kLate,           kUnavailable,  kDenied};
      std::vector<CommitAnswer> answers(1 + Below(4));
      for (CommitAnswer& answer : answers) answer = kAnswers[Below(std::size(kAnswers))];
      lake_.catalog.PlanCommits(std::move(answers));
      lake_.catalog.FailLoads(static_cast<int>(Below(5)), absl::UnavailableError("away"));
    }
  }
  void EndTrouble() {
    lake_.store.ForgetFaults();
    lake_.catalog.PlanCommits({});
    lake_.catalog.FailLoads(0, absl::OkStatus());
    if (Chance(50)) lake_.catalog.LandLateCommits();
  }

  void ReopenByChance() {
    if (Chance(30)) ASSERT_TRUE(worker_->lake()->Close().ok());
    worker_.reset();
    if (Chance(20)) lake_.LoseIndex();
    limits_ = {.part_bytes_max = Chance(50) ? 1 : 1'000'000,
               .epoch_changes_max = 1 + static_cast<int64_t>(Below(20))};
    ASSERT_NO_FATAL_FAILURE(Reopen());
    const Lsn watermark = worker_->lake()->watermark()->lsn;
    ASSERT_TRUE(rows_at_.contains(watermark)) << "a watermark within a transaction";
    ASSERT_EQ(lake_.Read(), AsRead(rows_at_.at(watermark)));
    ASSERT_NO_FATAL_FAILURE(ExpectIndexFits(*worker_->lake(), rows_at_.at(watermark), 24));
  }

  std::mt19937_64 random_{Seed()};
  std::map<Lsn, TestRows> rows_at_;
};

TEST_P(RandomEpochs, LakeIsTheSourceAsOfItsWatermark) {
  SCOPED_TRACE(testing::Message() << "FJORD_TEST_SEED=" << Seed() << " (first parameter)");
  source_.set_identity(Chance(25) ? OldTuple::kFull : OldTuple::kKey);
  Start(SomeRows());
  rows_at_[Lsn(100)] = source_.rows();
  for (int epoch = 0; epoch < 20; ++epoch) {
    SCOPED_TRACE(testing::Message() << "epoch " << epoch);
    for (uint64_t i = 1 + Below(3); i > 0; --i) ChangeTransaction();
    PlanTrouble();
    DeliverAll();
    absl::Status status = RunAll();
    for (int tries = 0; !status.ok(); ++tries) {
      ASSERT_LT(tries, 10) << status;
      ASSERT_TRUE(absl::IsUnavailable(status) || absl::IsAborted(status) ||
                  absl::IsUnknown(status) || absl::IsPermissionDenied(status))
          << status;
      EndTrouble();
      ASSERT_NO_FATAL_FAILURE(ReopenByChance());
      if (Chance(30)) PlanTrouble();
      DeliverAll();
      status = RunAll();
    }
    EndTrouble();
    if (Chance(20)) ASSERT_NO_FATAL_FAILURE(ReopenByChance());
    if (worker_->lake()->watermark()->lsn == rows_at_.rbegin()->first) {
      ASSERT_EQ(lake_.Read(), AsRead(source_.rows()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomEpochs, testing::Range<uint64_t>(0, 25));

}  // namespace
}  // namespace fjord
