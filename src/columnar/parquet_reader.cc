#include "columnar/parquet_reader.h"

#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <parquet/api/reader.h>
#include <parquet/api/schema.h>

#include <algorithm>
#include <functional>

#include "base/status.h"
#include "base/strings.h"
#include "columnar/arrow_streams.h"
#include "columnar/chunk_reader.h"
#include "columnar/parquet_schema.h"

namespace fjord {
namespace {

constexpr int64_t kBatchRowsMax = 16'384;
constexpr int64_t kBatchBytes = 16 << 20;  // aimed at, by the values' average length
constexpr int64_t kStreamBufferBytes = 1 << 20;

ColumnBatch EmptyBatch(const std::vector<FileField>& fields) {
  ColumnBatch batch;
  for (const FileField& field : fields) batch.columns.emplace_back(field.type);
  return batch;
}

}  // namespace

class ParquetReader::Impl {
 public:
  Impl(std::shared_ptr<arrow::io::RandomAccessFile> source, std::shared_ptr<absl::Status> error)
      : error_(std::move(error)) {
    parquet::ReaderProperties properties(arrow::system_memory_pool());
    properties.enable_buffered_stream();
    properties.set_buffer_size(kStreamBufferBytes);
    properties.set_page_checksum_verification(true);
    reader_ = parquet::ParquetFileReader::Open(std::move(source), properties);
    metadata_ = reader_->metadata();
  }

  int64_t rows() const { return metadata_->num_rows(); }

  absl::Status ReadColumns(const std::vector<FileField>& fields,
                           absl::FunctionRef<absl::Status(const ColumnBatch&, uint64_t)> visit) {
    try {
      ASSIGN_OR_RETURN(const std::vector<int> columns, Resolve(fields));
      ColumnBatch batch = EmptyBatch(fields);
      uint64_t first_row = 0;
      for (int group = 0; group < metadata_->num_row_groups(); ++group) {
        const Chunks chunks = OpenChunks(group, columns, fields);
        int64_t batch_rows = RowsPerBatch(group, columns);
        for (int64_t left = metadata_->RowGroup(group)->num_rows(); left > 0;) {
          const int64_t count = std::min(left, batch_rows);
          batch.Clear();
          for (size_t i = 0; i < fields.size(); ++i)
            RETURN_IF_ERROR(Read(chunks[i].get(), count, batch, i));
          RETURN_IF_ERROR(visit(batch, first_row));
          // A dictionary can make values much longer than the file's size tells.
          if (static_cast<int64_t>(batch.arena.bytes_used()) > kBatchBytes)
            batch_rows = std::max<int64_t>(1, batch_rows / 2);
          first_row += static_cast<uint64_t>(count);
          left -= count;
        }
      }
      return absl::OkStatus();
    } catch (const std::exception& e) {
      return Caught(e);
    }
  }

  absl::StatusOr<ColumnBatch> ReadRows(std::span<const RowPosition> positions,
                                       const std::vector<FileField>& fields) {
    if (std::adjacent_find(positions.begin(), positions.end(), std::greater_equal<>()) !=
        positions.end()) {
      return absl::InvalidArgumentError("row positions must ascend");
    }
    try {
      ASSIGN_OR_RETURN(const std::vector<int> columns, Resolve(fields));
      ColumnBatch batch = EmptyBatch(fields);
      int64_t first_row = 0;
      for (int group = 0; group < metadata_->num_row_groups() && !positions.empty(); ++group) {
        const int64_t end_row = first_row + metadata_->RowGroup(group)->num_rows();
        const auto here = std::partition_point(
            positions.begin(), positions.end(),
            [&](RowPosition position) { return int64_t{position.value} < end_row; });
        const auto count = static_cast<size_t>(here - positions.begin());
        if (count > 0) {
          const Chunks chunks = OpenChunks(group, columns, fields);
          for (size_t i = 0; i < fields.size(); ++i) {
            RETURN_IF_ERROR(
                ReadPicked(chunks[i].get(), positions.first(count), first_row, batch, i));
          }
        }
        positions = positions.subspan(count);
        first_row = end_row;
      }
      if (!positions.empty())
        return absl::DataLossError("a row position lies beyond the end of its data file");
      return batch;
    } catch (const std::exception& e) {
      return Caught(e);
    }
  }

 private:
  using Chunks = std::vector<std::unique_ptr<ChunkReader>>;  // null: the file lacks the column

  absl::Status Caught(const std::exception& e) const {
    RETURN_IF_ERROR(*error_);
    return absl::DataLossError(StrCat("reading Parquet: ", e.what()));
  }

  // The leaf column of each field; -1 where the file has none.
  absl::StatusOr<std::vector<int>> Resolve(const std::vector<FileField>& fields) const {
    const parquet::SchemaDescriptor& schema = *metadata_->schema();
    bool any_id = false;
    for (int i = 0; i < schema.num_columns(); ++i)
      any_id |= schema.Column(i)->schema_node()->field_id() >= 0;
    if (!any_id) {
      return absl::FailedPreconditionError(
          "a data file has no Iceberg field ids, so that its columns cannot be told apart. Rewrite "
          "it with an Iceberg engine.");
    }
    std::vector<int> columns;
    for (const FileField& field : fields) {
      ASSIGN_OR_RETURN(const int column, Find(schema, field));
      columns.push_back(column);
    }
    return columns;
  }

  static absl::StatusOr<int> Find(const parquet::SchemaDescriptor& schema, const FileField& field) {
    for (int i = 0; i < schema.num_columns(); ++i) {
      const parquet::ColumnDescriptor& column = *schema.Column(i);
      if (column.schema_node()->field_id() != field.id.value || column.max_repetition_level() > 0)
        continue;
      RETURN_IF_ERROR(CheckFits(column, field));
      return i;
    }
    if (!field.required) return -1;
    return absl::FailedPreconditionError(StrCat("a data file lacks the required column ",
                                                field.name, " (field id ", field.id.value, ")"));
  }

  int64_t RowsPerBatch(int group, const std::vector<int>& columns) const {
    const auto row_group = metadata_->RowGroup(group);
    int64_t bytes = 0;
    for (const int column : columns) {
      if (column >= 0)
        bytes += std::max<int64_t>(0, row_group->ColumnChunk(column)->total_uncompressed_size());
    }
    const int64_t bytes_per_row = bytes / std::max<int64_t>(1, row_group->num_rows()) + 1;
    return std::clamp<int64_t>(kBatchBytes / bytes_per_row, 1, kBatchRowsMax);
  }

  Chunks OpenChunks(int group, const std::vector<int>& columns,
                    const std::vector<FileField>& fields) {
    const auto row_group = reader_->RowGroup(group);
    Chunks chunks;
    for (size_t i = 0; i < columns.size(); ++i) {
      chunks.push_back(columns[i] < 0 ? nullptr
                                      : ChunkReader::Create(
                                            metadata_->schema()->Column(columns[i]),
                                            row_group->GetColumnPageReader(columns[i]), fields[i]));
    }
    return chunks;
  }

  static absl::Status Read(ChunkReader* chunk, int64_t count, ColumnBatch& batch, size_t index) {
    Column& column = batch.columns[index];
    if (chunk != nullptr) return chunk->Read(count, column, batch.arena);
    for (int64_t i = 0; i < count; ++i) column.AppendNull();
    return absl::OkStatus();
  }

  static absl::Status ReadPicked(ChunkReader* chunk, std::span<const RowPosition> positions,
                                 int64_t first_row, ColumnBatch& batch, size_t index) {
    if (chunk != nullptr) chunk->Want(positions, first_row);
    for (size_t i = 0; i < positions.size();) {
      size_t end = i + 1;
      while (end < positions.size() && positions[end].value == positions[end - 1].value + 1) ++end;
      if (chunk != nullptr) RETURN_IF_ERROR(chunk->GoTo(int64_t{positions[i].value} - first_row));
      RETURN_IF_ERROR(Read(chunk, static_cast<int64_t>(end - i), batch, index));
      i = end;
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<absl::Status> error_;  // the first of the object
  std::unique_ptr<parquet::ParquetFileReader> reader_;
  std::shared_ptr<parquet::FileMetaData> metadata_;
};

ParquetReader::ParquetReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ParquetReader::~ParquetReader() = default;

absl::StatusOr<std::unique_ptr<ParquetReader>> ParquetReader::Open(
    std::unique_ptr<ReadableObject> object) {
  const auto error = std::make_shared<absl::Status>();
  try {
    return std::unique_ptr<ParquetReader>(
        new ParquetReader(std::make_unique<Impl>(AdaptForArrow(std::move(object), error), error)));
  } catch (const std::exception& e) {
    RETURN_IF_ERROR(*error);
    return absl::DataLossError(StrCat("not a Parquet file: ", e.what()));
  }
}

int64_t ParquetReader::rows() const { return impl_->rows(); }
absl::Status ParquetReader::ReadColumns(
    const std::vector<FileField>& fields,
    absl::FunctionRef<absl::Status(const ColumnBatch&, uint64_t)> visit) {
  return impl_->ReadColumns(fields, visit);
}
absl::StatusOr<ColumnBatch> ParquetReader::ReadRows(std::span<const RowPosition> positions,
                                                    const std::vector<FileField>& fields) {
  return impl_->ReadRows(positions, fields);
}

}  // namespace fjord
