// The committed changes of one table that wait for an epoch, and the window's memory account.
//
// The stream's thread appends, the table's worker takes; both under the feed's mutex, held for a
// copy at most.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "absl/status/status.h"
#include "base/ids.h"
#include "replicate/change_block.h"

namespace fjord {

// Bytes of change records held in memory by all feeds and open transactions of a replication.
// Past the limit whole blocks go to the spool.
class WindowAccount {
 public:
  explicit WindowAccount(uint64_t bytes_max) : bytes_max_(bytes_max) {}
  void Add(uint64_t bytes) { used_ += bytes; }
  void Remove(uint64_t bytes) { used_ -= bytes; }
  bool full() const { return used_ > bytes_max_; }
  uint64_t used() const { return used_; }

 private:
  const uint64_t bytes_max_;
  std::atomic<uint64_t> used_{0};
};

struct FeedState {
  uint64_t bytes = 0;
  uint64_t changes = 0;
  Lsn first_commit;  // 0 when nothing waits
  Lsn last_commit;
  int64_t first_commit_time_us = 0;
};

class TableFeed {
 public:
  // Both must outlive the feed.
  TableFeed(WindowAccount* account, Spool* spool) : account_(account), spool_(spool) {}
  ~TableFeed();

  // One committed transaction's records of this table, the commit record included. Small ones are
  // joined to the last block, so that a feed of tiny transactions is a few large blocks. After an
  // error of the spool nothing has changed.
  absl::Status Append(std::string records, uint64_t changes, CommitMark mark);
  void Append(std::deque<ChangeBlock> blocks, uint64_t changes, CommitMark mark);

  // The next block, or nothing. A transaction may go over several blocks; `boundary` says whether
  // the block ends one.
  struct Taken {
    ChangeBlock block;
    bool boundary = true;
  };
  std::optional<Taken> Take();
  // True when the feed is at a transaction boundary and nothing waits.
  bool empty() const;

  // What waits, as of now. After Take of everything that waits, all zero.
  FeedState state() const;
  // Drops everything (the table is blocked).
  void Clear();

 private:
  struct Entry {
    ChangeBlock block;
    bool boundary;
    uint64_t changes;
    CommitMark first;
    CommitMark last;
  };
  absl::Status SpoolLast();

  WindowAccount* const account_;
  Spool* const spool_;
  mutable std::mutex mutex_;
  std::deque<Entry> entries_;
  uint64_t bytes_ = 0;
  uint64_t changes_ = 0;
};

}  // namespace fjord
