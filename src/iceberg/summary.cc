#include "iceberg/summary.h"

#include <optional>
#include <string_view>

#include "base/strings.h"

namespace fjord {
namespace {

constexpr std::string_view kPuffinFormat = "PUFFIN";

void PutCount(SnapshotSummary& summary, std::string_view key, int64_t count) {
  if (count != 0) summary[std::string(key)] = StrCat(count);
}

// The parent's total; nothing when it is not known.
std::optional<int64_t> ParentTotal(const SnapshotSummary* parent, std::string_view key) {
  if (parent == nullptr) return 0;
  const auto found = parent->find(std::string(key));
  if (found == parent->end()) return std::nullopt;
  return ParseInt<int64_t>(found->second);
}

void PutTotal(SnapshotSummary& summary, const SnapshotSummary* parent, std::string_view key,
              int64_t added, int64_t removed) {
  const std::optional<int64_t> before = ParentTotal(parent, key);
  int64_t total = 0;
  if (!before || __builtin_add_overflow(*before, added, &total) ||
      __builtin_sub_overflow(total, removed, &total) || total < 0) {
    return;  // no total is better than a wrong one
  }
  summary[std::string(key)] = StrCat(total);
}

}  // namespace

const char* OperationName(SnapshotOperation operation) {
  switch (operation) {
    case SnapshotOperation::kAppend: return "append";
    case SnapshotOperation::kDelete: return "delete";
    case SnapshotOperation::kOverwrite: return "overwrite";
    case SnapshotOperation::kReplace: return "replace";
  }
  return "overwrite";
}

void SummaryDelta::Side::Count(const DataFile& file) {
  // Many deletion vectors share one Puffin file; each counts its own part.
  files_size += file.content_size_in_bytes.value_or(file.file_size_in_bytes);
  switch (file.content) {
    case FileContent::kData:
      ++data_files;
      records += file.record_count;
      break;
    case FileContent::kPositionDeletes:
      ++delete_files;
      ++(file.file_format == kPuffinFormat ? deletion_vectors : position_delete_files);
      position_deletes += file.record_count;
      break;
    case FileContent::kEqualityDeletes:
      ++delete_files;
      ++equality_delete_files;
      equality_deletes += file.record_count;
      break;
  }
}

void SummaryDelta::Add(const DataFile& file) {
  added_.Count(file);
  partitions_.insert(file.partition);
}

void SummaryDelta::Remove(const DataFile& file) {
  removed_.Count(file);
  partitions_.insert(file.partition);
}

SnapshotOperation SummaryDelta::Operation() const {
  const bool adds_rows = added_.data_files > 0;
  const bool deletes_rows = added_.delete_files > 0 || removed_.data_files > 0;
  // Delete files that go without their data file: rows come back, unless the caller knows better.
  const bool restores_rows = removed_.delete_files > 0 && removed_.data_files == 0;
  if (restores_rows || (adds_rows && deletes_rows)) return SnapshotOperation::kOverwrite;
  return deletes_rows ? SnapshotOperation::kDelete : SnapshotOperation::kAppend;
}

SnapshotSummary BuildSummary(SnapshotOperation operation, const SummaryDelta& delta,
                             const SnapshotSummary* parent, SnapshotSummary extra) {
  const SummaryDelta::Side& added = delta.added_;
  const SummaryDelta::Side& removed = delta.removed_;
  SnapshotSummary summary = std::move(extra);
  summary["operation"] = OperationName(operation);
  PutCount(summary, "added-data-files", added.data_files);
  PutCount(summary, "deleted-data-files", removed.data_files);
  PutCount(summary, "added-delete-files", added.delete_files);
  PutCount(summary, "removed-delete-files", removed.delete_files);
  PutCount(summary, "added-equality-delete-files", added.equality_delete_files);
  PutCount(summary, "removed-equality-delete-files", removed.equality_delete_files);
  PutCount(summary, "added-position-delete-files", added.position_delete_files);
  PutCount(summary, "removed-position-delete-files", removed.position_delete_files);
  PutCount(summary, "added-dvs", added.deletion_vectors);
  PutCount(summary, "removed-dvs", removed.deletion_vectors);
  PutCount(summary, "added-records", added.records);
  PutCount(summary, "deleted-records", removed.records);
  PutCount(summary, "added-files-size", added.files_size);
  PutCount(summary, "removed-files-size", removed.files_size);
  PutCount(summary, "added-position-deletes", added.position_deletes);
  PutCount(summary, "removed-position-deletes", removed.position_deletes);
  PutCount(summary, "added-equality-deletes", added.equality_deletes);
  PutCount(summary, "removed-equality-deletes", removed.equality_deletes);
  PutCount(summary, "changed-partition-count", static_cast<int64_t>(delta.partitions_.size()));
  PutTotal(summary, parent, "total-data-files", added.data_files, removed.data_files);
  PutTotal(summary, parent, "total-delete-files", added.delete_files, removed.delete_files);
  PutTotal(summary, parent, "total-records", added.records, removed.records);
  PutTotal(summary, parent, "total-files-size", added.files_size, removed.files_size);
  PutTotal(summary, parent, "total-position-deletes", added.position_deletes,
           removed.position_deletes);
  PutTotal(summary, parent, "total-equality-deletes", added.equality_deletes,
           removed.equality_deletes);
  return summary;
}

}  // namespace fjord
