#include "lake/row_index_file.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string_view>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr uint32_t kFirstSegment = 1;
constexpr uint64_t kSegmentsWhenEmpty = 2;

uint32_t NextSlot(uint32_t slot) { return slot + 1 == kSlotsPerSegment ? 0 : slot + 1; }

// Steps forward from one slot to another, around the end.
uint32_t Distance(uint32_t from, uint32_t to) {
  return to >= from ? to - from : to + kSlotsPerSegment - from;
}

uint32_t CountOf(const RowIndexSlot* slots) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < kSlotsPerSegment; ++i) count += slots[i].location != 0;
  return count;
}

// Into a segment that nothing refers to yet.
void InsertPlain(RowIndexSlot* slots, const RowIndexSlot& entry, int depth) {
  uint32_t at = HomeSlot(entry.high, depth);
  while (slots[at].location != 0) at = NextSlot(at);
  slots[at] = entry;
}

absl::Status Damaged(std::string_view what) {
  return absl::DataLossError(
      StrCat("row index is damaged (", what, "); it is rebuilt from the lake"));
}

absl::Status NotTrusted(std::string_view why) {
  return absl::FailedPreconditionError(
      StrCat("row index cannot be trusted (", why, "); it is rebuilt from the lake"));
}

}  // namespace

absl::StatusOr<std::array<uint64_t, 2>> BootId() {
  std::string text;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), text);
  std::erase(text, '-');
  if (text.size() == 32) {
    const auto first = ParseInt<uint64_t>(std::string_view(text).substr(0, 16), 16);
    const auto second = ParseInt<uint64_t>(std::string_view(text).substr(16), 16);
    if (first && second) return std::array<uint64_t, 2>{*first, *second};
  }
  return absl::FailedPreconditionError(
      "cannot read this boot's id from /proc/sys/kernel/random/boot_id");
}

absl::StatusOr<std::unique_ptr<RowIndexFile>> RowIndexFile::Create(std::unique_ptr<MappedFile> file,
                                                                   const RowIndexOptions& options) {
  if (options.table_uuid.size() > sizeof(RowIndexHeader::table_uuid)) {
    return absl::InvalidArgumentError(StrCat("table uuid '", options.table_uuid, "' is too long"));
  }
  ASSIGN_OR_RETURN(const auto boot, BootId());
  RETURN_IF_ERROR(file->Grow(kSegmentsWhenEmpty * kSegmentBytes));
  file->ExpectRandomAccess();
  std::unique_ptr<RowIndexFile> made(new RowIndexFile(std::move(file)));
  made->Format(options);
  made->header_->boot_id[0] = boot[0];
  made->header_->boot_id[1] = boot[1];
  // The magic last: a file without it was killed while it was made.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  std::memcpy(made->header_->magic, kRowIndexMagic, sizeof(RowIndexHeader::magic));
  made->dirty_ = true;
  return made;
}

void RowIndexFile::Format(const RowIndexOptions& options) {
  RowIndexHeader header{};
  std::memcpy(header.magic, kRowIndexMagic, sizeof(header.magic));
  header.version = kRowIndexVersion;
  header.segment_bytes = kSegmentBytes;
  header.seed[0] = options.seed[0];
  header.seed[1] = options.seed[1];
  std::memcpy(header.table_uuid, options.table_uuid.data(), options.table_uuid.size());
  header.identity_crc =
      Crc32c({reinterpret_cast<const char*>(&header), offsetof(RowIndexHeader, identity_crc)});
  header.snapshot = static_cast<uint64_t>(options.state.snapshot.value);
  header.timeline = options.state.timeline.value;
  header.lsn = options.state.lsn.value;
  header.generation = options.state.generation;
  std::memset(header.magic, 0, sizeof(header.magic));
  base_ = file_->data();
  header_ = reinterpret_cast<RowIndexHeader*>(base_);
  *header_ = header;
  FinishClear();
}

absl::StatusOr<std::unique_ptr<RowIndexFile>> RowIndexFile::Open(std::unique_ptr<MappedFile> file) {
  if (file->size() < kSegmentsWhenEmpty * kSegmentBytes) return Damaged("the file is too short");
  file->ExpectRandomAccess();
  std::unique_ptr<RowIndexFile> opened(new RowIndexFile(std::move(file)));
  opened->base_ = opened->file_->data();
  opened->header_ = reinterpret_cast<RowIndexHeader*>(opened->base_);
  RETURN_IF_ERROR(opened->CheckIdentity());
  RETURN_IF_ERROR(opened->CheckTrust());
  RETURN_IF_ERROR(opened->Repair());
  RETURN_IF_ERROR(opened->LoadDirectory());
  return opened;
}

absl::Status RowIndexFile::CheckIdentity() const {
  const RowIndexHeader& h = *header_;
  if (std::memcmp(h.magic, kRowIndexMagic, sizeof(h.magic)) != 0)
    return Damaged("it does not begin with FJROWIDX");
  if (h.version != kRowIndexVersion) {
    return NotTrusted(
        StrCat("format version ", h.version, ", this program knows ", kRowIndexVersion));
  }
  if (h.identity_crc != Crc32c({base_, offsetof(RowIndexHeader, identity_crc)}))
    return Damaged("checksum of its identity");
  if (h.segment_bytes != kSegmentBytes) return Damaged("segment size");
  return absl::OkStatus();
}

absl::Status RowIndexFile::CheckTrust() const {
  const RowIndexHeader& h = *header_;
  if (h.clean == 0) {
    ASSIGN_OR_RETURN(const auto boot, BootId());
    if (h.boot_id[0] != boot[0] || h.boot_id[1] != boot[1]) {
      return NotTrusted("the machine went down before it was closed");
    }
  }
  if (step() == RowIndexStep::kUnlogged)
    return NotTrusted("the process was killed while it was built");
  const uint64_t depth = h.directory >> 32;
  if (depth < kDirectoryDepthMin || depth > kDirectoryDepthMax) return Damaged("directory depth");
  const uint64_t run = static_cast<uint32_t>(h.directory);
  const uint64_t run_segments =
      depth > kDirectoryDepthInside ? (uint64_t{8} << depth) / kSegmentBytes : 0;
  if ((run == 0) != (run_segments == 0)) return Damaged("place of the directory");
  if (h.segments * kSegmentBytes > file_->size() || run + run_segments > h.segments ||
      h.spare >= h.segments) {
    return Damaged("the file is too short");
  }
  if (h.clean != 0 && h.clean_crc != CleanCrc()) return Damaged("checksum of its directory");
  return absl::OkStatus();
}

void RowIndexFile::LoadPointers() {
  base_ = file_->data();
  header_ = reinterpret_cast<RowIndexHeader*>(base_);
  depth_ = static_cast<int>(header_->directory >> 32);
  directory_shift_ = 64 - depth_;
  const uint32_t run = static_cast<uint32_t>(header_->directory);
  directory_ = reinterpret_cast<uint64_t*>(run == 0 ? base_ + (uint64_t{8} << depth_)
                                                    : base_ + kSegmentBytes * run);
}

uint64_t RowIndexFile::CleanCrc() const {
  const char* from = base_ + offsetof(RowIndexHeader, snapshot);
  std::string covered(from, base_ + sizeof(RowIndexHeader) - from);
  const uint64_t depth = header_->directory >> 32;
  const uint32_t run = static_cast<uint32_t>(header_->directory);
  const uint64_t bytes = uint64_t{8} << depth;
  PutFixed32(covered, Crc32c({run == 0 ? base_ + bytes : base_ + kSegmentBytes * run, bytes}));
  return Crc32c(covered);
}

RowIndexFile::Segment RowIndexFile::SegmentAt(uint64_t directory_index) const {
  const uint64_t words = WordsOf(DirectoryWord{directory_[directory_index]});
  const uint64_t first = directory_index & ~(words - 1);
  const DirectoryWord word{directory_[first]};
  return {first, first + words, word, Slots(word.segment())};
}

IndexState RowIndexFile::state() const {
  return {SnapshotId(static_cast<int64_t>(header_->snapshot)),
          TimelineId(static_cast<uint32_t>(header_->timeline)), Lsn(header_->lsn),
          header_->generation};
}

void RowIndexFile::BurnFuse() {
  if (fuse_ == 0) throw StoppedForTest{};
  --fuse_;
}

// --- Repair
// ---------------------------------------------------------------------------------------------------------

absl::Status RowIndexFile::Repair() {
  if (header_->clearing != 0) {
    FinishClear();
    return absl::OkStatus();
  }
  LoadPointers();
  if (header_->split_old != 0) {
    const DirectoryWord low{header_->split_low};
    if (low.depth() < 1 || low.depth() > depth_ ||
        header_->split_base + 2 * WordsOf(low) > directory_size() ||
        header_->split_old >= header_->segments ||
        header_->split_segments * kSegmentBytes > file_->size()) {
      return Damaged("record of a split");
    }
    FinishSplit();
  }
  if (header_->work != 0) RETURN_IF_ERROR(RepairWork());
  if (step() == RowIndexStep::kRedo && header_->snapshot == header_->step_child) {
    Store(header_->step, static_cast<uint64_t>(RowIndexStep::kNone));
  }
  return absl::OkStatus();
}

absl::Status RowIndexFile::RepairWork() {
  const uint32_t segment = static_cast<uint32_t>(header_->work >> 32);
  const uint32_t hole = static_cast<uint32_t>(header_->work);
  if (segment == 0 || segment >= header_->segments || hole > kSlotsPerSegment)
    return Damaged("record of work");
  for (uint64_t i = 0; i < directory_size(); ++i) {
    const DirectoryWord word{directory_[i]};
    if (word.segment() != segment) continue;
    if (hole != 0) CloseHole(segment, word.depth(), hole - 1);
    const DirectoryWord counted = DirectoryWord::Of(segment, word.depth(), CountOf(Slots(segment)));
    Store(directory_[i], counted.word);
    EndWork();
    return absl::OkStatus();
  }
  return Damaged("record of work");
}

absl::Status RowIndexFile::LoadDirectory() {
  size_ = 0;
  for (uint64_t first = 0; first < directory_size();) {
    const DirectoryWord word{directory_[first]};
    if (word.depth() > depth_) return Damaged("directory");
    const uint64_t words = WordsOf(word);
    if (first % words != 0 || word.segment() == 0 || word.segment() >= header_->segments ||
        word.count() > kEntriesPerSegmentMax) {
      return Damaged("directory");
    }
    for (uint64_t i = 1; i < words; ++i) {
      if (directory_[first + i] != DirectoryWord::Of(word.segment(), word.depth(), 0).word)
        return Damaged("directory");
    }
    size_ += word.count();
    first += words;
  }
  return absl::OkStatus();
}

absl::Status RowIndexFile::Verify() const {
  uint64_t total = 0;
  for (uint64_t i = 0; i < directory_size();) {
    const Segment segment = SegmentAt(i);
    if (CountOf(segment.slots) != segment.word.count())
      return Damaged(StrCat("count of segment ", segment.word.segment()));
    for (uint32_t slot = 0; slot < kSlotsPerSegment; ++slot) {
      const RowIndexSlot& entry = segment.slots[slot];
      if (entry.location == 0) continue;
      const uint64_t index = entry.high >> directory_shift_;
      if (index < segment.first || index >= segment.end)
        return Damaged("an entry is in a foreign segment");
      uint32_t at = HomeSlot(entry.high, segment.word.depth());
      for (; at != slot; at = NextSlot(at)) {
        const RowIndexSlot& other = segment.slots[at];
        if (other.location == 0) return Damaged("an entry cannot be found");
        if (other.low == entry.low && other.high == entry.high)
          return Damaged("an entry is there twice");
      }
    }
    total += segment.word.count();
    i = segment.end;
  }
  return total == size_ ? absl::OkStatus() : Damaged("number of entries");
}

// --- Changes
// --------------------------------------------------------------------------------------------------------

absl::Status RowIndexFile::MarkDirty() {
  if (dirty_) return absl::OkStatus();
  // The flag must be off on the disk before any changed page gets there: a machine that goes down
  // later must not find a clean file with half of the changes.
  ASSIGN_OR_RETURN(const auto boot, BootId());
  Store(header_->boot_id[0], boot[0]);
  Store(header_->boot_id[1], boot[1]);
  Store(header_->clean, 0);
  RETURN_IF_ERROR(file_->SyncRange(0, MappedFile::kPageBytes));
  dirty_ = true;
  return absl::OkStatus();
}

absl::Status RowIndexFile::BeginChanges() {
  RETURN_IF_ERROR(MarkDirty());
  if (step() == RowIndexStep::kNone)
    Store(header_->step, static_cast<uint64_t>(RowIndexStep::kUnlogged));
  return absl::OkStatus();
}

void RowIndexFile::RemoveEntry(const Segment& segment, uint32_t hole) {
  // This store removes the entry: the slot counts as free from here on, whatever its bytes say.
  Store(header_->work, uint64_t{segment.word.segment()} << 32 | (hole + 1));
  CloseHole(segment.word.segment(), segment.word.depth(), hole);
}

void RowIndexFile::CloseHole(uint32_t segment, int depth, uint32_t hole) {
  RowIndexSlot* slots = Slots(segment);
  for (uint32_t at = NextSlot(hole); slots[at].location != 0; at = NextSlot(at)) {
    // An entry may move back to the hole unless its home lies behind it.
    if (Distance(HomeSlot(slots[at].high, depth), at) < Distance(hole, at)) continue;
    PutEntry(slots[hole], {slots[at].low, slots[at].high}, slots[at].location);
    // One store makes the copy valid and the original the hole, so no entry is
    // ever twice or not at all.
    Store(header_->work, uint64_t{segment} << 32 | (at + 1));
    hole = at;
  }
  SetLocation(slots[hole], 0);
  Store(header_->work, uint64_t{segment} << 32);
}

void RowIndexFile::SetCount(const Segment& segment, uint32_t count) {
  size_ = size_ + count - segment.word.count();
  Store(directory_[segment.first],
        DirectoryWord::Of(segment.word.segment(), segment.word.depth(), count).word);
}

absl::Status RowIndexFile::EnsureSegments(uint64_t segments) {
  if (segments * kSegmentBytes <= file_->size()) return absl::OkStatus();
  const uint64_t ahead = std::min<uint64_t>(segments / 8, 64);
  absl::Status grown = file_->Grow((segments + ahead) * kSegmentBytes);
  if (!grown.ok()) grown = file_->Grow(segments * kSegmentBytes);
  LoadPointers();
  return grown;
}

absl::Status RowIndexFile::DoubleDirectory() {
  const int depth = depth_ + 1;
  if (depth > kDirectoryDepthMax)
    return absl::ResourceExhaustedError("row index has reached its largest size, 1 TiB");
  const uint64_t bytes = uint64_t{8} << depth;
  uint64_t run = 0;
  if (depth > kDirectoryDepthInside) {
    run = header_->segments;
    RETURN_IF_ERROR(EnsureSegments(run + bytes / kSegmentBytes));
  }
  auto* doubled =
      reinterpret_cast<uint64_t*>(run == 0 ? base_ + bytes : base_ + kSegmentBytes * run);
  for (uint64_t i = 0; i < directory_size(); ++i) {
    const DirectoryWord word{directory_[i]};
    doubled[2 * i] = word.word;
    doubled[2 * i + 1] = DirectoryWord::Of(word.segment(), word.depth(), 0).word;
  }
  // A kill in between loses the run's space, nothing else.
  if (run != 0) Store(header_->segments, run + bytes / kSegmentBytes);
  Store(header_->directory, static_cast<uint64_t>(depth) << 32 | run);
  LoadPointers();
  return absl::OkStatus();
}

absl::Status RowIndexFile::Split(uint64_t high) {
  if (SegmentOf(high).word.depth() == depth_) RETURN_IF_ERROR(DoubleDirectory());
  uint64_t next = header_->segments;
  const uint64_t spare = header_->spare;
  RETURN_IF_ERROR(EnsureSegments(next + (spare == 0 ? 2 : 1)));
  const uint32_t lower = static_cast<uint32_t>(spare != 0 ? spare : next++);
  const uint32_t upper = static_cast<uint32_t>(next++);
  const Segment old = SegmentOf(high);
  uint32_t counts[2] = {0, 0};
  Distribute(old, Slots(lower), Slots(upper), counts);
  Store(header_->split_base, old.first);
  Store(header_->split_low, DirectoryWord::Of(lower, old.word.depth() + 1, counts[0]).word);
  Store(header_->split_high, DirectoryWord::Of(upper, old.word.depth() + 1, counts[1]).word);
  Store(header_->split_segments, next);
  Store(header_->split_old, old.word.segment());
  FinishSplit();
  return absl::OkStatus();
}

void RowIndexFile::Distribute(const Segment& old, RowIndexSlot* low, RowIndexSlot* high,
                              uint32_t counts[2]) {
  file_->WillNeed(old.slots, kSegmentBytes);
  std::memset(static_cast<void*>(low), 0, kSegmentBytes);
  std::memset(static_cast<void*>(high), 0, kSegmentBytes);
  const int depth = old.word.depth();
  for (uint32_t i = 0; i < kSlotsPerSegment; ++i) {
    const RowIndexSlot& entry = old.slots[i];
    if (entry.location == 0) continue;
    const uint64_t half = entry.high << depth >> 63;
    InsertPlain(half == 0 ? low : high, entry, depth + 1);
    ++counts[half];
  }
}

// Every store here may be repeated. While only some words are flipped each key still has exactly
// one segment, whose content is the same in the old one and the new one.
void RowIndexFile::FinishSplit() {
  const uint64_t base = header_->split_base;
  for (const DirectoryWord word :
       {DirectoryWord{header_->split_low}, DirectoryWord{header_->split_high}}) {
    const uint64_t words = WordsOf(word);
    const uint64_t first = base + (word.word == header_->split_low ? 0 : words);
    Store(directory_[first], word.word);
    for (uint64_t i = 1; i < words; ++i) {
      Store(directory_[first + i], DirectoryWord::Of(word.segment(), word.depth(), 0).word);
    }
  }
  Store(header_->segments, header_->split_segments);
  Store(header_->spare, header_->split_old);
  Store(header_->split_old, 0);
}

absl::Status RowIndexFile::Clear() {
  Store(header_->clearing, 1);
  FinishClear();
  return file_->Shrink(kSegmentsWhenEmpty * kSegmentBytes);
}

void RowIndexFile::FinishClear() {
  Store(header_->directory, uint64_t{kDirectoryDepthMin} << 32);
  LoadPointers();
  for (uint64_t i = 0; i < directory_size(); ++i)
    Store(directory_[i], DirectoryWord::Of(kFirstSegment, 0, 0).word);
  std::memset(static_cast<void*>(Slots(kFirstSegment)), 0, kSegmentBytes);
  Store(header_->segments, kSegmentsWhenEmpty);
  Store(header_->spare, 0);
  Store(header_->work, 0);
  Store(header_->split_old, 0);
  Store(header_->clearing, 0);
  size_ = 0;
}

// --- Steps and close
// ------------------------------------------------------------------------------------------------

absl::Status RowIndexFile::BeginStep(SnapshotId child) {
  if (step() != RowIndexStep::kNone) {
    if (step() == RowIndexStep::kRedo && static_cast<int64_t>(header_->step_child) == child.value)
      return absl::OkStatus();
    return absl::FailedPreconditionError(
        StrCat("row index is within another step than that to snapshot ", child.value));
  }
  RETURN_IF_ERROR(MarkDirty());
  Store(header_->step_child, static_cast<uint64_t>(child.value));
  Store(header_->step, static_cast<uint64_t>(RowIndexStep::kRedo));
  return absl::OkStatus();
}

absl::Status RowIndexFile::FinishStep(const IndexState& state) {
  RETURN_IF_ERROR(BeginChanges());
  Store(header_->timeline, state.timeline.value);
  Store(header_->lsn, state.lsn.value);
  Store(header_->generation, state.generation);
  // After the rest: the child's snapshot in an open step says that only the next
  // store is missing (Repair).
  Store(header_->snapshot, static_cast<uint64_t>(state.snapshot.value));
  Store(header_->step, static_cast<uint64_t>(RowIndexStep::kNone));
  return absl::OkStatus();
}

absl::Status RowIndexFile::Close() {
  if (step() != RowIndexStep::kNone) {
    return absl::FailedPreconditionError(
        "row index is within a step; it cannot be closed as clean");
  }
  Store(header_->clean_crc, CleanCrc());
  RETURN_IF_ERROR(file_->Sync());
  Store(header_->clean, 1);
  return file_->SyncRange(0, MappedFile::kPageBytes);
}

}  // namespace fjord
