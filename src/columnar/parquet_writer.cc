#include "columnar/parquet_writer.h"

#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <parquet/api/schema.h>
#include <parquet/api/writer.h>

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "columnar/arrow_streams.h"
#include "columnar/chunk_writer.h"
#include "columnar/dictionary_choice.h"
#include "columnar/parquet_schema.h"

namespace fjord {
namespace {

// `first` is the file's first batch; null when the file has no rows.
std::shared_ptr<parquet::WriterProperties> Properties(const ParquetWriteOptions& options,
                                                      const std::vector<FileField>& fields,
                                                      const ColumnBatch* first) {
  parquet::WriterProperties::Builder builder;
  // Arrow's own allocators hold on to freed row groups: twice the memory at
  // the peak, and no faster.
  builder.memory_pool(arrow::system_memory_pool())
      ->compression(parquet::Compression::ZSTD)
      ->compression_level(options.zstd_level)
      ->data_pagesize(static_cast<int64_t>(options.page_bytes))
      ->dictionary_pagesize_limit(static_cast<int64_t>(options.dictionary_bytes_max))
      ->data_page_version(parquet::ParquetDataPageVersion::V1)
      ->version(parquet::ParquetVersion::PARQUET_2_6)
      ->set_size_statistics_level(parquet::SizeStatisticsLevel::None)
      ->disable_write_page_index()
      ->enable_page_checksum()
      ->created_by("fjord");
  if (first == nullptr || options.dictionary == DictionaryUse::kAlways) return builder.build();
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!DictionaryPays(first->columns[i])) builder.disable_dictionary(fields[i].name);
  }
  return builder.build();
}

absl::Status CheckShape(const std::vector<FileField>& fields, const ColumnBatch& batch) {
  if (batch.columns.size() != fields.size()) {
    return absl::InvalidArgumentError(
        StrCat("a file of ", fields.size(), " columns got ", batch.columns.size()));
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    if (batch.columns[i].type != fields[i].type || batch.columns[i].size() != batch.rows()) {
      return absl::InvalidArgumentError(
          StrCat("column ", fields[i].name, " of ", TypeName(fields[i].type), " got ",
                 batch.columns[i].size(), " values of ", TypeName(batch.columns[i].type)));
    }
  }
  return absl::OkStatus();
}

// What the batch must not hold; `stats` is of all values so far, the batch included.
absl::Status CheckValues(const FileField& field, const Column& column, const ColumnStats& stats) {
  if (field.required && stats.null_count() > 0) {
    return absl::InvalidArgumentError(StrCat("column ", field.name, " is required and got a null"));
  }
  if (field.type.kind == TypeKind::kDecimal && stats.has_range()) {
    const absl::int128 limit = PowerOfTen(field.type.precision);
    if (stats.max_int128() >= limit || stats.min_int128() <= -limit) {
      return absl::InvalidArgumentError(StrCat("column ", field.name,
                                               " got a value of more digits than ",
                                               TypeName(field.type), " has"));
    }
  }
  if (field.type.kind == TypeKind::kUuid) {
    for (size_t i = 0; i < column.size(); ++i) {
      if (column.valid[i] == 0 || column.bytes[i].size() == 16) continue;
      return absl::InvalidArgumentError(
          StrCat("column ", field.name, " got a UUID of ", column.bytes[i].size(), " bytes"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

class ParquetWriter::Impl {
 public:
  Impl(std::vector<FileField> fields, const ParquetWriteOptions& options,
       std::unique_ptr<WriteStream> stream)
      : fields_(std::move(fields)),
        options_(options),
        stream_(std::move(stream)),
        chunks_(options.page_bytes) {
    for (const FileField& field : fields_)
      columns_.push_back({field.id, 0, ColumnStats(field.type)});
  }
  ~Impl() {
    if (finished_) return;
    // Parquet's writer closes its file on its way out; nothing of that may reach a
    // stream that has ended.
    if (error_.ok()) error_ = absl::CancelledError("the file is given up");
    stream_->Abort();
  }

  absl::Status Append(const ColumnBatch& batch) {
    RETURN_IF_ERROR(error_);
    if (batch.rows() == 0) return absl::OkStatus();
    absl::Status status = AppendRows(batch);
    if (!status.ok() && error_.ok()) error_ = status;
    return error_;
  }

  int64_t rows() const { return rows_; }
  int64_t held_bytes() const {
    if (group_ == nullptr) return 0;
    const parquet::RowGroupWriter::BufferedStats unpaged = group_->estimated_buffered_stats();
    return group_->total_compressed_bytes_written() + group_->total_compressed_bytes() +
           unpaged.def_level_bytes + unpaged.value_bytes + unpaged.dict_bytes;
  }
  int64_t bytes() const { return static_cast<int64_t>(stream_->bytes_written()) + held_bytes(); }

  absl::StatusOr<WrittenFile> Finish() {
    RETURN_IF_ERROR(error_);
    WrittenFile file{.record_count = rows_};
    try {
      if (writer_ == nullptr) Open(nullptr);
      CloseGroup();
      writer_->Close();
      Describe(*writer_->metadata(), file);
    } catch (const std::exception& e) {
      if (error_.ok()) error_ = Caught(e);
      return error_;
    }
    error_ = stream_->Close();
    RETURN_IF_ERROR(error_);
    finished_ = true;
    file.file_size_in_bytes = static_cast<int64_t>(stream_->bytes_written());
    file.columns = std::move(columns_);
    return file;
  }

 private:
  static absl::Status Caught(const std::exception& e) {
    return absl::InternalError(StrCat("writing Parquet: ", e.what()));
  }

  absl::Status AppendRows(const ColumnBatch& batch) {
    RETURN_IF_ERROR(CheckShape(fields_, batch));
    std::vector<int64_t> nulls(fields_.size());
    for (size_t i = 0; i < fields_.size(); ++i) {
      ColumnStats& stats = columns_[i].stats;
      const int64_t before = stats.null_count();
      stats.Add(batch.columns[i]);
      nulls[i] = stats.null_count() - before;
      RETURN_IF_ERROR(CheckValues(fields_[i], batch.columns[i], stats));
    }
    try {
      if (writer_ == nullptr) Open(&batch);
      if (group_ == nullptr) group_ = writer_->AppendBufferedRowGroup();
      for (size_t i = 0; i < fields_.size(); ++i) {
        chunks_.Write(fields_[i], batch.columns[i], nulls[i], *group_->column(static_cast<int>(i)));
      }
      rows_ += static_cast<int64_t>(batch.rows());
      if (held_bytes() >= static_cast<int64_t>(options_.row_group_bytes_max)) CloseGroup();
    } catch (const std::exception& e) {
      return Caught(e);
    }
    return absl::OkStatus();
  }

  // Late, since the first rows decide which columns get a dictionary.
  void Open(const ColumnBatch* first) {
    sink_ = AdaptForArrow(*stream_, error_);
    writer_ = parquet::ParquetFileWriter::Open(sink_, MakeParquetSchema(fields_),
                                               Properties(options_, fields_, first));
  }

  void CloseGroup() {
    if (group_ == nullptr) return;
    group_->Close();
    group_ = nullptr;
  }

  void Describe(const parquet::FileMetaData& metadata, WrittenFile& file) {
    for (int group = 0; group < metadata.num_row_groups(); ++group) {
      const auto row_group = metadata.RowGroup(group);
      for (int i = 0; i < row_group->num_columns(); ++i) {
        const auto chunk = row_group->ColumnChunk(i);
        const int64_t start = chunk->has_dictionary_page() ? chunk->dictionary_page_offset()
                                                           : chunk->data_page_offset();
        if (i == 0) file.split_offsets.push_back(start);
        columns_[static_cast<size_t>(i)].compressed_bytes += chunk->total_compressed_size();
      }
    }
  }

  const std::vector<FileField> fields_;
  const ParquetWriteOptions options_;
  absl::Status error_;  // the first; before the writer, which looks at it until it is gone
  std::unique_ptr<WriteStream> stream_;
  std::shared_ptr<arrow::io::OutputStream> sink_;
  std::unique_ptr<parquet::ParquetFileWriter> writer_;
  parquet::RowGroupWriter* group_ = nullptr;  // null between row groups
  ChunkWriter chunks_;
  std::vector<WrittenColumn> columns_;
  int64_t rows_ = 0;
  bool finished_ = false;
};

ParquetWriter::ParquetWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ParquetWriter::~ParquetWriter() = default;

absl::StatusOr<std::unique_ptr<ParquetWriter>> ParquetWriter::Create(
    std::vector<FileField> fields, const ParquetWriteOptions& options,
    std::unique_ptr<WriteStream> stream) {
  if (fields.empty()) {
    stream->Abort();
    return absl::InvalidArgumentError("a data file needs a column");
  }
  return std::unique_ptr<ParquetWriter>(
      new ParquetWriter(std::make_unique<Impl>(std::move(fields), options, std::move(stream))));
}

absl::Status ParquetWriter::Append(const ColumnBatch& batch) { return impl_->Append(batch); }
int64_t ParquetWriter::rows() const { return impl_->rows(); }
int64_t ParquetWriter::bytes() const { return impl_->bytes(); }
int64_t ParquetWriter::held_bytes() const { return impl_->held_bytes(); }
absl::StatusOr<WrittenFile> ParquetWriter::Finish() { return impl_->Finish(); }

}  // namespace fjord
