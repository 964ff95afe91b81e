// Change records of one table between the stream and its epoch, in memory or in the spool.
//
// A record is u32 length | u8 kind | u32 sub-xid | payload. The payload of a change is the rest of
// the pgoutput message behind the relation oid, byte for byte: the stream's thread only copies, and
// the table's own worker decodes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "journal/spool.h"

namespace fjord {

enum class ChangeKind : uint8_t {
  kInsert = 'I',
  kUpdate = 'U',
  kDelete = 'D',
  kTruncate = 'T',
  kBlock = 'B',   // the table cannot go on from here; the payload says why
  kCommit = 'C',  // payload: u64 end LSN of the commit, u64 commit time in Unix microseconds
};

struct ChangeRecord {
  ChangeKind kind;
  Xid sub_xid;  // 0 outside streamed transactions
  std::string_view payload;
};

void AppendChange(std::string& out, ChangeKind kind, Xid sub_xid, std::string_view payload);
void AppendCommit(std::string& out, Lsn end_lsn, int64_t commit_time_us);

struct CommitMark {
  Lsn end_lsn;
  int64_t commit_time_us = 0;
};
absl::StatusOr<CommitMark> ParseCommitMark(std::string_view payload);

// Walks the records of a block; kDataLoss when the bytes are not records.
class ChangeReader {
 public:
  explicit ChangeReader(std::string_view bytes) : bytes_(bytes) {}
  // The next record, or nothing at the end.
  absl::StatusOr<std::optional<ChangeRecord>> Next();

 private:
  std::string_view bytes_;
};

using AbortedXids = absl::flat_hash_set<uint32_t>;

// Some records, wherever they lie. Movable. Releases its spool bytes when it goes.
class ChangeBlock {
 public:
  static ChangeBlock InMemory(std::string bytes);
  static ChangeBlock InSpool(Spool* spool, SpoolRef ref);
  ChangeBlock(ChangeBlock&& other) noexcept;
  ChangeBlock& operator=(ChangeBlock&& other) noexcept;
  ~ChangeBlock();

  bool in_memory() const { return spool_ == nullptr; }
  uint64_t bytes() const { return spool_ == nullptr ? bytes_.size() : ref_.length; }
  std::string* mutable_memory() { return spool_ == nullptr ? &bytes_ : nullptr; }
  absl::StatusOr<std::string> Take() &&;

  // Sub-transactions of the block's streamed transaction that were rolled back;
  // null when there are none.
  std::shared_ptr<const AbortedXids> aborted;

 private:
  ChangeBlock() = default;
  std::string bytes_;
  Spool* spool_ = nullptr;
  SpoolRef ref_;
};

}  // namespace fjord
