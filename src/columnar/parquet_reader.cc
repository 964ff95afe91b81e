#include "columnar/parquet_reader.h"

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <parquet/api/reader.h>
#include <parquet/api/schema.h>

#include <algorithm>
#include <cstring>

#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr int64_t kBatchRows = 16'384;

// Arrow's random access interface over our object.
class ObjectAdapter : public arrow::io::RandomAccessFile {
 public:
  explicit ObjectAdapter(std::unique_ptr<ReadableObject> object) : object_(std::move(object)) {}
  arrow::Result<int64_t> GetSize() override { return static_cast<int64_t>(object_->size()); }
  arrow::Result<int64_t> ReadAt(int64_t position, int64_t size, void* out) override {
    const int64_t left = std::max<int64_t>(0, static_cast<int64_t>(object_->size()) - position);
    const int64_t count = std::min(size, left);
    status_ = object_->ReadAt(static_cast<uint64_t>(position), static_cast<char*>(out), static_cast<size_t>(count));
    if (!status_.ok()) return arrow::Status::IOError("the object could not be read");
    return count;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t size) override {
    ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::ResizableBuffer> buffer, arrow::AllocateResizableBuffer(size));
    ARROW_ASSIGN_OR_RAISE(const int64_t read, ReadAt(position, size, buffer->mutable_data()));
    ARROW_RETURN_NOT_OK(buffer->Resize(read));
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }
  arrow::Result<int64_t> Read(int64_t size, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const int64_t read, ReadAt(at_, size, out));
    at_ += read;
    return read;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t size) override {
    ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(at_, size));
    at_ += buffer->size();
    return buffer;
  }
  arrow::Status Seek(int64_t position) override {
    at_ = position;
    return arrow::Status::OK();
  }
  arrow::Result<int64_t> Tell() const override { return at_; }
  arrow::Status Close() override { return arrow::Status::OK(); }
  bool closed() const override { return false; }
  const absl::Status& status() const { return status_; }

 private:
  std::unique_ptr<ReadableObject> object_;
  int64_t at_ = 0;
  absl::Status status_;
};

absl::int128 BigEndian(const uint8_t* bytes, size_t size) {
  absl::int128 value = size > 0 && (bytes[0] & 0x80) != 0 ? -1 : 0;
  for (size_t i = 0; i < size; ++i) value = (value << 8) | absl::int128(bytes[i]);
  return value;
}

absl::int128 PowerOfTen(int n) {
  absl::int128 power = 1;
  for (int i = 0; i < n; ++i) power *= 10;
  return power;
}

// Reads `count` rows of one column chunk and appends them to a column.
class ChunkReader {
 public:
  ChunkReader(std::shared_ptr<parquet::ColumnReader> reader, const FileField& field)
      : reader_(std::move(reader)), field_(field), descriptor_(reader_->descr()) {}

  void Skip(int64_t rows) {
    switch (descriptor_->physical_type()) {
      case parquet::Type::BOOLEAN: static_cast<parquet::BoolReader*>(reader_.get())->Skip(rows); return;
      case parquet::Type::INT32: static_cast<parquet::Int32Reader*>(reader_.get())->Skip(rows); return;
      case parquet::Type::INT64: static_cast<parquet::Int64Reader*>(reader_.get())->Skip(rows); return;
      case parquet::Type::FLOAT: static_cast<parquet::FloatReader*>(reader_.get())->Skip(rows); return;
      case parquet::Type::DOUBLE: static_cast<parquet::DoubleReader*>(reader_.get())->Skip(rows); return;
      case parquet::Type::BYTE_ARRAY: static_cast<parquet::ByteArrayReader*>(reader_.get())->Skip(rows); return;
      case parquet::Type::FIXED_LEN_BYTE_ARRAY:
        static_cast<parquet::FixedLenByteArrayReader*>(reader_.get())->Skip(rows);
        return;
      default: return;
    }
  }

  absl::Status Read(int64_t rows, Column& out, Arena& arena) {
    switch (descriptor_->physical_type()) {
      case parquet::Type::BOOLEAN:
        return ReadAs<parquet::BoolReader>(rows, out, [&](bool v) { return PutInteger(out, v ? 1 : 0); });
      case parquet::Type::INT32:
        return ReadAs<parquet::Int32Reader>(rows, out, [&](int32_t v) { return PutInteger(out, v); });
      case parquet::Type::INT64:
        return ReadAs<parquet::Int64Reader>(rows, out, [&](int64_t v) { return PutInteger(out, v); });
      case parquet::Type::FLOAT:
        return ReadAs<parquet::FloatReader>(rows, out, [&](float v) { return PutFloat(out, v); });
      case parquet::Type::DOUBLE:
        return ReadAs<parquet::DoubleReader>(rows, out, [&](double v) { return PutFloat(out, v); });
      case parquet::Type::BYTE_ARRAY:
        return ReadAs<parquet::ByteArrayReader>(rows, out, [&](const parquet::ByteArray& v) {
          return PutBytes(out, arena, v.ptr, v.len);
        });
      case parquet::Type::FIXED_LEN_BYTE_ARRAY:
        return ReadAs<parquet::FixedLenByteArrayReader>(rows, out, [&](const parquet::FixedLenByteArray& v) {
          return PutBytes(out, arena, v.ptr, static_cast<size_t>(descriptor_->type_length()));
        });
      default: return Unfit();
    }
  }

 private:
  absl::Status Unfit() const {
    return absl::FailedPreconditionError(StrCat("column ", field_.name, " of a data file has Parquet type ",
                                                parquet::TypeToString(descriptor_->physical_type()),
                                                ", which is no ", TypeName(field_.type)));
  }

  template <class Reader, class Put>
  absl::Status ReadAs(int64_t rows, Column& out, Put put) {
    auto* reader = static_cast<Reader*>(reader_.get());
    const bool optional = descriptor_->max_definition_level() > 0;
    std::vector<int16_t> levels(static_cast<size_t>(rows));
    const auto values = std::make_unique<typename Reader::T[]>(static_cast<size_t>(rows));
    while (rows > 0) {
      int64_t read = 0;
      const int64_t count = reader->ReadBatch(rows, levels.data(), nullptr, values.get(), &read);
      if (count == 0) return absl::DataLossError(StrCat("a data file has fewer values of ", field_.name, " than rows"));
      int64_t at = 0;
      for (int64_t i = 0; i < count; ++i) {
        if (optional && levels[static_cast<size_t>(i)] < descriptor_->max_definition_level()) {
          out.AppendNull();
          continue;
        }
        RETURN_IF_ERROR(put(values[static_cast<size_t>(at++)]));
        out.valid.push_back(1);
      }
      rows -= count;
    }
    return absl::OkStatus();
  }

  // Time units other than microseconds come from other writers.
  absl::StatusOr<int64_t> ToMicros(int64_t value) const {
    const auto& logical = descriptor_->logical_type();
    parquet::LogicalType::TimeUnit::unit unit = parquet::LogicalType::TimeUnit::MICROS;
    if (logical->is_timestamp()) unit = static_cast<const parquet::TimestampLogicalType&>(*logical).time_unit();
    if (logical->is_time()) unit = static_cast<const parquet::TimeLogicalType&>(*logical).time_unit();
    if (unit == parquet::LogicalType::TimeUnit::MILLIS) return value * 1000;
    if (unit != parquet::LogicalType::TimeUnit::NANOS) return value;
    if (value % 1000 != 0) {
      return absl::FailedPreconditionError(StrCat("column ", field_.name, " of a data file has nanoseconds"));
    }
    return value / 1000;
  }

  absl::Status PutInteger(Column& out, int64_t value) {
    switch (field_.type.kind) {
      case TypeKind::kBoolean:
      case TypeKind::kInt:
      case TypeKind::kDate: out.int32s.push_back(static_cast<int32_t>(value)); return absl::OkStatus();
      case TypeKind::kLong: out.int64s.push_back(value); return absl::OkStatus();
      case TypeKind::kTime:
      case TypeKind::kTimestamp:
      case TypeKind::kTimestampTz: {
        ASSIGN_OR_RETURN(const int64_t micros, ToMicros(value));
        out.int64s.push_back(micros);
        return absl::OkStatus();
      }
      case TypeKind::kDecimal: return PutDecimal(out, value);
      default: return Unfit();
    }
  }

  absl::Status PutDecimal(Column& out, absl::int128 value) {
    const int scale = descriptor_->type_scale();
    if (scale > field_.type.scale) return Unfit();
    out.int128s.push_back(value * PowerOfTen(field_.type.scale - scale));
    return absl::OkStatus();
  }

  template <class T>
  absl::Status PutFloat(Column& out, T value) {
    if (field_.type.kind == TypeKind::kDouble) {
      out.doubles.push_back(value);
    } else if (field_.type.kind == TypeKind::kFloat && std::is_same_v<T, float>) {
      out.floats.push_back(static_cast<float>(value));
    } else {
      return Unfit();
    }
    return absl::OkStatus();
  }

  absl::Status PutBytes(Column& out, Arena& arena, const uint8_t* bytes, size_t size) {
    switch (field_.type.kind) {
      case TypeKind::kString:
      case TypeKind::kBinary:
      case TypeKind::kUuid:
        if (field_.type.kind == TypeKind::kUuid && size != 16) return Unfit();
        out.bytes.push_back(arena.Copy({reinterpret_cast<const char*>(bytes), size}));
        return absl::OkStatus();
      case TypeKind::kDecimal:
        if (size > 16) return Unfit();
        return PutDecimal(out, BigEndian(bytes, size));
      default: return Unfit();
    }
  }

  std::shared_ptr<parquet::ColumnReader> reader_;
  const FileField& field_;
  const parquet::ColumnDescriptor* descriptor_;
};

}  // namespace

class ParquetReader::Impl {
 public:
  explicit Impl(std::unique_ptr<ReadableObject> object) : source_(std::make_shared<ObjectAdapter>(std::move(object))) {
    parquet::ReaderProperties properties;
    properties.enable_buffered_stream();
    properties.set_buffer_size(256 << 10);
    reader_ = parquet::ParquetFileReader::Open(source_, properties);
    metadata_ = reader_->metadata();
  }

  int64_t rows() const { return metadata_->num_rows(); }

  absl::Status ReadColumns(const std::vector<FileField>& fields,
                           absl::FunctionRef<absl::Status(const ColumnBatch&, uint64_t)> visit) {
    try {
      ASSIGN_OR_RETURN(const std::vector<int> columns, Resolve(fields));
      ColumnBatch batch = Empty(fields);
      uint64_t first_row = 0;
      for (int group = 0; group < metadata_->num_row_groups(); ++group) {
        std::vector<std::unique_ptr<ChunkReader>> chunks = OpenChunks(group, columns, fields);
        int64_t left = metadata_->RowGroup(group)->num_rows();
        while (left > 0) {
          const int64_t count = std::min(left, kBatchRows);
          batch.Clear();
          for (size_t i = 0; i < fields.size(); ++i) RETURN_IF_ERROR(ReadInto(chunks[i].get(), count, batch, i));
          RETURN_IF_ERROR(visit(batch, first_row));
          first_row += static_cast<uint64_t>(count);
          left -= count;
        }
      }
      return absl::OkStatus();
    } catch (const std::exception& e) {
      return Caught(e);
    }
  }

  absl::StatusOr<ColumnBatch> ReadRows(std::span<const RowPosition> positions, const std::vector<FileField>& fields) {
    try {
      ASSIGN_OR_RETURN(const std::vector<int> columns, Resolve(fields));
      ColumnBatch batch = Empty(fields);
      size_t at = 0;
      int64_t group_start = 0;
      for (int group = 0; group < metadata_->num_row_groups() && at < positions.size(); ++group) {
        const int64_t group_rows = metadata_->RowGroup(group)->num_rows();
        size_t end = at;
        while (end < positions.size() && int64_t{positions[end].value} < group_start + group_rows) ++end;
        if (end > at) {
          std::vector<std::unique_ptr<ChunkReader>> chunks = OpenChunks(group, columns, fields);
          for (size_t i = 0; i < fields.size(); ++i) {
            RETURN_IF_ERROR(ReadPicked(chunks[i].get(), positions.subspan(at, end - at), group_start, batch, i));
          }
        }
        at = end;
        group_start += group_rows;
      }
      if (at < positions.size()) return absl::DataLossError("a row position lies beyond the end of its data file");
      return batch;
    } catch (const std::exception& e) {
      return Caught(e);
    }
  }

 private:
  absl::Status Caught(const std::exception& e) {
    RETURN_IF_ERROR(source_->status());
    return absl::DataLossError(StrCat("reading Parquet: ", e.what()));
  }

  static ColumnBatch Empty(const std::vector<FileField>& fields) {
    ColumnBatch batch;
    for (const FileField& field : fields) batch.columns.emplace_back(field.type);
    return batch;
  }

  // The leaf column of each field; -1 where the file has none.
  absl::StatusOr<std::vector<int>> Resolve(const std::vector<FileField>& fields) const {
    const parquet::SchemaDescriptor* schema = metadata_->schema();
    bool any_id = schema->num_columns() == 0;
    std::vector<int> columns;
    for (const FileField& field : fields) {
      int found = -1;
      for (int i = 0; i < schema->num_columns(); ++i) {
        const auto& node = schema->Column(i)->schema_node();
        any_id |= node->field_id() >= 0;
        if (node->field_id() == field.id.value && schema->Column(i)->max_repetition_level() == 0) found = i;
      }
      columns.push_back(found);
    }
    if (!any_id) return absl::FailedPreconditionError("a data file has no Iceberg field ids");
    return columns;
  }

  std::vector<std::unique_ptr<ChunkReader>> OpenChunks(int group, const std::vector<int>& columns,
                                                       const std::vector<FileField>& fields) {
    const auto row_group = reader_->RowGroup(group);
    std::vector<std::unique_ptr<ChunkReader>> chunks;
    for (size_t i = 0; i < columns.size(); ++i) {
      chunks.push_back(columns[i] < 0 ? nullptr : std::make_unique<ChunkReader>(row_group->Column(columns[i]), fields[i]));
    }
    return chunks;
  }

  static absl::Status ReadInto(ChunkReader* chunk, int64_t count, ColumnBatch& batch, size_t index) {
    Column& column = batch.columns[index];
    if (chunk != nullptr) return chunk->Read(count, column, batch.arena);
    for (int64_t i = 0; i < count; ++i) column.AppendNull();
    return absl::OkStatus();
  }

  static absl::Status ReadPicked(ChunkReader* chunk, std::span<const RowPosition> positions, int64_t group_start,
                                 ColumnBatch& batch, size_t index) {
    int64_t next = group_start;
    for (size_t i = 0; i < positions.size();) {
      size_t end = i + 1;
      while (end < positions.size() && positions[end].value == positions[end - 1].value + 1) ++end;
      const int64_t run = static_cast<int64_t>(end - i);
      if (chunk != nullptr && int64_t{positions[i].value} > next) chunk->Skip(int64_t{positions[i].value} - next);
      RETURN_IF_ERROR(ReadInto(chunk, run, batch, index));
      next = int64_t{positions[i].value} + run;
      i = end;
    }
    return absl::OkStatus();
  }

  std::shared_ptr<ObjectAdapter> source_;
  std::unique_ptr<parquet::ParquetFileReader> reader_;
  std::shared_ptr<parquet::FileMetaData> metadata_;
};

ParquetReader::ParquetReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ParquetReader::~ParquetReader() = default;

absl::StatusOr<std::unique_ptr<ParquetReader>> ParquetReader::Open(std::unique_ptr<ReadableObject> object) {
  try {
    return std::unique_ptr<ParquetReader>(new ParquetReader(std::make_unique<Impl>(std::move(object))));
  } catch (const std::exception& e) {
    return absl::DataLossError(StrCat("not a Parquet file: ", e.what()));
  }
}

int64_t ParquetReader::rows() const { return impl_->rows(); }
absl::Status ParquetReader::ReadColumns(const std::vector<FileField>& fields,
                                        absl::FunctionRef<absl::Status(const ColumnBatch&, uint64_t)> visit) {
  return impl_->ReadColumns(fields, visit);
}
absl::StatusOr<ColumnBatch> ParquetReader::ReadRows(std::span<const RowPosition> positions,
                                                    const std::vector<FileField>& fields) {
  return impl_->ReadRows(positions, fields);
}

}  // namespace fjord
