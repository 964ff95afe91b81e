#include "replicate/change_block.h"

#include <utility>

#include "base/coding.h"
#include "base/status.h"

namespace fjord {
namespace {
constexpr size_t kHeaderBytes = 9;
}  // namespace

void AppendChange(std::string& out, ChangeKind kind, Xid sub_xid, std::string_view payload) {
  PutFixed32(out, static_cast<uint32_t>(payload.size()));
  out.push_back(static_cast<char>(kind));
  PutFixed32(out, sub_xid.value);
  out.append(payload);
}

void AppendCommit(std::string& out, Lsn end_lsn, int64_t commit_time_us) {
  std::string payload;
  PutFixed64(payload, end_lsn.value);
  PutFixed64(payload, static_cast<uint64_t>(commit_time_us));
  AppendChange(out, ChangeKind::kCommit, Xid(0), payload);
}

absl::StatusOr<CommitMark> ParseCommitMark(std::string_view payload) {
  if (payload.size() != 16) return absl::DataLossError("a commit record of the window is damaged");
  return CommitMark{Lsn(GetFixed64(payload.data())),
                    static_cast<int64_t>(GetFixed64(payload.data() + 8))};
}

absl::StatusOr<std::optional<ChangeRecord>> ChangeReader::Next() {
  if (bytes_.empty()) return std::nullopt;
  if (bytes_.size() < kHeaderBytes)
    return absl::DataLossError("a change record of the window is cut short");
  const uint32_t length = GetFixed32(bytes_.data());
  if (bytes_.size() - kHeaderBytes < length)
    return absl::DataLossError("a change record of the window is cut short");
  ChangeRecord record{.kind = static_cast<ChangeKind>(bytes_[4]),
                      .sub_xid = Xid(GetFixed32(bytes_.data() + 5)),
                      .payload = bytes_.substr(kHeaderBytes, length)};
  bytes_.remove_prefix(kHeaderBytes + length);
  return record;
}

ChangeBlock ChangeBlock::InMemory(std::string bytes) {
  ChangeBlock block;
  block.bytes_ = std::move(bytes);
  return block;
}

ChangeBlock ChangeBlock::InSpool(Spool* spool, SpoolRef ref) {
  ChangeBlock block;
  block.spool_ = spool;
  block.ref_ = ref;
  return block;
}

ChangeBlock::ChangeBlock(ChangeBlock&& other) noexcept
    : aborted(std::move(other.aborted)),
      bytes_(std::move(other.bytes_)),
      spool_(std::exchange(other.spool_, nullptr)),
      ref_(other.ref_) {}

ChangeBlock& ChangeBlock::operator=(ChangeBlock&& other) noexcept {
  std::swap(aborted, other.aborted);
  std::swap(bytes_, other.bytes_);
  std::swap(spool_, other.spool_);
  std::swap(ref_, other.ref_);
  return *this;
}

ChangeBlock::~ChangeBlock() {
  if (spool_ != nullptr) spool_->Release(ref_);
}

absl::StatusOr<std::string> ChangeBlock::Take() && {
  if (spool_ == nullptr) return std::move(bytes_);
  absl::StatusOr<std::string> bytes = spool_->Read(ref_);
  if (bytes.ok()) std::exchange(spool_, nullptr)->Release(ref_);
  return bytes;
}

}  // namespace fjord
