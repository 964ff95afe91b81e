#include "lake/retention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace fjord {
namespace {

std::vector<RetainedSnapshot> OneASecond(int count) {
  std::vector<RetainedSnapshot> lineage;
  for (int i = 0; i < count; ++i) lineage.push_back({SnapshotId(count - i), (count - i) * 1000});
  return lineage;
}

TEST(Retention, OldOnesGoButTheNewestStay) {
  const std::vector<SnapshotId> dropped = SnapshotsToDrop(
      OneASecond(100), {.keep = absl::Seconds(10), .at_least = 20, .at_most = 200}, 100'000);
  EXPECT_EQ(dropped.size(), 80u);
  for (const SnapshotId id : dropped) EXPECT_LE(id.value, 80);
}

TEST(Retention, BeyondTheMostTheyAreThinnedAndTheHeadStays) {
  const std::vector<SnapshotId> dropped = SnapshotsToDrop(
      OneASecond(100), {.keep = absl::Hours(1), .at_least = 5, .at_most = 30}, 100'000);
  EXPECT_EQ(dropped.size(), 70u);
  for (const SnapshotId id : dropped) EXPECT_LE(id.value, 95);
}

std::vector<int64_t> Ids(const std::vector<SnapshotId>& ids) {
  std::vector<int64_t> values;
  for (const SnapshotId id : ids) values.push_back(id.value);
  std::sort(values.begin(), values.end());
  return values;
}

TEST(Retention, HeadStaysWhateverThePolicySays) {
  const RetentionPolicy nothing{.keep = absl::ZeroDuration(), .at_least = 0, .at_most = 0};
  EXPECT_EQ(Ids(SnapshotsToDrop(OneASecond(3), nothing, 1'000'000)), (std::vector<int64_t>{1, 2}));
  EXPECT_TRUE(SnapshotsToDrop(OneASecond(1), nothing, 1'000'000).empty());
  EXPECT_TRUE(SnapshotsToDrop({}, nothing, 0).empty());
}

TEST(Retention, AtLeastWinsOverAtMost) {
  const RetentionPolicy policy{.keep = absl::Seconds(1), .at_least = 5, .at_most = 2};
  EXPECT_EQ(Ids(SnapshotsToDrop(OneASecond(7), policy, 1'000'000)), (std::vector<int64_t>{1, 2}));
}

TEST(Retention, SnapshotOfExactlyTheAgeStays) {
  const RetentionPolicy policy{.keep = absl::Seconds(2), .at_least = 1, .at_most = 100};
  EXPECT_EQ(Ids(SnapshotsToDrop(OneASecond(5), policy, 5'000)), (std::vector<int64_t>{1, 2}));
}

// Clocks of several machines: times go back, and are equal.
TEST(Retention, RandomLineagesKeepWhatThePolicyPromises) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2000; ++round) {
    std::vector<RetainedSnapshot> lineage(1 + random() % 40);
    for (size_t i = 0; i < lineage.size(); ++i)
      lineage[i] = {SnapshotId(static_cast<int64_t>(i)), static_cast<int64_t>(random() % 50)};
    const RetentionPolicy policy{.keep = absl::Milliseconds(random() % 60),
                                 .at_least = static_cast<int64_t>(random() % 10),
                                 .at_most = static_cast<int64_t>(random() % 30)};
    const std::vector<int64_t> dropped = Ids(SnapshotsToDrop(lineage, policy, 50));
    const std::set<int64_t> gone(dropped.begin(), dropped.end());
    ASSERT_EQ(gone.size(), dropped.size()) << "named twice";
    const size_t least = static_cast<size_t>(std::max<int64_t>(1, policy.at_least));
    const size_t most = std::max(least, static_cast<size_t>(std::max<int64_t>(1, policy.at_most)));
    size_t young = 0;
    for (size_t i = 0; i < lineage.size(); ++i) {
      const bool old = lineage[i].timestamp_ms < 50 - absl::ToInt64Milliseconds(policy.keep);
      if (i < least) ASSERT_FALSE(gone.contains(static_cast<int64_t>(i))) << i;
      if (i >= least && old) ASSERT_TRUE(gone.contains(static_cast<int64_t>(i))) << i;
      if (i < least || !old) ++young;
    }
    // No more goes than has to.
    ASSERT_EQ(lineage.size() - gone.size(), std::min(young, most));
  }
}

// A commit a second for a long time: what is left reaches back over the whole time, without large
// holes.
TEST(Retention, ThinnedSnapshotsAreSpreadOverTheTimeThatIsKept) {
  const RetentionPolicy policy{.keep = absl::Seconds(1000), .at_least = 10, .at_most = 60};
  std::vector<RetainedSnapshot> lineage;
  for (int64_t second = 1; second <= 3000; ++second) {
    lineage.insert(lineage.begin(), {SnapshotId(second), second * 1000});
    const std::vector<SnapshotId> dropped = SnapshotsToDrop(lineage, policy, second * 1000);
    std::erase_if(lineage, [&](const RetainedSnapshot& snapshot) {
      return std::find(dropped.begin(), dropped.end(), snapshot.id) != dropped.end();
    });
  }
  ASSERT_EQ(lineage.size(), 60u);
  int64_t widest_ms = lineage.back().timestamp_ms - 2'000'000;
  for (size_t i = 1; i < lineage.size(); ++i)
    widest_ms = std::max(widest_ms, lineage[i - 1].timestamp_ms - lineage[i].timestamp_ms);
  EXPECT_LE(widest_ms, 3 * 1'000'000 / 50);
}

}  // namespace
}  // namespace fjord
