#include "columnar/chunk_writer.h"

#include <parquet/api/writer.h>

#include <cstring>
#include <vector>

#include "columnar/parquet_schema.h"

namespace fjord {
namespace {

// The values that are there, in Parquet's form.
template <class From, class To, class Convert>
const To* Present(const Column& column, const std::vector<From>& values, std::vector<To>& out,
                  Convert convert) {
  out.clear();
  out.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (column.valid[i] != 0) out.push_back(convert(values[i]));
  }
  return out.data();
}

// The last `length` bytes of the value, most significant first.
void PutBigEndian(absl::int128 value, size_t length, uint8_t* out) {
  const uint64_t words[2] = {__builtin_bswap64(static_cast<uint64_t>(absl::Int128High64(value))),
                             __builtin_bswap64(absl::Int128Low64(value))};
  std::memcpy(out, reinterpret_cast<const uint8_t*>(words) + sizeof words - length, length);
}

}  // namespace

class ChunkWriter::Impl {
 public:
  explicit Impl(uint64_t page_bytes) : page_bytes_(page_bytes) {}

  void Write(const FileField& field, const Column& column, int64_t nulls,
             parquet::ColumnWriter& writer) {
    rows_ = static_cast<int64_t>(column.size());
    levels_ = Levels(field, column, nulls);
    switch (field.type.kind) {
      case TypeKind::kBoolean: return WriteBooleans(column, writer);
      case TypeKind::kInt:
      case TypeKind::kDate:
        return WriteAsTheyAre<parquet::Int32Writer>(column, column.int32s, nulls, int32s_, writer);
      case TypeKind::kLong:
      case TypeKind::kTime:
      case TypeKind::kTimestamp:
      case TypeKind::kTimestampTz:
        return WriteAsTheyAre<parquet::Int64Writer>(column, column.int64s, nulls, int64s_, writer);
      case TypeKind::kFloat:
        return WriteAsTheyAre<parquet::FloatWriter>(column, column.floats, nulls, floats_, writer);
      case TypeKind::kDouble:
        return WriteAsTheyAre<parquet::DoubleWriter>(column, column.doubles, nulls, doubles_,
                                                     writer);
      case TypeKind::kDecimal: return WriteDecimals(field.type.precision, column, writer);
      case TypeKind::kUuid:
        return WriteBatch<parquet::FixedLenByteArrayWriter>(
            Present(column, column.bytes, fixed_,
                    [](std::string_view v) {
                      return parquet::FixedLenByteArray(reinterpret_cast<const uint8_t*>(v.data()));
                    }),
            writer);
      case TypeKind::kString:
      case TypeKind::kBinary: return WriteBytes(column, writer);
    }
  }

 private:
  // Definition levels: 1 present, 0 null; a required column has none.
  const int16_t* Levels(const FileField& field, const Column& column, int64_t nulls) {
    if (field.required) return nullptr;
    if (nulls == 0) {
      if (ones_.size() < column.size()) ones_.resize(column.size(), 1);
      return ones_.data();
    }
    some_levels_.assign(column.valid.begin(), column.valid.end());
    return some_levels_.data();
  }

  template <class Writer>
  void WriteBatch(const typename Writer::T* values, parquet::ColumnWriter& writer) {
    static_cast<Writer&>(writer).WriteBatch(rows_, levels_, nullptr, values);
  }

  // Values in Parquet's own form: without nulls they are taken from where they are.
  template <class Writer, class T>
  void WriteAsTheyAre(const Column& column, const std::vector<T>& values, int64_t nulls,
                      std::vector<T>& scratch, parquet::ColumnWriter& writer) {
    WriteBatch<Writer>(
        nulls == 0 ? values.data() : Present(column, values, scratch, [](T v) { return v; }),
        writer);
  }

  void WriteBooleans(const Column& column, parquet::ColumnWriter& writer) {
    if (bools_size_ < column.size()) {
      bools_ = std::make_unique_for_overwrite<bool[]>(
          column.size());  // std::vector<bool> has no array of bool
      bools_size_ = column.size();
    }
    size_t count = 0;
    for (size_t i = 0; i < column.size(); ++i) {
      bools_[count] = column.int32s[i] != 0;
      count += column.valid[i] != 0;
    }
    WriteBatch<parquet::BoolWriter>(bools_.get(), writer);
  }

  void WriteDecimals(int precision, const Column& column, parquet::ColumnWriter& writer) {
    if (precision <= kInt32DecimalDigitsMax) {
      return WriteBatch<parquet::Int32Writer>(
          Present(column, column.int128s, int32s_,
                  [](absl::int128 v) { return static_cast<int32_t>(v); }),
          writer);
    }
    if (precision <= kInt64DecimalDigitsMax) {
      return WriteBatch<parquet::Int64Writer>(
          Present(column, column.int128s, int64s_,
                  [](absl::int128 v) { return static_cast<int64_t>(v); }),
          writer);
    }
    const auto length = static_cast<size_t>(DecimalBytes(precision));
    fixed_bytes_.resize(column.size() * length);
    uint8_t* at = fixed_bytes_.data();
    WriteBatch<parquet::FixedLenByteArrayWriter>(
        Present(column, column.int128s, fixed_,
                [&](absl::int128 v) {
                  PutBigEndian(v, length, at);
                  at += length;
                  return parquet::FixedLenByteArray(at - length);
                }),
        writer);
  }

  // The size of a page is looked at between portions, and a page of long values could get beyond
  // what Parquet can number.
  void WriteBytes(const Column& column, parquet::ColumnWriter& writer) {
    auto& typed = static_cast<parquet::ByteArrayWriter&>(writer);
    arrays_.clear();
    uint64_t bytes = 0;
    size_t first = 0;
    for (size_t i = 0; i < column.size(); ++i) {
      if (column.valid[i] != 0) {
        const std::string_view value = column.bytes[i];
        arrays_.emplace_back(static_cast<uint32_t>(value.size()),
                             reinterpret_cast<const uint8_t*>(value.data()));
        bytes += value.size();
      }
      if (bytes < page_bytes_ && i + 1 < column.size()) continue;
      typed.WriteBatch(static_cast<int64_t>(i + 1 - first),
                       levels_ == nullptr ? nullptr : levels_ + first, nullptr, arrays_.data());
      arrays_.clear();
      bytes = 0;
      first = i + 1;
    }
  }

  const uint64_t page_bytes_;
  // Of the column being written.
  int64_t rows_ = 0;
  const int16_t* levels_ = nullptr;
  // Scratch, kept between columns and batches.
  std::vector<int16_t> ones_;
  std::vector<int16_t> some_levels_;
  std::unique_ptr<bool[]> bools_;
  size_t bools_size_ = 0;
  std::vector<int32_t> int32s_;
  std::vector<int64_t> int64s_;
  std::vector<float> floats_;
  std::vector<double> doubles_;
  std::vector<parquet::ByteArray> arrays_;
  std::vector<parquet::FixedLenByteArray> fixed_;
  std::vector<uint8_t> fixed_bytes_;
};

ChunkWriter::ChunkWriter(uint64_t page_bytes) : impl_(std::make_unique<Impl>(page_bytes)) {}
ChunkWriter::~ChunkWriter() = default;

void ChunkWriter::Write(const FileField& field, const Column& column, int64_t nulls,
                        parquet::ColumnWriter& writer) {
  impl_->Write(field, column, nulls, writer);
}

}  // namespace fjord
