#include "replicate/table_feed.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "base/digest.h"

namespace fjord {
namespace {

CommitMark At(uint64_t lsn) { return {Lsn(lsn), static_cast<int64_t>(lsn) * 10}; }

class TableFeedTest : public testing::Test {
 protected:
  ~TableFeedTest() override { std::filesystem::remove_all(folder_); }

  static std::string TakeBytes(TableFeed& feed) {
    auto taken = feed.Take();
    if (!taken) return "";
    auto bytes = std::move(taken->block).Take();
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    return *std::move(bytes);
  }

  const std::string folder_ = testing::TempDir() + "/feed-" + RandomUuid();
  const std::unique_ptr<Spool> spool_ = *Spool::Create(folder_, {});
  WindowAccount roomy_{1 << 30};
  WindowAccount full_{0};
};

TEST_F(TableFeedTest, SmallTransactionsAreTakenAsOneBlock) {
  TableFeed feed(&roomy_, spool_.get());
  ASSERT_TRUE(feed.Append("one", 1, At(10)).ok());
  ASSERT_TRUE(feed.Append("two", 2, At(20)).ok());
  const FeedState state = feed.state();
  EXPECT_EQ(state.bytes, 6u);
  EXPECT_EQ(state.changes, 3u);
  EXPECT_EQ(state.first_commit, Lsn(10));
  EXPECT_EQ(state.last_commit, Lsn(20));
  EXPECT_EQ(state.first_commit_time_us, 100);
  EXPECT_EQ(roomy_.used(), 6u);
  EXPECT_EQ(TakeBytes(feed), "onetwo");
  EXPECT_TRUE(feed.empty());
  EXPECT_EQ(feed.state().first_commit, Lsn());
  EXPECT_EQ(roomy_.used(), 0u);
}

TEST_F(TableFeedTest, OnlyTheLastBlockOfATransactionIsABoundary) {
  TableFeed feed(&roomy_, spool_.get());
  std::deque<ChangeBlock> blocks;
  blocks.push_back(ChangeBlock::InMemory("begin"));
  blocks.push_back(ChangeBlock::InMemory("end"));
  feed.Append(std::move(blocks), 7, At(10));
  ASSERT_TRUE(feed.Append("next", 1, At(20)).ok());
  EXPECT_FALSE(feed.Take()->boundary);
  EXPECT_EQ(feed.state().changes, 8u);
  EXPECT_EQ(feed.state().first_commit, Lsn(10));
  EXPECT_TRUE(feed.Take()->boundary);
  EXPECT_EQ(feed.state().bytes, 0u);
  EXPECT_EQ(roomy_.used(), 0u);
}

// Rolled-back subtransactions are named block by block: another transaction's records beside them
// could be taken for theirs.
TEST_F(TableFeedTest, NothingIsJoinedToABlockWithRolledBackSubtransactions) {
  TableFeed feed(&roomy_, spool_.get());
  std::deque<ChangeBlock> blocks;
  blocks.push_back(ChangeBlock::InMemory("streamed"));
  blocks.back().aborted = std::make_shared<AbortedXids>(AbortedXids{5});
  feed.Append(std::move(blocks), 1, At(10));
  ASSERT_TRUE(feed.Append("next", 1, At(20)).ok());
  const auto first = feed.Take();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->block.bytes(), 8u);
  EXPECT_NE(first->block.aborted, nullptr);
  EXPECT_EQ(feed.Take()->block.aborted, nullptr);
}

TEST_F(TableFeedTest, RolledBackSubtransactionsAreKnownOfASpooledBlockToo) {
  TableFeed feed(&full_, spool_.get());
  std::deque<ChangeBlock> blocks;
  blocks.push_back(ChangeBlock::InMemory("streamed"));
  blocks.back().aborted = std::make_shared<AbortedXids>(AbortedXids{5});
  feed.Append(std::move(blocks), 1, At(10));
  ASSERT_TRUE(feed.Append("next", 1, At(20)).ok());
  const auto first = feed.Take();
  EXPECT_FALSE(first->block.in_memory());
  ASSERT_NE(first->block.aborted, nullptr);
  EXPECT_TRUE(first->block.aborted->contains(5));
}

TEST_F(TableFeedTest, TransactionThatCannotBeTakenChangesNothing) {
  TableFeed feed(&full_, spool_.get());
  const std::string large(300 << 10, 'x');
  ASSERT_TRUE(feed.Append(large, 1, At(10)).ok());
  std::filesystem::remove_all(folder_);  // no segment can be made
  EXPECT_EQ(feed.Append(large, 1, At(20)).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(feed.state().bytes, large.size());
  EXPECT_EQ(feed.state().changes, 1u);
  EXPECT_EQ(full_.used(), large.size());
  EXPECT_EQ(TakeBytes(feed), large);
  EXPECT_EQ(full_.used(), 0u);
}

TEST_F(TableFeedTest, ClearGivesMemoryAndSpoolBack) {
  {
    TableFeed feed(&full_, spool_.get());
    const std::string large(300 << 10, 'x');
    for (uint64_t lsn = 1; lsn <= 4; ++lsn) ASSERT_TRUE(feed.Append(large, 1, At(lsn)).ok());
    EXPECT_EQ(full_.used(), large.size());
    EXPECT_GT(spool_->bytes_on_disk(), 3 * large.size());
    feed.Clear();
    EXPECT_TRUE(feed.empty());
  }
  EXPECT_EQ(full_.used(), 0u);
}

// Whatever lies where, what goes in comes out, in its order, and the accounts are even.
TEST_F(TableFeedTest, RandomTransactionsComeOutAsTheyWentIn) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  WindowAccount account(1 << 20);
  TableFeed feed(&account, spool_.get());
  std::string waiting;
  uint64_t changes = 0;
  for (uint64_t step = 1; step < 600; ++step) {
    const auto text = [&] {
      return std::string(random() % (random() % 10 == 0 ? 200'000 : 200),
                         static_cast<char>('a' + random() % 26));
    };
    if (random() % 3 == 0) {
      auto taken = feed.Take();
      ASSERT_EQ(taken.has_value(), !waiting.empty() || changes > 0);
      if (!taken) continue;
      const uint64_t left = feed.state().changes;
      const auto bytes = std::move(taken->block).Take();
      ASSERT_TRUE(bytes.ok()) << bytes.status();
      ASSERT_TRUE(waiting.starts_with(*bytes));
      waiting.erase(0, bytes->size());
      ASSERT_LE(left, changes);
      changes = left;
    } else if (random() % 4 == 0) {
      std::deque<ChangeBlock> blocks;
      for (uint64_t i = 0; i < 1 + random() % 3; ++i) {
        const std::string records = text() + "|";
        waiting += records;
        if (random() % 2 == 0) {
          blocks.push_back(ChangeBlock::InMemory(records));
        } else {
          blocks.push_back(ChangeBlock::InSpool(spool_.get(), *spool_->Append(records)));
        }
      }
      feed.Append(std::move(blocks), 3, At(step));
      changes += 3;
    } else {
      const std::string records = text() + "|";
      waiting += records;
      ASSERT_TRUE(feed.Append(records, 2, At(step)).ok());
      changes += 2;
    }
    ASSERT_EQ(feed.state().bytes, waiting.size());
    ASSERT_EQ(feed.state().changes, changes);
  }
  while (!feed.empty()) {
    const std::string bytes = TakeBytes(feed);
    ASSERT_TRUE(waiting.starts_with(bytes));
    waiting.erase(0, bytes.size());
  }
  EXPECT_TRUE(waiting.empty());
  EXPECT_EQ(account.used(), 0u);
}

}  // namespace
}  // namespace fjord
