// Collapse: the changes of an epoch (or of a part of it that fits into memory) as
// one final state per key.
//
// Per key we keep whether it existed before, whether it exists after, the cells of its final row,
// and its *origin*: the key under which the lake holds the row whose unchanged large values it
// still needs. Cells point into the blocks that the changes came in; Collapse owns those blocks.
// Pure: no I/O, no clock. Confined to one thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "base/column.h"
#include "base/digest.h"
#include "base/ids.h"
#include "postgres/pgoutput.h"
#include "postgres/tuple.h"
#include "postgres/types.h"
#include "replicate/change_block.h"

namespace fjord {

// What a table's rows look like in the stream and how its keys are hashed. Immutable.
struct TableShape {
  std::string name;               // for messages: "public.orders"
  std::vector<PgColumn> columns;  // as relation messages list them
  std::vector<int> key;           // indexes into `columns`; empty: append-only
  std::array<uint64_t, 2> seed{};
};

// Keys and locations that contradict a change mean that lake and source have diverged.
enum class DivergenceRule { kBlock, kRepair };

struct KeyHasher {
  size_t operator()(const Hash128& hash) const { return hash.low; }
};

struct KeyState {
  static constexpr uint32_t kNoRow = UINT32_MAX;
  Hash128 key;
  Hash128 origin;         // meaningful when has_unchanged
  uint32_t row = kNoRow;  // index for Row(); kNoRow unless `exists`
  bool existed = false;   // before the first change seen here
  bool exists = false;    // after the last one
  bool has_unchanged = false;
  Lsn lsn;  // of the commit of the last change
};

class Collapse {
 public:
  Collapse(const TableShape* shape, DivergenceRule rule) : shape_(shape), rule_(rule) {}

  // Takes in the records of a block. TRUNCATE empties what was collapsed and counts
  // truncations(). kFailedPrecondition: the table cannot go on (divergence, a kBlock record);
  // the message has the LSN.
  absl::Status Add(std::string block, const AbortedXids* aborted, Lsn commit_hint);

  const std::vector<KeyState>& keys() const { return states_; }
  // Rows of an append-only table, in their order.
  const std::vector<uint32_t>& appended() const { return appended_; }
  std::span<const TextCell> Row(uint32_t row) const;
  // How many TRUNCATEs this epoch has seen. Each empties what is staged in the lake, too.
  int truncations() const { return truncations_; }
  int64_t changes() const { return changes_; }
  int64_t repaired() const { return repaired_; }
  // The last commit record seen, and its time.
  const CommitMark& last_commit() const { return last_commit_; }
  uint64_t memory_bytes() const;
  // Forgets keys, rows and blocks, but not truncations(), changes() and commits: the next part of
  // the same epoch begins.
  void NextPart();
  // Everything as new.
  void Reset();

 private:
  struct Pending {
    ChangeKind kind = ChangeKind::kInsert;
    OldTuple old_kind = OldTuple::kNone;
    uint32_t old_row = KeyState::kNoRow;  // index into rows of cells
    uint32_t row = KeyState::kNoRow;
    Hash128 old_key;
    Hash128 key;
  };

  absl::Status Parse(const ChangeRecord& record);
  void FillUnchangedFromOld(Pending& pending);
  absl::Status HashSide(bool old_side);
  absl::Status Settle();
  absl::Status SettleOne(const Pending& pending);
  absl::Status Put(const Pending& pending, const Hash128& origin, bool has_unchanged);
  absl::Status Replace(KeyState& state, const Pending& pending);
  absl::Status Remove(const Hash128& key);
  KeyState& StateOf(const Hash128& key, bool existed_if_new);
  absl::Status Diverged(std::string_view what, const Hash128& key);
  uint32_t StoreRow(std::span<const TextCell> row);
  bool MergeUnchanged(uint32_t row, uint32_t previous);
  bool HasUnchanged(uint32_t row) const;
  void Truncate();

  const TableShape* const shape_;
  const DivergenceRule rule_;
  std::deque<std::string> blocks_;
  uint64_t block_bytes_ = 0;
  std::vector<TextCell> cells_;
  std::vector<Pending> pending_;
  absl::flat_hash_map<Hash128, uint32_t, KeyHasher> by_key_;
  std::vector<KeyState> states_;
  std::vector<uint32_t> appended_;
  PgOutputScratch scratch_;
  int truncations_ = 0;
  int64_t changes_ = 0;
  int64_t repaired_ = 0;
  CommitMark last_commit_;
  Lsn commit_hint_;
};

}  // namespace fjord
