// Epochs whose n-th call of the store fails, for each n.
#include <gtest/gtest.h>

#include "replicate/worker_test_support.h"

namespace fjord {
namespace {

using absl::StatusCode;

const std::string kLarge = LargeText();
const std::string kOtherLarge(2 * TestSource::kLargeBytes, 'M');

// How the table is taken up again after an error.
enum class Recovery { kSameTable, kOpenedAgain };

struct FaultCase {
  std::string name;
  FaultEffect effect = FaultEffect::kFail;
  EpochLimits limits;
  Recovery recovery = Recovery::kSameTable;
};
void PrintTo(const FaultCase& item, std::ostream* out) { *out << item.name; }

class FaultyStore : public WorkerTest, public testing::WithParamInterface<FaultCase> {
 protected:
  // Every kind of change, over ids that are the same each time; `round` makes the values differ.
  void ChangeAll(int round) {
    const std::string text = StrCat("round ", round);
    const auto big = [&](int32_t id) { return source_.rows().at(id).big; };
    source_.Insert(200, {text, kLarge + text});
    source_.Update(0, {text, big(0)});
    source_.Update(1, {text, kOtherLarge});
    source_.Delete(3);
    source_.CutBlock();
    source_.Insert(3, {text, {}});
    source_.Move(2, 201, {text, big(2)});
    Commit();
    source_.Update(200, {text, big(200)});
    source_.Move(201, 2, {text, big(201)});
    source_.CutBlock();
    if (round % 2 == 1) {
      source_.Truncate();
      for (const auto& [id, row] : SomeRows()) source_.Insert(id, row);
      source_.CutBlock();
      source_.Update(0, {text, big(0)});
    } else {
      source_.Move(0, 202, {text, big(0)});
      source_.Insert(0, {text, kLarge + text});
      source_.Delete(202);
      source_.Delete(200);
    }
    Commit();
  }

  void Recover() {
    if (GetParam().recovery == Recovery::kOpenedAgain) {
      Reopen();
    } else {
      routed_.feed.Clear();
    }
  }
};

// The n-th call fails, for each n until an epoch has no n-th call.
TEST_P(FaultyStore, EpochIsDoneAgainWithTheSameResultWhicheverCallFails) {
  limits_ = GetParam().limits;
  Start(SomeRows());
  bool whole[2] = {};
  for (int n = 1, round = 0; n < 1000; ++round) {
    SCOPED_TRACE(testing::Message() << "call " << n << " of round " << round);
    const auto before = lake_.Read();
    ChangeAll(round);
    const int calls = lake_.store.calls();
    lake_.store.Plan({.nth = n, .effect = GetParam().effect});
    DeliverAll();
    const absl::Status status = RunAll();
    const int made = lake_.store.calls() - calls;
    lake_.store.ForgetFaults();
    if (!status.ok()) {
      ASSERT_EQ(status.code(), StatusCode::kUnavailable) << status;
      ASSERT_EQ(lake_.Read(), before);
      ASSERT_NO_FATAL_FAILURE(Recover());
      DeliverAll();
      const absl::Status again = RunAll();
      ASSERT_TRUE(again.ok()) << again;
    }
    ASSERT_NO_FATAL_FAILURE(ExpectPublished());
    // Epochs with and without TRUNCATE have different numbers of calls.
    whole[round % 2] |= made < n;
    if (whole[0] && whole[1]) {
      EXPECT_GT(n, 15);
      return;
    }
    if (round % 2 == 1) ++n;
  }
  FAIL() << "an epoch without an end of its calls";
}

INSTANTIATE_TEST_SUITE_P(
    Each, FaultyStore,
    testing::Values(FaultCase{"OnePartFails", FaultEffect::kFail, kOnePart, Recovery::kSameTable},
                    FaultCase{"OnePartLosesAnswers", FaultEffect::kLoseAnswer, kOnePart,
                              Recovery::kOpenedAgain},
                    FaultCase{"PartsFail", FaultEffect::kFail, kManyParts, Recovery::kOpenedAgain},
                    FaultCase{"PartsAreTorn", FaultEffect::kTear, kManyParts,
                              Recovery::kSameTable}),
    [](const testing::TestParamInfo<FaultCase>& info) { return info.param.name; });

}  // namespace
}  // namespace fjord
