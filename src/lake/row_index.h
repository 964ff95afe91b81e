// The row index of one table: key hash -> (data file number, row position),
// for exactly one snapshot.
//
// A memory-mapped file (docs/formats/row-index.md); row_index_file.h owns its bytes, this class the
// batched operations. The index is a cache of the lake: it survives a kill of the process (together
// with a redo file, see redo.h) and a clean stop, and is rebuilt from the lake in every other case.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/digest.h"
#include "base/ids.h"

namespace fjord {

class RowIndexFile;

// Where a row is. File number 0 is never given to a file: it says "no row".
struct RowLocation {
  FileNumber file;
  RowPosition position;

  bool present() const { return file.value != 0; }
  friend bool operator==(const RowLocation&, const RowLocation&) = default;
};
inline constexpr RowLocation kNoRow{};

// A put, or with kNoRow a removal. Both are idempotent: a put overwrites, removing what is absent
// is no error.
struct IndexChange {
  Hash128 key;
  RowLocation location;

  friend bool operator==(const IndexChange&, const IndexChange&) = default;
};

// What the content of an index belongs to.
struct IndexState {
  SnapshotId snapshot{-1};  // -1: the empty table before its first snapshot
  TimelineId timeline;      // watermark
  Lsn lsn;
  uint64_t generation = 0;  // of the control record under which it was written

  friend bool operator==(const IndexState&, const IndexState&) = default;
};

struct RowIndexOptions {
  std::array<uint64_t, 2> seed{};  // table property fjord.index-seed
  std::string table_uuid;          // at most 36 bytes
  IndexState state;
};

// Confined to one thread at a time (look-ups use scratch memory of the object). After
// kResourceExhausted the content is unchanged. After kDataLoss the file is of no use: rebuild.
//
// Changes belong to a step. A step that a redo file stands behind is opened with BeginStep; a kill
// within it is repaired by applying the redo again. Changes outside such a step (first load) open
// an unlogged step by themselves: a kill within it makes Open answer kFailedPrecondition.
// FinishStep ends both.
class RowIndex {
 public:
  // A new, empty index in place of whatever is at `path`.
  static absl::StatusOr<std::unique_ptr<RowIndex>> Create(const std::string& path,
                                                          const RowIndexOptions& options);
  // kNotFound: no file. kFailedPrecondition: cannot be trusted (other boot of the machine without a
  // clean close, killed within an unlogged step, other format version): rebuild. kDataLoss:
  // damaged: rebuild. kUnavailable: open in another process.
  static absl::StatusOr<std::unique_ptr<RowIndex>> Open(const std::string& path);
  // A map of the same structure in a nameless file of `folder`, which is gone with the
  // object or the process.
  static absl::StatusOr<std::unique_ptr<RowIndex>> CreateScratch(
      const std::string& folder, const std::array<uint64_t, 2>& seed);
  // Leaves the file as a kill would; see Close.
  ~RowIndex();

  // The keyed hash of a key's canonical bytes (base/column.h, AppendKeyBytes).
  Hash128 Hash(std::string_view key) const { return SipHash128(seed_, key); }

  // out[i] = where hashes[i] is, or kNoRow. Same size.
  void Find(std::span<const Hash128> hashes, std::span<RowLocation> out);
  // In the order given: of changes of one key the last wins. Takes 32 bytes of memory a change.
  absl::Status Apply(std::span<const IndexChange> changes);
  // The same; previous[i] = the location before changes[i], or kNoRow.
  absl::Status ApplyAndFetch(std::span<const IndexChange> changes, std::span<RowLocation> previous);
  // Removes everything and gives the space back (TRUNCATE).
  absl::Status Clear();
  // Removes the entries that point to files of which `gone` is true; returns how many.
  // Reads the whole index.
  absl::StatusOr<uint64_t> Sweep(absl::FunctionRef<bool(FileNumber)> gone);
  // Each entry once, in no particular order.
  void ForEachEntry(absl::FunctionRef<void(const Hash128&, RowLocation)> visit) const;

  // Opens a step that leads to `child` and has a complete redo file. Opening the interrupted one
  // again is allowed.
  absl::Status BeginStep(SnapshotId child);
  // The content now belongs to `state`. The last store of a step.
  absl::Status FinishStep(const IndexState& state);
  // The child snapshot of a redo step that a kill has interrupted: the content lies between two
  // snapshots until that redo is applied again. Nothing else may be done with it.
  std::optional<SnapshotId> interrupted_step() const;

  // Syncs the data, then sets the clean flag, then syncs that; only such a file outlives
  // a restart of the machine. kFailedPrecondition, and no flag, within a step. The object
  // is of no use afterwards.
  absl::Status Close();

  uint64_t size() const;
  // Bytes of file, all of them mapped.
  uint64_t mapped_bytes() const;
  IndexState state() const;
  std::string table_uuid() const;
  const std::array<uint64_t, 2>& seed() const { return seed_; }

  // For tests of this format.
  RowIndexFile& file_for_test() { return *file_; }

 private:
  // A key of a batch in the order of its hash.
  struct Item {
    uint64_t high;
    uint32_t index;
  };

  explicit RowIndex(std::unique_ptr<RowIndexFile> file);

  // Sorts the batch in items_ and asks for its pages when they are not in memory.
  void BeginBatch();
  void SortByHash();
  bool LooksResident() const;
  void FetchPages();
  absl::Status MakeRoom(std::span<const IndexChange> changes);
  uint64_t CountNewKeys(std::span<const IndexChange> changes, std::span<const Item> group) const;
  void ApplySorted(std::span<const IndexChange> changes, std::span<RowLocation> previous);

  std::unique_ptr<RowIndexFile> file_;
  std::array<uint64_t, 2> seed_;
  std::vector<Item> items_;
  std::vector<Item> sort_space_;
};

}  // namespace fjord
