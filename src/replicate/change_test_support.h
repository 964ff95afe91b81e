// For tests of replicate: a table of PostgreSQL that keeps its rows and writes the changes that the
// server would send.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "base/strings.h"
#include "lake/lake_test_support.h"
#include "postgres/tuple.h"
#include "replicate/collapse.h"
#include "replicate/table_feed.h"

namespace fjord {

// A tuple of pgoutput.
inline std::string TupleOf(const std::vector<TextCell>& cells) {
  std::string out;
  out.push_back(static_cast<char>(cells.size() >> 8));
  out.push_back(static_cast<char>(cells.size()));
  for (const TextCell& cell : cells) {
    if (cell.kind == TextCell::Kind::kNull) {
      out.push_back('n');
    } else if (cell.kind == TextCell::Kind::kUnchanged) {
      out.push_back('u');
    } else {
      out.push_back('t');
      PutBig32(out, static_cast<uint32_t>(cell.text.size()));
      out.append(cell.text);
    }
  }
  return out;
}

// public.orders of lake_test_support.h. The seed is the lake table's.
inline TableShape TestShape() {
  TableShape shape{.name = "public.orders"};
  shape.columns = {{.attnum = 1,
                    .name = "id",
                    .type = Oid(23),
                    .lake = {TypeKind::kInt},
                    .decode = DecodeKind::kInt32,
                    .required = true,
                    .is_key = true},
                   {.attnum = 2, .name = "v", .type = Oid(25), .lake = {TypeKind::kString}},
                   {.attnum = 3, .name = "big", .type = Oid(25), .lake = {TypeKind::kString}}};
  shape.key = {0};
  return shape;
}

// One committed transaction, in blocks as the router makes them.
struct TestTransaction {
  std::vector<std::string> blocks;
  uint64_t changes = 0;
  CommitMark mark;
  std::shared_ptr<const AbortedXids> aborted;
};

inline void Deliver(const TestTransaction& transaction, TableFeed& feed) {
  if (transaction.blocks.size() == 1 && transaction.aborted == nullptr) {
    EXPECT_TRUE(feed.Append(transaction.blocks[0], transaction.changes, transaction.mark).ok());
    return;
  }
  std::deque<ChangeBlock> blocks;
  for (const std::string& records : transaction.blocks) {
    blocks.push_back(ChangeBlock::InMemory(records));
    blocks.back().aborted = transaction.aborted;
  }
  feed.Append(std::move(blocks), transaction.changes, transaction.mark);
}

class TestSource {
 public:
  // Values of `big` that an update leaves alone are not sent from this length on.
  static constexpr size_t kLargeBytes = 16;

  explicit TestSource(OldTuple identity) : identity_(identity) {}

  // REPLICA IDENTITY FULL sends old rows whole, DEFAULT their keys.
  void set_identity(OldTuple identity) { identity_ = identity; }
  const TestRows& rows() const { return rows_; }
  // Rows that a first copy takes.
  void Fill(TestRows rows) { rows_ = std::move(rows); }

  void Insert(int32_t id, TestRow row) {
    const std::string text = StrCat(id);
    Write(ChangeKind::kInsert, "N" + TupleOf(Cells(text, row)));
    ASSERT_TRUE(rows_.emplace(id, std::move(row)).second) << "duplicate key " << id;
  }
  void Update(int32_t id, TestRow row) { Move(id, id, std::move(row)); }
  // UPDATE … SET id = `to`.
  void Move(int32_t id, int32_t to, TestRow row) {
    const TestRow old = rows_.at(id);
    rows_.erase(id);
    const std::string new_id = StrCat(to);
    std::vector<TextCell> cells = Cells(new_id, row);
    if (row.big && row.big->size() >= kLargeBytes && row.big == old.big)
      cells[2] = TextCell::Unchanged();
    const bool with_old = identity_ == OldTuple::kFull || id != to;
    Write(ChangeKind::kUpdate, (with_old ? OldOf(id, old) : "") + "N" + TupleOf(cells));
    ASSERT_TRUE(rows_.emplace(to, std::move(row)).second) << "duplicate key " << to;
  }
  void Delete(int32_t id) {
    Write(ChangeKind::kDelete, OldOf(id, rows_.at(id)));
    rows_.erase(id);
  }
  void Truncate() {
    ++changes_;
    AppendChange(blocks_.back(), ChangeKind::kTruncate, Xid(0), "");
    rows_.clear();
  }
  // An insert of a subtransaction that was rolled back.
  void InsertRolledBack(int32_t id) {
    constexpr uint32_t kSubXid = 77;
    aborted_ = std::make_shared<const AbortedXids>(AbortedXids{kSubXid});
    const std::string text = StrCat(id);
    std::string payload(1, 'I');
    PutBig32(payload, 16384);
    AppendChange(blocks_.back(), ChangeKind::kInsert, Xid(kSubXid),
                 payload + "N" + TupleOf({TextCell::Of(text), TextCell::Null(), TextCell::Null()}));
    ++changes_;
  }
  // What follows is in another block.
  void CutBlock() {
    if (!blocks_.back().empty()) blocks_.emplace_back();
  }
  TestTransaction Commit() {
    lsn_ += 10;
    AppendCommit(blocks_.back(), Lsn(lsn_), 0);
    return {.blocks = std::exchange(blocks_, {""}),
            .changes = std::exchange(changes_, 0),
            .mark = {Lsn(lsn_), 0},
            .aborted = std::exchange(aborted_, nullptr)};
  }

 private:
  // The texts must outlive the cells.
  static std::vector<TextCell> Cells(const std::string& id, const TestRow& row) {
    return {TextCell::Of(id), row.v ? TextCell::Of(*row.v) : TextCell::Null(),
            row.big ? TextCell::Of(*row.big) : TextCell::Null()};
  }
  std::string OldOf(int32_t id, const TestRow& row) const {
    const std::string text = StrCat(id);
    if (identity_ == OldTuple::kFull) return "O" + TupleOf(Cells(text, row));
    return "K" + TupleOf({TextCell::Of(text), TextCell::Null(), TextCell::Null()});
  }
  void Write(ChangeKind kind, const std::string& tuples) {
    std::string payload(1, static_cast<char>(kind));
    PutBig32(payload, 16384);
    AppendChange(blocks_.back(), kind, Xid(0), payload + tuples);
    ++changes_;
  }

  OldTuple identity_;
  TestRows rows_;
  uint64_t lsn_ = 100;
  std::vector<std::string> blocks_ = {""};
  uint64_t changes_ = 0;
  std::shared_ptr<const AbortedXids> aborted_;
};

}  // namespace fjord
