#include "lake/row_index.h"

#include <algorithm>
#include <cstring>

#include "base/mapped_file.h"
#include "base/status.h"
#include "base/strings.h"
#include "lake/row_index_file.h"

namespace fjord {
namespace {

// How many keys of a sorted batch are fetched ahead of the one in work: enough to hide a memory
// access behind the work on the keys before it.
constexpr size_t kPrefetchAhead = 16;
constexpr int kRadixBits = 11;
constexpr size_t kRadixBuckets = size_t{1} << kRadixBits;
// Below this a comparison sort is faster than clearing the buckets.
constexpr size_t kRadixSortMin = 256;

// Of how many keys of a batch the page is looked for, to know whether the index is in memory.
constexpr size_t kResidencySamples = 32;

uint32_t NextSlot(uint32_t slot) { return slot + 1 == kSlotsPerSegment ? 0 : slot + 1; }

// The slot that holds the key, or the empty one where its search ends.
uint32_t SearchSlot(const RowIndexSlot* slots, int depth, const Hash128& key) {
  uint32_t at = HomeSlot(key.high, depth);
  while (slots[at].location != 0 && (slots[at].high != key.high || slots[at].low != key.low))
    at = NextSlot(at);
  return at;
}

void ChangeSlot(RowIndexFile& file, const RowIndexFile::Segment& segment, uint32_t slot,
                const IndexChange& change) {
  RowIndexSlot& entry = segment.slots[slot];
  if (!change.location.present()) {
    if (entry.location != 0) file.RemoveEntry(segment, slot);
  } else if (entry.location != 0) {
    file.SetLocation(entry, PackLocation(change.location));
  } else {
    file.PutEntry(entry, change.key, PackLocation(change.location));
  }
}

void Prefetch(const RowIndexSlot* home) {
  __builtin_prefetch(home);
  // Runs are a few slots long, and a slot may lie across two lines.
  __builtin_prefetch(reinterpret_cast<const char*>(home) + 64);
}

}  // namespace

RowIndex::RowIndex(std::unique_ptr<RowIndexFile> file)
    : file_(std::move(file)), seed_{file_->header().seed[0], file_->header().seed[1]} {}

RowIndex::~RowIndex() = default;

absl::StatusOr<std::unique_ptr<RowIndex>> RowIndex::Create(const std::string& path,
                                                           const RowIndexOptions& options) {
  ASSIGN_OR_RETURN(auto mapped, MappedFile::Create(path));
  ASSIGN_OR_RETURN(auto file, RowIndexFile::Create(std::move(mapped), options));
  return std::unique_ptr<RowIndex>(new RowIndex(std::move(file)));
}

absl::StatusOr<std::unique_ptr<RowIndex>> RowIndex::Open(const std::string& path) {
  ASSIGN_OR_RETURN(auto mapped, MappedFile::Open(path));
  auto file = RowIndexFile::Open(std::move(mapped));
  if (!file.ok()) return Annotate(file.status(), path);
  return std::unique_ptr<RowIndex>(new RowIndex(*std::move(file)));
}

absl::StatusOr<std::unique_ptr<RowIndex>> RowIndex::CreateScratch(
    const std::string& folder, const std::array<uint64_t, 2>& seed) {
  ASSIGN_OR_RETURN(auto mapped, MappedFile::CreateNameless(folder));
  ASSIGN_OR_RETURN(auto file, RowIndexFile::Create(std::move(mapped), {.seed = seed}));
  return std::unique_ptr<RowIndex>(new RowIndex(std::move(file)));
}

// Stable, and by the top 22 bits only: that groups the keys by segment (kDirectoryDepthMax) and
// nearly sorts them within.
void RowIndex::SortByHash() {
  static_assert(2 * kRadixBits >= kDirectoryDepthMax);
  if (items_.size() < kRadixSortMin) {
    std::stable_sort(items_.begin(), items_.end(),
                     [](const Item& a, const Item& b) { return a.high < b.high; });
    return;
  }
  sort_space_.resize(items_.size());
  for (const int shift : {64 - 2 * kRadixBits, 64 - kRadixBits}) {
    uint32_t ends[kRadixBuckets + 1] = {};
    for (const Item& item : items_) ++ends[(item.high >> shift & (kRadixBuckets - 1)) + 1];
    for (size_t i = 1; i <= kRadixBuckets; ++i) ends[i] += ends[i - 1];
    for (const Item& item : items_)
      sort_space_[ends[item.high >> shift & (kRadixBuckets - 1)]++] = item;
    items_.swap(sort_space_);
  }
}

void RowIndex::BeginBatch() {
  SortByHash();
  if (!LooksResident()) FetchPages();
}

bool RowIndex::LooksResident() const {
  const size_t stride = std::max<size_t>(1, items_.size() / kResidencySamples);
  for (size_t i = 0; i < items_.size(); i += stride) {
    if (!file_->file().InMemory(file_->Home(items_[i].high))) return false;
  }
  return true;
}

// Many reads at a time instead of one after the other. Asking for a page that is there costs as
// much as a look-up, so it is done only when some are not.
void RowIndex::FetchPages() {
  uintptr_t asked = 0;
  for (const Item& item : items_) {
    const RowIndexSlot* home = file_->Home(item.high);
    const uintptr_t page = reinterpret_cast<uintptr_t>(home) / MappedFile::kPageBytes;
    if (page != asked) file_->file().WillNeed(home, sizeof(RowIndexSlot));
    asked = page;
  }
}

void RowIndex::Find(std::span<const Hash128> hashes, std::span<RowLocation> out) {
  items_.resize(hashes.size());
  for (size_t i = 0; i < hashes.size(); ++i) items_[i] = {hashes[i].high, static_cast<uint32_t>(i)};
  BeginBatch();
  for (size_t i = 0; i < std::min(kPrefetchAhead, items_.size()); ++i)
    Prefetch(file_->Home(items_[i].high));
  for (size_t i = 0; i < items_.size(); ++i) {
    if (i + kPrefetchAhead < items_.size()) Prefetch(file_->Home(items_[i + kPrefetchAhead].high));
    const Hash128& key = hashes[items_[i].index];
    const RowIndexFile::Segment segment = file_->SegmentOf(key.high);
    const uint32_t slot = SearchSlot(segment.slots, segment.word.depth(), key);
    out[items_[i].index] = UnpackLocation(segment.slots[slot].location);
  }
}

absl::Status RowIndex::Apply(std::span<const IndexChange> changes) {
  return ApplyAndFetch(changes, {});
}

absl::Status RowIndex::ApplyAndFetch(std::span<const IndexChange> changes,
                                     std::span<RowLocation> previous) {
  RETURN_IF_ERROR(file_->BeginChanges());
  items_.resize(changes.size());
  for (size_t i = 0; i < changes.size(); ++i)
    items_[i] = {changes[i].key.high, static_cast<uint32_t>(i)};
  BeginBatch();
  RETURN_IF_ERROR(MakeRoom(changes));
  ApplySorted(changes, previous);
  return absl::OkStatus();
}

// Splits until every segment can take what the batch puts into it. All allocation happens here,
// before any entry changes, so that a full disk leaves the content as it was.
absl::Status RowIndex::MakeRoom(std::span<const IndexChange> changes) {
  for (size_t begin = 0; begin < items_.size();) {
    const RowIndexFile::Segment segment = file_->SegmentOf(items_[begin].high);
    size_t end = begin;
    uint32_t puts = 0;
    for (; end < items_.size() && file_->InSegment(segment, items_[end].high); ++end) {
      puts += changes[items_[end].index].location.present();
    }
    const std::span<const Item> group(items_.data() + begin, end - begin);
    if (segment.word.count() + puts > kEntriesPerSegmentMax &&
        segment.word.count() + CountNewKeys(changes, group) > kEntriesPerSegmentMax) {
      RETURN_IF_ERROR(file_->Split(items_[begin].high));
      continue;
    }
    begin = end;
  }
  return absl::OkStatus();
}

uint64_t RowIndex::CountNewKeys(std::span<const IndexChange> changes,
                                std::span<const Item> group) const {
  std::vector<Hash128> fresh;
  for (const Item& item : group) {
    const IndexChange& change = changes[item.index];
    if (!change.location.present()) continue;
    const RowIndexFile::Segment segment = file_->SegmentOf(change.key.high);
    if (segment.slots[SearchSlot(segment.slots, segment.word.depth(), change.key)].location == 0)
      fresh.push_back(change.key);
  }
  std::sort(fresh.begin(), fresh.end());
  return static_cast<uint64_t>(std::unique(fresh.begin(), fresh.end()) - fresh.begin());
}

void RowIndex::ApplySorted(std::span<const IndexChange> changes, std::span<RowLocation> previous) {
  for (size_t i = 0; i < std::min(kPrefetchAhead, items_.size()); ++i)
    Prefetch(file_->Home(items_[i].high));
  for (size_t i = 0; i < items_.size();) {
    const RowIndexFile::Segment segment = file_->SegmentOf(items_[i].high);
    uint32_t count = segment.word.count();
    file_->BeginWork(segment);
    for (; i < items_.size() && file_->InSegment(segment, items_[i].high); ++i) {
      if (i + kPrefetchAhead < items_.size())
        Prefetch(file_->Home(items_[i + kPrefetchAhead].high));
      const IndexChange& change = changes[items_[i].index];
      const uint32_t slot = SearchSlot(segment.slots, segment.word.depth(), change.key);
      const uint64_t before = segment.slots[slot].location;
      if (!previous.empty()) previous[items_[i].index] = UnpackLocation(before);
      ChangeSlot(*file_, segment, slot, change);
      count +=
          static_cast<uint32_t>(change.location.present()) - static_cast<uint32_t>(before != 0);
    }
    if (count != segment.word.count()) file_->SetCount(segment, count);
  }
  file_->EndWork();
}

absl::Status RowIndex::Clear() {
  RETURN_IF_ERROR(file_->BeginChanges());
  return file_->Clear();
}

absl::StatusOr<uint64_t> RowIndex::Sweep(absl::FunctionRef<bool(FileNumber)> gone) {
  uint64_t removed = 0;
  std::vector<IndexChange> changes;
  for (uint64_t i = 0; i < file_->directory_size();) {
    const RowIndexFile::Segment segment = file_->SegmentAt(i);
    file_->file().WillNeed(segment.slots, kSegmentBytes);
    changes.clear();
    for (uint32_t slot = 0; slot < kSlotsPerSegment; ++slot) {
      const RowIndexSlot& entry = segment.slots[slot];
      if (entry.location != 0 && gone(UnpackLocation(entry.location).file)) {
        changes.push_back({{entry.low, entry.high}, kNoRow});
      }
    }
    if (!changes.empty()) RETURN_IF_ERROR(Apply(changes));
    removed += changes.size();
    i = segment.end;
  }
  return removed;
}

void RowIndex::ForEachEntry(absl::FunctionRef<void(const Hash128&, RowLocation)> visit) const {
  for (uint64_t i = 0; i < file_->directory_size();) {
    const RowIndexFile::Segment segment = file_->SegmentAt(i);
    file_->file().WillNeed(segment.slots, kSegmentBytes);
    for (uint32_t slot = 0; slot < kSlotsPerSegment; ++slot) {
      const RowIndexSlot& entry = segment.slots[slot];
      if (entry.location != 0) visit({entry.low, entry.high}, UnpackLocation(entry.location));
    }
    i = segment.end;
  }
}

absl::Status RowIndex::BeginStep(SnapshotId child) { return file_->BeginStep(child); }
absl::Status RowIndex::FinishStep(const IndexState& state) { return file_->FinishStep(state); }
absl::Status RowIndex::Close() { return file_->Close(); }

std::optional<SnapshotId> RowIndex::interrupted_step() const {
  if (file_->step() != RowIndexStep::kRedo) return std::nullopt;
  return SnapshotId(static_cast<int64_t>(file_->header().step_child));
}

uint64_t RowIndex::size() const { return file_->size(); }
uint64_t RowIndex::mapped_bytes() const { return file_->file().size(); }
IndexState RowIndex::state() const { return file_->state(); }

std::string RowIndex::table_uuid() const {
  const char* text = file_->header().table_uuid;
  return std::string(text, strnlen(text, sizeof(RowIndexHeader::table_uuid)));
}

}  // namespace fjord
