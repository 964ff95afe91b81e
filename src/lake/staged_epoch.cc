#include "lake/staged_epoch.h"

#include <algorithm>

#include "base/status.h"

namespace fjord {
namespace {
constexpr size_t kVisitBatch = 20'000;
}  // namespace

absl::Status StagedEpoch::Find(std::span<const Hash128> keys, std::span<RowLocation> out) {
  RETURN_IF_ERROR(MoveToScratch());
  if (scratch_ == nullptr) {
    std::fill(out.begin(), out.end(), kNoRow);
  } else {
    scratch_->Find(keys, out);
  }
  return absl::OkStatus();
}

// Only when there is a part before the one that begins: most epochs have one part and never get
// here.
absl::Status StagedEpoch::MoveToScratch() {
  if (!part_ended_) return absl::OkStatus();
  if (!part_.empty()) {
    if (scratch_ == nullptr) {
      ASSIGN_OR_RETURN(scratch_, RowIndex::CreateScratch(folder_, seed_));
    }
    RETURN_IF_ERROR(scratch_->Apply(part_));
    part_.clear();
  }
  part_ended_ = false;
  return absl::OkStatus();
}

void StagedEpoch::MarkStale(RowLocation place) {
  for (StagedFile& file : files_) {
    if (file.number == place.file) file.deleted.Add(place.position);
  }
}

absl::Status StagedEpoch::Finish() {
  part_ended_ = true;
  return scratch_ == nullptr ? absl::OkStatus() : MoveToScratch();
}

std::vector<StagedFile> StagedEpoch::Clear() {
  cleared_ = true;
  part_.clear();
  scratch_.reset();
  part_ended_ = false;
  return std::exchange(files_, {});
}

const StagedFile* StagedEpoch::FindFile(FileNumber number) const {
  for (const StagedFile& file : files_) {
    if (file.number == number) return &file;
  }
  return nullptr;
}

absl::Status StagedEpoch::ForEach(
    absl::FunctionRef<absl::Status(std::span<const IndexChange>)> visit) const {
  if (scratch_ == nullptr) {
    const std::span<const IndexChange> all(part_);
    for (size_t i = 0; i < all.size(); i += kVisitBatch) {
      RETURN_IF_ERROR(visit(all.subspan(i, std::min(kVisitBatch, all.size() - i))));
    }
    return absl::OkStatus();
  }
  std::vector<IndexChange> batch;
  absl::Status status;
  scratch_->ForEachEntry([&](const Hash128& key, RowLocation location) {
    if (!status.ok()) return;
    batch.push_back({key, location});
    if (batch.size() < kVisitBatch) return;
    status = visit(batch);
    batch.clear();
  });
  if (status.ok() && !batch.empty()) status = visit(batch);
  return status;
}

}  // namespace fjord
