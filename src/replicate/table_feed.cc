#include "replicate/table_feed.h"

#include <utility>

#include "base/status.h"

namespace fjord {
namespace {
// Blocks of joined small transactions stop growing here: the unit of spooling, and what an epoch
// holds while it reads.
constexpr size_t kBlockBytes = 256 << 10;
}  // namespace

TableFeed::~TableFeed() { Clear(); }

absl::Status TableFeed::SpoolLast() {
  Entry& last = entries_.back();
  if (!last.block.in_memory()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const SpoolRef ref, spool_->Append(*last.block.mutable_memory()));
  account_->Remove(last.block.bytes());
  ChangeBlock spooled = ChangeBlock::InSpool(spool_, ref);
  spooled.aborted = last.block.aborted;
  last.block = std::move(spooled);
  return absl::OkStatus();
}

absl::Status TableFeed::Append(std::string records, uint64_t changes, CommitMark mark) {
  std::lock_guard lock(mutex_);
  const uint64_t size = records.size();
  account_->Add(size);
  const bool joins = !entries_.empty() && entries_.back().boundary &&
                     entries_.back().block.in_memory() &&
                     entries_.back().block.bytes() + size <= kBlockBytes &&
                     entries_.back().block.aborted == nullptr;
  if (!joins && account_->full() && !entries_.empty()) {
    const absl::Status spooled = SpoolLast();
    if (!spooled.ok()) account_->Remove(size);
    RETURN_IF_ERROR(spooled);
  }
  bytes_ += size;
  changes_ += changes;
  if (joins) {
    Entry& last = entries_.back();
    last.block.mutable_memory()->append(records);
    last.changes += changes;
    last.last = mark;
    return absl::OkStatus();
  }
  entries_.push_back({ChangeBlock::InMemory(std::move(records)), true, changes, mark, mark});
  return absl::OkStatus();
}

void TableFeed::Append(std::deque<ChangeBlock> blocks, uint64_t changes, CommitMark mark) {
  std::lock_guard lock(mutex_);
  changes_ += changes;
  while (!blocks.empty()) {
    ChangeBlock block = std::move(blocks.front());
    blocks.pop_front();
    bytes_ += block.bytes();
    if (block.in_memory()) account_->Add(block.bytes());
    const bool last = blocks.empty();
    entries_.push_back({std::move(block), last, last ? changes : 0, mark, mark});
  }
}

std::optional<TableFeed::Taken> TableFeed::Take() {
  std::lock_guard lock(mutex_);
  if (entries_.empty()) return std::nullopt;
  Entry entry = std::move(entries_.front());
  entries_.pop_front();
  bytes_ -= entry.block.bytes();
  changes_ -= entry.changes;
  if (entry.block.in_memory()) account_->Remove(entry.block.bytes());
  return Taken{std::move(entry.block), entry.boundary};
}

bool TableFeed::empty() const {
  std::lock_guard lock(mutex_);
  return entries_.empty();
}

FeedState TableFeed::state() const {
  std::lock_guard lock(mutex_);
  FeedState state{.bytes = bytes_, .changes = changes_};
  if (!entries_.empty()) {
    state.first_commit = entries_.front().first.end_lsn;
    state.first_commit_time_us = entries_.front().first.commit_time_us;
    state.last_commit = entries_.back().last.end_lsn;
  }
  return state;
}

void TableFeed::Clear() {
  while (Take()) {
  }
}

}  // namespace fjord
