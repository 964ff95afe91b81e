#include "columnar/parquet_writer.h"

#include <arrow/io/interfaces.h>
#include <arrow/util/logging.h>
#include <parquet/api/schema.h>
#include <parquet/api/writer.h>

#include <cstring>

#include "base/status.h"
#include "base/strings.h"
#include "columnar/parquet_schema.h"

namespace fjord {
namespace {

// Arrow's output interface over our stream. Errors of the stream are kept, since Arrow's statuses know no codes of ours.
class StreamAdapter : public arrow::io::OutputStream {
 public:
  explicit StreamAdapter(std::unique_ptr<WriteStream> stream) : stream_(std::move(stream)) {
    set_mode(arrow::io::FileMode::WRITE);
  }
  arrow::Status Write(const void* data, int64_t size) override {
    status_ = stream_->Write({static_cast<const char*>(data), static_cast<size_t>(size)});
    return status_.ok() ? arrow::Status::OK() : arrow::Status::IOError("the object could not be written");
  }
  arrow::Result<int64_t> Tell() const override { return static_cast<int64_t>(stream_->bytes_written()); }
  arrow::Status Close() override { return arrow::Status::OK(); }
  bool closed() const override { return false; }
  const absl::Status& status() const { return status_; }
  WriteStream& stream() { return *stream_; }

 private:
  std::unique_ptr<WriteStream> stream_;
  absl::Status status_;
};

std::shared_ptr<parquet::WriterProperties> Properties(const ParquetWriteOptions& options) {
  parquet::WriterProperties::Builder builder;
  builder.compression(parquet::Compression::ZSTD)
      ->compression_level(options.zstd_level)
      ->data_pagesize(static_cast<int64_t>(options.page_bytes))
      ->dictionary_pagesize_limit(static_cast<int64_t>(options.dictionary_bytes_max))
      ->data_page_version(parquet::ParquetDataPageVersion::V1)
      ->version(parquet::ParquetVersion::PARQUET_2_6)
      ->disable_write_page_index()
      ->created_by("fjord");
  return builder.build();
}

}  // namespace

class ParquetWriter::Impl {
 public:
  Impl(std::vector<FileField> fields, const ParquetWriteOptions& options, std::unique_ptr<WriteStream> stream)
      : fields_(std::move(fields)), options_(options), sink_(std::make_shared<StreamAdapter>(std::move(stream))) {
    for (const FileField& field : fields_) columns_.push_back({field.id, 0, ColumnStats(field.type)});
    writer_ = parquet::ParquetFileWriter::Open(sink_, MakeParquetSchema(fields_), Properties(options_));
  }
  ~Impl() {
    if (!finished_) sink_->stream().Abort();
  }

  absl::Status Append(const ColumnBatch& batch) {
    if (batch.rows() == 0) return absl::OkStatus();
    for (size_t i = 0; i < fields_.size(); ++i) {
      columns_[i].stats.Add(batch.columns[i]);
      if (fields_[i].required && columns_[i].stats.null_count() > 0) {
        return absl::InvalidArgumentError(StrCat("column ", fields_[i].name, " is required and got a null"));
      }
    }
    try {
      if (group_ == nullptr) group_ = writer_->AppendBufferedRowGroup();
      for (size_t i = 0; i < fields_.size(); ++i) WriteColumn(static_cast<int>(i), batch.columns[i]);
      rows_ += static_cast<int64_t>(batch.rows());
      if (group_->total_bytes_written() + group_->total_compressed_bytes() >
          static_cast<int64_t>(options_.row_group_bytes_max)) {
        CloseGroup();
      }
    } catch (const std::exception& e) {
      return Caught(e);
    }
    return absl::OkStatus();
  }

  int64_t rows() const { return rows_; }
  int64_t bytes() const {
    int64_t bytes = static_cast<int64_t>(sink_->stream().bytes_written());
    if (group_ != nullptr) bytes += group_->total_compressed_bytes();
    return bytes;
  }

  absl::StatusOr<WrittenFile> Finish() {
    WrittenFile file{.record_count = rows_};
    try {
      CloseGroup();
      writer_->Close();
      const std::shared_ptr<parquet::FileMetaData> metadata = writer_->metadata();
      for (int group = 0; group < metadata->num_row_groups(); ++group) {
        const auto row_group = metadata->RowGroup(group);
        for (int i = 0; i < row_group->num_columns(); ++i) {
          const auto chunk = row_group->ColumnChunk(i);
          const int64_t start = chunk->has_dictionary_page() ? chunk->dictionary_page_offset() : chunk->data_page_offset();
          if (i == 0) file.split_offsets.push_back(start);
          columns_[static_cast<size_t>(i)].compressed_bytes += chunk->total_compressed_size();
        }
      }
    } catch (const std::exception& e) {
      return Caught(e);
    }
    RETURN_IF_ERROR(sink_->stream().Close());
    finished_ = true;
    file.file_size_in_bytes = static_cast<int64_t>(sink_->stream().bytes_written());
    file.columns = std::move(columns_);
    return file;
  }

 private:
  absl::Status Caught(const std::exception& e) {
    RETURN_IF_ERROR(sink_->status());
    return absl::InternalError(StrCat("writing Parquet: ", e.what()));
  }

  void CloseGroup() {
    if (group_ == nullptr) return;
    group_->Close();
    group_ = nullptr;
  }

  // Definition levels: 1 present, 0 null. A required column has none, and values hold only what is present.
  const int16_t* Levels(const Column& column, bool required) {
    if (required) return nullptr;
    levels_.resize(column.size());
    for (size_t i = 0; i < column.size(); ++i) levels_[i] = column.valid[i];
    return levels_.data();
  }

  template <class Writer, class T, class Convert>
  void WriteValues(int index, const Column& column, const std::vector<T>& values, std::vector<typename Writer::T>& scratch,
                   Convert convert) {
    scratch.clear();
    scratch.reserve(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      if (column.valid[i] != 0) scratch.push_back(convert(values[i]));
    }
    auto* writer = static_cast<Writer*>(group_->column(index));
    writer->WriteBatch(static_cast<int64_t>(column.size()), Levels(column, fields_[static_cast<size_t>(index)].required), nullptr,
                       scratch.data());
  }

  void WriteDecimal(int index, const Column& column) {
    const int precision = column.type.precision;
    if (precision <= 9) {
      WriteValues<parquet::Int32Writer>(index, column, column.int128s, int32s_,
                                        [](absl::int128 v) { return static_cast<int32_t>(v); });
    } else if (precision <= 18) {
      WriteValues<parquet::Int64Writer>(index, column, column.int128s, int64s_,
                                        [](absl::int128 v) { return static_cast<int64_t>(v); });
    } else {
      const size_t length = static_cast<size_t>(DecimalBytes(precision));
      fixed_bytes_.resize(column.size() * length);
      size_t at = 0;
      WriteValues<parquet::FixedLenByteArrayWriter>(index, column, column.int128s, fixed_, [&](absl::int128 v) {
        uint8_t* out = fixed_bytes_.data() + at;
        at += length;
        for (size_t i = length; i-- > 0; v >>= 8) out[i] = static_cast<uint8_t>(absl::Uint128Low64(static_cast<absl::uint128>(v)));
        return parquet::FixedLenByteArray(out);
      });
    }
  }

  void WriteColumn(int index, const Column& column) {
    switch (column.type.kind) {
      case TypeKind::kBoolean: {
        // std::vector<bool> has no data(): plain bytes of the size of bool instead.
        bools_ = std::make_unique<bool[]>(column.size());
        size_t count = 0;
        for (size_t i = 0; i < column.size(); ++i) {
          if (column.valid[i] != 0) bools_[count++] = column.int32s[i] != 0;
        }
        static_cast<parquet::BoolWriter*>(group_->column(index))
            ->WriteBatch(static_cast<int64_t>(column.size()), Levels(column, fields_[static_cast<size_t>(index)].required), nullptr,
                         bools_.get());
        return;
      }
      case TypeKind::kInt:
      case TypeKind::kDate:
        return WriteValues<parquet::Int32Writer>(index, column, column.int32s, int32s_, [](int32_t v) { return v; });
      case TypeKind::kLong:
      case TypeKind::kTime:
      case TypeKind::kTimestamp:
      case TypeKind::kTimestampTz:
        return WriteValues<parquet::Int64Writer>(index, column, column.int64s, int64s_, [](int64_t v) { return v; });
      case TypeKind::kFloat:
        return WriteValues<parquet::FloatWriter>(index, column, column.floats, floats_, [](float v) { return v; });
      case TypeKind::kDouble:
        return WriteValues<parquet::DoubleWriter>(index, column, column.doubles, doubles_, [](double v) { return v; });
      case TypeKind::kDecimal: return WriteDecimal(index, column);
      case TypeKind::kUuid:
        return WriteValues<parquet::FixedLenByteArrayWriter>(index, column, column.bytes, fixed_, [](std::string_view v) {
          return parquet::FixedLenByteArray(reinterpret_cast<const uint8_t*>(v.data()));
        });
      case TypeKind::kString:
      case TypeKind::kBinary:
        return WriteValues<parquet::ByteArrayWriter>(index, column, column.bytes, arrays_, [](std::string_view v) {
          return parquet::ByteArray(static_cast<uint32_t>(v.size()), reinterpret_cast<const uint8_t*>(v.data()));
        });
    }
  }

  const std::vector<FileField> fields_;
  const ParquetWriteOptions options_;
  std::shared_ptr<StreamAdapter> sink_;
  std::unique_ptr<parquet::ParquetFileWriter> writer_;
  parquet::RowGroupWriter* group_ = nullptr;
  std::vector<WrittenColumn> columns_;
  int64_t rows_ = 0;
  bool finished_ = false;

  // Scratch, kept between batches.
  std::vector<int16_t> levels_;
  std::unique_ptr<bool[]> bools_;
  std::vector<int32_t> int32s_;
  std::vector<int64_t> int64s_;
  std::vector<float> floats_;
  std::vector<double> doubles_;
  std::vector<parquet::ByteArray> arrays_;
  std::vector<parquet::FixedLenByteArray> fixed_;
  std::vector<uint8_t> fixed_bytes_;
};

ParquetWriter::ParquetWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ParquetWriter::~ParquetWriter() = default;

absl::StatusOr<std::unique_ptr<ParquetWriter>> ParquetWriter::Create(std::vector<FileField> fields,
                                                                     const ParquetWriteOptions& options,
                                                                     std::unique_ptr<WriteStream> stream) {
  try {
    return std::unique_ptr<ParquetWriter>(
        new ParquetWriter(std::make_unique<Impl>(std::move(fields), options, std::move(stream))));
  } catch (const std::exception& e) {
    return absl::InternalError(StrCat("writing Parquet: ", e.what()));
  }
}

absl::Status ParquetWriter::Append(const ColumnBatch& batch) { return impl_->Append(batch); }
int64_t ParquetWriter::rows() const { return impl_->rows(); }
int64_t ParquetWriter::bytes() const { return impl_->bytes(); }
absl::StatusOr<WrittenFile> ParquetWriter::Finish() { return impl_->Finish(); }

}  // namespace fjord
