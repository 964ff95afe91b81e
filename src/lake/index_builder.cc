#include "lake/index_builder.h"

#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {
constexpr size_t kBatchRows = 65'536;  // neighbours in the index are changed together
}  // namespace

absl::StatusOr<std::unique_ptr<IndexBuilder>> IndexBuilder::Create(IndexIdentity identity) {
  std::unique_ptr<IndexBuilder> builder(new IndexBuilder(std::move(identity)));
  const IndexIdentity& made = builder->identity_;
  ASSIGN_OR_RETURN(builder->index_,
                   RowIndex::Create(made.path, {.seed = made.seed, .table_uuid = made.table_uuid}));
  ASSIGN_OR_RETURN(builder->registry_, FileRegistry::Create(made.registry_path, SnapshotId(-1)));
  return builder;
}

FileNumber IndexBuilder::Begin(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return numbers_[path] = registry_->Allocate();
}

void IndexBuilder::GiveUp(const std::string& path, FileNumber number) {
  const std::lock_guard lock(mutex_);
  numbers_.erase(path);
  given_up_.insert(number);
}

absl::Status IndexBuilder::Apply(const std::string& path, std::span<const IndexChange> changes) {
  const std::lock_guard lock(mutex_);
  previous_.resize(changes.size());
  RETURN_IF_ERROR(index_->ApplyAndFetch(changes, previous_));
  for (const RowLocation& place : previous_) {
    if (!place.present() || given_up_.contains(place.file)) continue;
    return absl::FailedPreconditionError(
        StrCat(identity_.display_name, ": the lake table has two rows of one key, one of them in ",
               path, ". Drop the lake table to have it copied again."));
  }
  return absl::OkStatus();
}

absl::StatusOr<BuiltIndex> IndexBuilder::Finish(const LiveFiles& files, const IndexState& head) && {
  const std::lock_guard lock(mutex_);
  RegistryStep step{.base = RegistryStep::Base::kClear};
  uint64_t rows = 0;
  for (const auto& [path, file] : files.data) {
    const auto number = numbers_.find(path);
    if (number == numbers_.end()) return absl::InternalError(StrCat(path, " was not indexed"));
    rows += static_cast<uint64_t>(file.live_rows());
    step.added.push_back({.number = number->second,
                          .path = path,
                          .record_count = static_cast<uint64_t>(file.file.record_count),
                          .sequence_number = file.sequence_number,
                          .deleted = file.deleted});
  }
  // Every live file is indexed whole and no key came twice: as many entries as rows means that
  // nothing of a file that was given up is left.
  if (index_->size() != rows || numbers_.size() != files.data.size()) {
    return absl::InternalError(StrCat(index_->size(), " rows of ", numbers_.size(),
                                      " files were indexed, and the table has ", rows, " of ",
                                      files.data.size()));
  }
  if (head.snapshot != SnapshotId(-1)) RETURN_IF_ERROR(registry_->Append(head.snapshot, step));
  RETURN_IF_ERROR(index_->FinishStep(head));
  return BuiltIndex{std::move(index_), std::move(registry_)};
}

IndexedFile::IndexedFile(IndexBuilder& builder, std::string path, std::vector<int> key)
    : builder_(builder),
      path_(std::move(path)),
      key_(std::move(key)),
      number_(builder_.Begin(path_)) {}

IndexedFile::~IndexedFile() {
  if (!finished_) builder_.GiveUp(path_, number_);
}

absl::Status IndexedFile::Add(const ColumnBatch& batch, size_t row, RowPosition position) {
  bytes_.clear();
  AppendKeyBytes(batch, row, key_, bytes_);
  changes_.push_back({SipHash128(builder_.identity_.seed, bytes_), {number_, position}});
  if (changes_.size() < kBatchRows) return absl::OkStatus();
  RETURN_IF_ERROR(builder_.Apply(path_, changes_));
  changes_.clear();
  return absl::OkStatus();
}

absl::Status IndexedFile::Finish() {
  RETURN_IF_ERROR(builder_.Apply(path_, changes_));
  finished_ = true;
  return absl::OkStatus();
}

}  // namespace fjord
