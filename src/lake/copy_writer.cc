#include "lake/copy_writer.h"

#include "base/status.h"
#include "iceberg/bounds.h"
#include "lake/index_builder.h"

namespace fjord {
namespace {

// Iceberg's default metrics mode is truncate(16).
constexpr size_t kBoundLength = 16;

BoundValue Least(const ColumnStats& stats) {
  switch (PhysicalOf(stats.type().kind)) {
    case Physical::kInt32: return static_cast<int32_t>(stats.min_int());
    case Physical::kInt64: return stats.min_int();
    case Physical::kFloat: return static_cast<float>(stats.min_double());
    case Physical::kDouble: return stats.min_double();
    case Physical::kInt128: return stats.min_int128();
    case Physical::kBytes: return stats.min_bytes();
  }
  return int64_t{0};
}

BoundValue Greatest(const ColumnStats& stats) {
  switch (PhysicalOf(stats.type().kind)) {
    case Physical::kInt32: return static_cast<int32_t>(stats.max_int());
    case Physical::kInt64: return stats.max_int();
    case Physical::kFloat: return static_cast<float>(stats.max_double());
    case Physical::kDouble: return stats.max_double();
    case Physical::kInt128: return stats.max_int128();
    case Physical::kBytes: return stats.max_bytes();
  }
  return int64_t{0};
}

bool IsFloating(TypeKind kind) { return kind == TypeKind::kFloat || kind == TypeKind::kDouble; }

}  // namespace

CopyWriter::CopyWriter(ObjectStore* store, std::string location, std::vector<FileField> fields)
    : CopyWriter(store, std::move(location), std::move(fields), nullptr) {}
CopyWriter::CopyWriter(ObjectStore* store, std::string location, std::vector<FileField> fields,
                       std::unique_ptr<IndexedFile> indexed)
    : store_(store),
      location_(std::move(location)),
      fields_(std::move(fields)),
      indexed_(std::move(indexed)) {}
CopyWriter::~CopyWriter() = default;

absl::Status CopyWriter::Append(const ColumnBatch& rows) {
  if (writer_ == nullptr) {
    ASSIGN_OR_RETURN(std::unique_ptr<WriteStream> stream, store_->Create(location_));
    ASSIGN_OR_RETURN(writer_, ParquetWriter::Create(fields_, {}, std::move(stream)));
  }
  for (size_t row = 0; indexed_ != nullptr && row < rows.rows(); ++row) {
    const auto position = static_cast<uint32_t>(writer_->rows() + static_cast<int64_t>(row));
    RETURN_IF_ERROR(indexed_->Add(rows, row, RowPosition(position)));
  }
  return writer_->Append(rows);
}

absl::StatusOr<CopiedFile> CopyWriter::Finish() {
  if (writer_ == nullptr) return CopiedFile{};
  ASSIGN_OR_RETURN(const WrittenFile written, writer_->Finish());
  writer_.reset();
  if (indexed_ != nullptr) RETURN_IF_ERROR(indexed_->Finish());
  return CopiedFile{DescribeFile(written, location_, FileContent::kData)};
}

DataFile DescribeFile(const WrittenFile& written, std::string path, FileContent content) {
  DataFile file{.content = content,
                .file_path = std::move(path),
                .record_count = written.record_count,
                .file_size_in_bytes = written.file_size_in_bytes,
                .split_offsets = written.split_offsets};
  for (const WrittenColumn& column : written.columns) {
    const ColumnStats& stats = column.stats;
    const int32_t id = column.id.value;
    file.column_sizes[id] = column.compressed_bytes;
    file.value_counts[id] = stats.value_count();
    file.null_value_counts[id] = stats.null_count();
    if (IsFloating(stats.type().kind)) file.nan_value_counts[id] = stats.nan_count();
    if (!stats.has_range()) continue;
    // A delete file's path bounds are whole: readers see by their equality that
    // it is of one data file.
    const size_t length = content == FileContent::kData ? kBoundLength : 0;
    const Bounds bounds = MakeBounds(stats.type(), Least(stats), Greatest(stats), length);
    if (bounds.lower) file.lower_bounds[id] = *bounds.lower;
    if (bounds.upper) file.upper_bounds[id] = *bounds.upper;
  }
  return file;
}

}  // namespace fjord
