// The bytes of a row index: header, directory, segments, and the repair of what a
// kill has left half done.
//
// docs/formats/row-index.md describes the layout. A kill keeps every store up to some moment and
// none after it, so everything here is a matter of the order of stores: each one to bytes that are
// in use goes through Store, which is not reordered, and tests stop the world after any of them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/digest.h"
#include "base/mapped_file.h"
#include "lake/row_index.h"

namespace fjord {

// One entry. `location` is file number << 32 | position; it is 0 exactly when the slot is
// empty, so every hash is a valid key. It is stored last, and alone when a row moves: one
// aligned word, never half written.
struct RowIndexSlot {
  uint64_t low;
  uint64_t high;
  uint64_t location;
};
static_assert(sizeof(RowIndexSlot) == 24);

struct RowIndexHeader {
  // Identity: written once, before the magic.
  char magic[8];
  uint32_t version;
  uint32_t segment_bytes;
  uint64_t seed[2];
  char table_uuid[40];
  uint64_t identity_crc;  // CRC-32C of the members above

  // Trust.
  uint64_t boot_id[2];
  uint64_t clean;
  // CRC-32C of `snapshot` … end of header and of the directory, at a clean close.
  uint64_t clean_crc;

  // What the content belongs to. Rewritten only while `step` is not 0.
  uint64_t snapshot;
  uint64_t timeline;
  uint64_t lsn;
  uint64_t generation;
  uint64_t step;  // RowIndexStep
  uint64_t step_child;

  // Structure.
  uint64_t directory;  // depth << 32 | first segment of its run; 0: inside segment 0
  uint64_t segments;   // in use, this one included; the file may be longer
  uint64_t spare;      // a segment to use next, or 0
  // Segment << 32 | slot + 1 of its hole; segment << 32: no hole; 0: no segment in work.
  uint64_t work;
  uint64_t clearing;  // 1: Clear is under way

  // A split under way: valid while split_old is not 0.
  uint64_t split_base;      // first directory word of the old segment
  uint64_t split_low;       // directory word of the lower half
  uint64_t split_high;      // directory word of the upper half
  uint64_t split_segments;  // `segments` after it
  uint64_t split_old;       // the segment that becomes spare
};
static_assert(offsetof(RowIndexHeader, identity_crc) == 72);
static_assert(offsetof(RowIndexHeader, snapshot) == 112);
static_assert(sizeof(RowIndexHeader) == 240);

enum class RowIndexStep : uint64_t { kNone = 0, kRedo = 1, kUnlogged = 2 };

inline constexpr char kRowIndexMagic[9] = "FJROWIDX";
inline constexpr uint32_t kRowIndexVersion = 1;
inline constexpr uint64_t kSegmentBytes = 256 * 1024;
inline constexpr uint32_t kSlotsPerSegment = kSegmentBytes / sizeof(RowIndexSlot);  // 10,922
// A segment that would get more entries than this is split first: 80 %.
inline constexpr uint32_t kEntriesPerSegmentMax = kSlotsPerSegment * 4 / 5;
// The directory of depth d has 2^d words at byte 8 << d of segment 0, which therefore holds depths
// 9 … 14 side by side.
inline constexpr int kDirectoryDepthMin = 9;
inline constexpr int kDirectoryDepthInside = 14;
inline constexpr int kDirectoryDepthMax = 22;  // 1 TiB of segments

// A directory word: segment number, its depth (how many top bits its keys have in common) and
// its number of entries. The count is kept in the first of the words that name the segment;
// it is 0 in the others.
struct DirectoryWord {
  uint64_t word;
  static DirectoryWord Of(uint32_t segment, int depth, uint32_t count) {
    return {uint64_t{count} << 40 | static_cast<uint64_t>(depth) << 32 | segment};
  }
  uint32_t segment() const { return static_cast<uint32_t>(word); }
  int depth() const { return static_cast<int>(word >> 32 & 0xff); }
  uint32_t count() const { return static_cast<uint32_t>(word >> 40); }
};

// The home slot of a hash in a segment of that depth: in the order of the hash, so that a batch
// sorted by hash walks forward.
inline uint32_t HomeSlot(uint64_t high, int depth) {
  return static_cast<uint32_t>(static_cast<unsigned __int128>(high << depth) * kSlotsPerSegment >>
                               64);
}

inline uint64_t PackLocation(RowLocation location) {
  return uint64_t{location.file.value} << 32 | location.position.value;
}
inline RowLocation UnpackLocation(uint64_t word) {
  return {FileNumber(static_cast<uint32_t>(word >> 32)), RowPosition(static_cast<uint32_t>(word))};
}

// Thrown by Store in tests that stop before the n-th store.
struct StoppedForTest {};

// Confined to one thread.
class RowIndexFile {
 public:
  static absl::StatusOr<std::unique_ptr<RowIndexFile>> Create(std::unique_ptr<MappedFile> file,
                                                              const RowIndexOptions& options);
  // Checks and repairs. Codes: RowIndex::Open.
  static absl::StatusOr<std::unique_ptr<RowIndexFile>> Open(std::unique_ptr<MappedFile> file);

  // The segment that a hash belongs to, and the directory words that name it.
  struct Segment {
    uint64_t first;  // index of the first word
    uint64_t end;    // index after the last
    DirectoryWord word;
    RowIndexSlot* slots;
  };
  Segment SegmentOf(uint64_t high) const { return SegmentAt(high >> directory_shift_); }
  Segment SegmentAt(uint64_t directory_index) const;
  bool InSegment(const Segment& segment, uint64_t high) const {
    const uint64_t index = high >> directory_shift_;
    return index >= segment.first && index < segment.end;
  }
  uint64_t directory_size() const { return uint64_t{1} << depth_; }
  // Where the search for a hash begins.
  const RowIndexSlot* Home(uint64_t high) const {
    const DirectoryWord word{directory_[high >> directory_shift_]};
    return Slots(word.segment()) + HomeSlot(high, word.depth());
  }

  // The changing operations. All of them come after BeginChanges; those of entries between
  // BeginWork and EndWork.
  absl::Status BeginChanges();
  void BeginWork(const Segment& segment) {
    Store(header_->work, uint64_t{segment.word.segment()} << 32);
  }
  void PutEntry(RowIndexSlot& slot, const Hash128& key, uint64_t location) {
    Store(slot.low, key.low);
    Store(slot.high, key.high);
    Store(slot.location, location);
  }
  void SetLocation(RowIndexSlot& slot, uint64_t location) { Store(slot.location, location); }
  // Removes the entry of slot `hole` by moving later ones of its run back.
  void RemoveEntry(const Segment& segment, uint32_t hole);
  void SetCount(const Segment& segment, uint32_t count);
  void EndWork() { Store(header_->work, 0); }
  // Splits the segment of `high` in two. kResourceExhausted: nothing has changed.
  absl::Status Split(uint64_t high);
  absl::Status Clear();

  absl::Status BeginStep(SnapshotId child);
  absl::Status FinishStep(const IndexState& state);
  absl::Status Close();

  const RowIndexHeader& header() const { return *header_; }
  IndexState state() const;
  RowIndexStep step() const { return static_cast<RowIndexStep>(header_->step); }
  uint64_t size() const { return size_; }
  MappedFile& file() { return *file_; }

  // kDataLoss says what is wrong, when an entry cannot be found or a count
  // is off. Reads everything.
  absl::Status Verify() const;
  // Tests: throws StoppedForTest in place of the store after `stores` more.
  void StopAfter(uint64_t stores) {
    fuse_ = stores;
    fuse_lit_ = true;
  }
  bool stopped() const { return fuse_lit_ && fuse_ == 0; }

 private:
  explicit RowIndexFile(std::unique_ptr<MappedFile> file) : file_(std::move(file)) {}

  void Store(uint64_t& at, uint64_t value) {
    if (fuse_lit_) [[unlikely]]
      BurnFuse();
    // A kill comes between two instructions, so only the compiler could reorder.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    std::atomic_ref<uint64_t>(at).store(value, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  void BurnFuse();
  RowIndexSlot* Slots(uint32_t segment) const {
    return reinterpret_cast<RowIndexSlot*>(base_ + kSegmentBytes * segment);
  }

  void Format(const RowIndexOptions& options);
  void LoadPointers();
  absl::Status CheckIdentity() const;
  absl::Status CheckTrust() const;
  // Checks the directory and sums its counts up.
  absl::Status LoadDirectory();
  absl::Status Repair();
  absl::Status RepairWork();
  void Distribute(const Segment& old, RowIndexSlot* low, RowIndexSlot* high, uint32_t counts[2]);
  void FinishSplit();
  void FinishClear();
  void CloseHole(uint32_t segment, int depth, uint32_t hole);
  absl::Status DoubleDirectory();
  absl::Status EnsureSegments(uint64_t segments);
  uint64_t CleanCrc() const;
  absl::Status MarkDirty();
  uint64_t WordsOf(DirectoryWord word) const { return uint64_t{1} << (depth_ - word.depth()); }

  std::unique_ptr<MappedFile> file_;
  char* base_ = nullptr;
  RowIndexHeader* header_ = nullptr;
  uint64_t* directory_ = nullptr;
  int depth_ = 0;
  int directory_shift_ = 0;
  uint64_t size_ = 0;   // the sum of the directory's counts
  bool dirty_ = false;  // the clean flag is off on the disk too
  bool fuse_lit_ = false;
  uint64_t fuse_ = 0;
};

// This boot of the machine (Linux: /proc/sys/kernel/random/boot_id).
absl::StatusOr<std::array<uint64_t, 2>> BootId();

}  // namespace fjord
