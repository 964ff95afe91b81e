#include "replicate/router.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/coding.h"
#include "base/digest.h"

namespace fjord {
namespace {

constexpr uint32_t kOid = 4711;

// A router over one table (id int PRIMARY KEY), and the messages that a server would send.
class RouterTest : public testing::Test {
 protected:
  RouterTest()
      : folder_(testing::TempDir() + "/router-" + RandomUuid()),
        spool_(*Spool::Create(folder_, {})) {
    shape_.name = "public.t";
    shape_.columns = {{.attnum = 1, .name = "id", .type = Oid(23), .is_key = true}};
    shape_.key = {0};
    table_ = std::make_unique<RoutedTable>(&account_, spool_.get());
    table_->oid = Oid(kOid);
    table_->shape = &shape_;
    router_.AddTable(table_.get());
  }
  ~RouterTest() override { std::filesystem::remove_all(folder_); }

  void Send(const std::string& message) {
    const absl::Status status = router_.OnMessage(message);
    ASSERT_TRUE(status.ok()) << status;
  }
  static std::string Big(uint32_t v) {
    std::string out;
    PutBig32(out, v);
    return out;
  }
  static std::string Big8(uint64_t v) {
    std::string out;
    PutBig64(out, v);
    return out;
  }
  static std::string Row() { return std::string("N\0\1t", 4) + Big(1) + "7"; }
  void Transaction(uint64_t end_lsn) {
    Send("B" + Big8(end_lsn - 1) + Big8(0) + Big(9));
    Send("I" + Big(kOid) + Row());
    Send(std::string("C\0", 2) + Big8(end_lsn - 1) + Big8(end_lsn) + Big8(0));
  }
  void StreamedChange(uint32_t xid, uint32_t sub_xid) {
    Send("S" + Big(xid) + std::string(1, '\1'));
    Send("I" + Big(sub_xid) + Big(kOid) + Row());
    Send("E");
  }
  void StreamCommit(uint32_t xid, uint64_t end_lsn) {
    Send("c" + Big(xid) + std::string(1, '\0') + Big8(end_lsn - 1) + Big8(end_lsn) + Big8(0));
  }

  const std::string folder_;
  WindowAccount account_{1 << 20};
  std::unique_ptr<Spool> spool_;
  TableShape shape_;
  std::unique_ptr<RoutedTable> table_;
  Router router_{&account_, spool_.get()};
};

TEST_F(RouterTest, CommittedTransactionWaitsInItsTablesFeed) {
  Transaction(100);
  EXPECT_EQ(table_->feed.state().changes, 1u);
  EXPECT_EQ(table_->feed.state().last_commit, Lsn(100));
  EXPECT_TRUE(table_->pending());
  EXPECT_EQ(router_.received(), Lsn(100));
}

TEST_F(RouterTest, TransactionAtOrBelowTheWatermarkIsSkipped) {
  table_->skip_until = Lsn(100);
  Transaction(100);
  EXPECT_TRUE(table_->feed.empty());
  EXPECT_FALSE(table_->pending());
}

TEST_F(RouterTest, TransactionThatIsSentAgainIsTakenOnce) {
  Transaction(100);
  router_.OnDisconnect();
  Transaction(100);
  EXPECT_EQ(table_->feed.state().changes, 1u);
}

TEST_F(RouterTest, PositionIsNotReceivedWhileAStreamedTransactionIsOpen) {
  StreamedChange(9, 9);
  router_.OnKeepalive(Lsn(500));
  EXPECT_EQ(router_.received(), Lsn(0));
  EXPECT_TRUE(table_->feed.empty());
  StreamCommit(9, 600);
  EXPECT_EQ(router_.received(), Lsn(600));
  EXPECT_EQ(table_->feed.state().changes, 1u);
}

TEST_F(RouterTest, RolledBackTransactionLeavesNothing) {
  StreamedChange(9, 9);
  Send("A" + Big(9) + Big(9));
  EXPECT_EQ(router_.open_transactions(), 0u);
  EXPECT_TRUE(table_->feed.empty());
  EXPECT_FALSE(table_->pending());
}

TEST_F(RouterTest, AbortOfAnUnknownTransactionIsIgnored) { Send("A" + Big(1) + Big(1)); }

TEST_F(RouterTest, OpenTransactionsDieWithTheConnection) {
  StreamedChange(9, 9);
  router_.OnDisconnect();
  EXPECT_EQ(router_.open_transactions(), 0u);
  EXPECT_EQ(account_.used(), 0u);
}

// What a table that is set aside does not take has to keep the slot in place after it has joined
// again: otherwise the position would be confirmed before the changes have come a second time.
TEST_F(RouterTest, DroppedChangesKeepTheTablePendingAfterItJoinsAgain) {
  table_->watermark_lsn = 50;
  table_->blocked = true;
  Transaction(100);
  EXPECT_TRUE(table_->feed.empty());
  table_->blocked = false;
  EXPECT_TRUE(table_->pending());
}

TEST_F(RouterTest, DroppedStreamedChangesKeepTheTablePendingToo) {
  table_->watermark_lsn = 50;
  table_->blocked = true;
  StreamedChange(9, 9);
  StreamCommit(9, 100);
  table_->blocked = false;
  EXPECT_TRUE(table_->pending());
}

// The spool may fail for a passing reason, and the stream is taken up again from the position that
// is held for the table.
TEST_F(RouterTest, TransactionThatTheFeedCouldNotTakeIsTakenWhenItIsSentAgain) {
  WindowAccount full(0);
  RoutedTable table(&full, spool_.get());
  table.oid = Oid(kOid);
  table.shape = &shape_;
  Router router(&full, spool_.get());
  router.AddTable(&table);
  const std::string large(200 << 10, 'x');
  const auto send = [&](uint64_t end_lsn) {
    absl::Status status = router.OnMessage("B" + Big8(end_lsn - 1) + Big8(0) + Big(9));
    const std::string row = std::string("N\0\1t", 4) + Big(200 << 10) + large;
    if (status.ok()) status = router.OnMessage("I" + Big(kOid) + row);
    if (!status.ok()) return status;
    return router.OnMessage(std::string("C\0", 2) + Big8(end_lsn - 1) + Big8(end_lsn) + Big8(0));
  };
  ASSERT_TRUE(send(100).ok());
  std::filesystem::remove_all(folder_);  // no segment can be made
  ASSERT_EQ(send(200).code(), absl::StatusCode::kUnavailable);
  router.OnDisconnect();
  EXPECT_EQ(router.received(), Lsn(100));
  std::filesystem::create_directories(folder_);
  ASSERT_TRUE(send(200).ok());
  EXPECT_EQ(table.feed.state().changes, 2u);
  EXPECT_EQ(table.feed.state().last_commit, Lsn(200));
  table.feed.Clear();
  EXPECT_EQ(full.used(), 0u);
}

TEST_F(RouterTest, OtherColumnsBlockTheTableInItsPlaceOfTheStream) {
  Send("B" + Big8(99) + Big8(0) + Big(9));
  Send("R" + Big(kOid) + std::string("public\0t\0d\0\1\1other\0", 19) + Big(23) + Big(0xffffffff));
  Send(std::string("C\0", 2) + Big8(99) + Big8(100) + Big8(0));
  auto taken = table_->feed.Take();
  ASSERT_TRUE(taken.has_value());
  const std::string bytes = *std::move(taken->block).Take();
  ChangeReader reader(bytes);
  const auto record = *reader.Next();
  EXPECT_EQ(record->kind, ChangeKind::kBlock);
  EXPECT_NE(record->payload.find("other"), std::string_view::npos) << record->payload;
}

}  // namespace
}  // namespace fjord
