#include "columnar/chunk_reader.h"

#include <parquet/api/reader.h>
#include <parquet/api/schema.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "columnar/value_converters.h"

namespace fjord {
namespace {

constexpr int64_t kValuesPerReadMax = 16'384;

// Where pages begin and end, in rows of the row group. Parquet's page reader asks it about every
// page before decompressing it; a page that nobody wants is dropped, so that the column reader
// never knows of it.
class PageMap {
 public:
  void Want(std::span<const RowPosition> positions, int64_t first_row) {
    wanted_ = positions;
    first_row_ = first_row;
    selective_ = true;
  }
  // True: leave the page out.
  bool Skips(int64_t page_rows) {
    const int64_t begin = seen_;
    seen_ += page_rows;
    if (selective_) {
      while (next_ < wanted_.size() && int64_t{wanted_[next_].value} - first_row_ < begin) ++next_;
      if (next_ == wanted_.size() || int64_t{wanted_[next_].value} - first_row_ >= seen_)
        return true;
    }
    begin_ = begin;
    end_ = seen_;
    return false;
  }
  // Of the page that is being read.
  int64_t begin() const { return begin_; }
  int64_t end() const { return end_; }

 private:
  std::span<const RowPosition> wanted_;
  int64_t first_row_ = 0;
  bool selective_ = false;
  size_t next_ = 0;   // of wanted_
  int64_t seen_ = 0;  // rows of all pages so far
  int64_t begin_ = 0;
  int64_t end_ = 0;
};

template <class Reader, class Convert>
class TypedChunkReader : public ChunkReader {
 public:
  TypedChunkReader(const parquet::ColumnDescriptor* column,
                   std::unique_ptr<parquet::PageReader> pages, const FileField& field,
                   Convert convert)
      : field_(field), level_present_(column->max_definition_level()), convert_(convert) {
    pages->set_data_page_filter(
        [this](const parquet::DataPageStats& page) { return map_.Skips(page.num_values); });
    reader_ =
        std::static_pointer_cast<Reader>(parquet::ColumnReader::Make(column, std::move(pages)));
  }

  void Want(std::span<const RowPosition> positions, int64_t first_row) override {
    map_.Want(positions, first_row);
  }

  absl::Status GoTo(int64_t row) override {
    while (row_ < row) {
      RETURN_IF_ERROR(EnterPage());
      const int64_t target = std::min(row, map_.end());
      if (target > row_ && reader_->Skip(target - row_) != target - row_) return TooShort();
      row_ = std::max(row_, target);
    }
    return absl::OkStatus();
  }

  absl::Status Read(int64_t rows, Column& out, Arena& arena) override {
    const int64_t end = row_ + rows;
    while (row_ < end) {
      const int64_t at = row_;
      RETURN_IF_ERROR(EnterPage());
      if (row_ != at) return absl::InternalError("a row was read that was not wanted");
      const int64_t want = std::min({end - row_, map_.end() - row_, kValuesPerReadMax});
      MakeRoom(want);
      int64_t present = 0;
      const int64_t read =
          reader_->ReadBatch(want, levels_.data(), nullptr, values_.get(), &present);
      if (read <= 0) return TooShort();
      RETURN_IF_ERROR(Take(read, present, out, arena));
      row_ += read;
    }
    return absl::OkStatus();
  }

 private:
  using Value = typename Reader::T;

  absl::Status TooShort() const {
    return absl::DataLossError(
        StrCat("a data file has fewer values of ", field_.name, " than rows"));
  }

  // After it, row_ is in the current page. Goes over what the page map leaves out.
  absl::Status EnterPage() {
    if (row_ < map_.end()) return absl::OkStatus();
    if (!reader_->HasNext() || map_.end() <= row_) return TooShort();
    row_ = map_.begin();
    return absl::OkStatus();
  }

  void MakeRoom(int64_t rows) {
    if (levels_.size() >= static_cast<size_t>(rows)) return;
    levels_.resize(static_cast<size_t>(rows));
    values_ = std::make_unique_for_overwrite<Value[]>(static_cast<size_t>(rows));
  }

  absl::Status Take(int64_t rows, int64_t present, Column& out, Arena& arena) {
    if (field_.required && present < rows) {
      return absl::DataLossError(
          StrCat("a data file has a null in the required column ", field_.name));
    }
    auto& to = Convert::Values(out);
    const size_t first = to.size();
    const size_t count = static_cast<size_t>(rows);
    to.resize(first + count);
    out.valid.resize(first + count, 1);
    bool fits = true;
    if (present == rows) {
      for (size_t i = 0; i < count; ++i) fits &= convert_(values_[i], to[first + i]);
    } else {
      size_t next = 0;
      for (size_t i = 0; i < count; ++i) {
        const bool valid = levels_[i] == level_present_;
        out.valid[first + i] = valid;
        if (valid) fits &= convert_(values_[next++], to[first + i]);
      }
    }
    if (!fits) {
      return absl::FailedPreconditionError(StrCat("a data file has a value of column ", field_.name,
                                                  " that ", TypeName(field_.type),
                                                  " does not hold exactly"));
    }
    if constexpr (std::is_same_v<decltype(to), std::vector<std::string_view>&>)
      Own({to.data() + first, count}, arena);
    return absl::OkStatus();
  }

  // Copies views of the page into memory of the batch.
  static void Own(std::span<std::string_view> values, Arena& arena) {
    size_t bytes = 0;
    for (const std::string_view value : values) bytes += value.size();
    char* at = arena.Allocate(bytes);
    for (std::string_view& value : values) {
      if (!value.empty()) std::memcpy(at, value.data(), value.size());
      value = {at, value.size()};
      at += value.size();
    }
  }

  const FileField& field_;
  const int16_t level_present_;
  const Convert convert_;
  PageMap map_;
  std::shared_ptr<Reader> reader_;
  int64_t row_ = 0;
  std::vector<int16_t> levels_;
  std::unique_ptr<Value[]> values_;
};

// Makes the reader of one pair of physical type and converter.
struct Maker {
  const parquet::ColumnDescriptor* column;
  std::unique_ptr<parquet::PageReader> pages;
  const FileField& field;

  template <class Reader, class Convert>
  std::unique_ptr<ChunkReader> Make(Convert convert) {
    return std::make_unique<TypedChunkReader<Reader, Convert>>(column, std::move(pages), field,
                                                               convert);
  }

  std::unique_ptr<ChunkReader> FromInt32();
  std::unique_ptr<ChunkReader> FromInt64();
};

std::unique_ptr<ChunkReader> Maker::FromInt32() {
  switch (field.type.kind) {
    case TypeKind::kDecimal: return Make<parquet::Int32Reader>(ToInt128());
    case TypeKind::kLong: return Make<parquet::Int32Reader>(ToInt64());
    case TypeKind::kTime:
      return Make<parquet::Int32Reader>(ToMicrosTimes{1000});  // INT32 times are milliseconds
    case TypeKind::kTimestamp:
      return Make<parquet::Int32Reader>(ToMicrosTimes{ToMicrosFromInt96::kMicrosPerDay});
    default: return Make<parquet::Int32Reader>(ToInt32());
  }
}

std::unique_ptr<ChunkReader> Maker::FromInt64() {
  if (field.type.kind == TypeKind::kDecimal) return Make<parquet::Int64Reader>(ToInt128());
  const parquet::LogicalType& logical = *column->logical_type();
  auto unit = parquet::LogicalType::TimeUnit::MICROS;
  if (logical.is_timestamp())
    unit = static_cast<const parquet::TimestampLogicalType&>(logical).time_unit();
  if (logical.is_time()) unit = static_cast<const parquet::TimeLogicalType&>(logical).time_unit();
  if (unit == parquet::LogicalType::TimeUnit::MILLIS)
    return Make<parquet::Int64Reader>(ToMicrosTimes{1000});
  if (unit == parquet::LogicalType::TimeUnit::NANOS)
    return Make<parquet::Int64Reader>(ToMicrosFromNanos());
  return Make<parquet::Int64Reader>(ToInt64());
}

}  // namespace

std::unique_ptr<ChunkReader> ChunkReader::Create(const parquet::ColumnDescriptor* column,
                                                 std::unique_ptr<parquet::PageReader> pages,
                                                 const FileField& field) {
  Maker maker{column, std::move(pages), field};
  const auto length = static_cast<size_t>(std::max(0, column->type_length()));
  const bool decimal = field.type.kind == TypeKind::kDecimal;
  switch (column->physical_type()) {
    case parquet::Type::BOOLEAN: return maker.Make<parquet::BoolReader>(ToInt32());
    case parquet::Type::INT32: return maker.FromInt32();
    case parquet::Type::INT64: return maker.FromInt64();
    case parquet::Type::INT96: return maker.Make<parquet::Int96Reader>(ToMicrosFromInt96());
    case parquet::Type::FLOAT:
      if (field.type.kind == TypeKind::kDouble) return maker.Make<parquet::FloatReader>(ToDouble());
      return maker.Make<parquet::FloatReader>(ToFloat());
    case parquet::Type::DOUBLE: return maker.Make<parquet::DoubleReader>(ToDouble());
    case parquet::Type::BYTE_ARRAY:
      if (decimal) return maker.Make<parquet::ByteArrayReader>(ToInt128FromArray());
      return maker.Make<parquet::ByteArrayReader>(ToBytesFromArray());
    case parquet::Type::FIXED_LEN_BYTE_ARRAY:
      if (decimal) return maker.Make<parquet::FixedLenByteArrayReader>(ToInt128FromFixed{length});
      return maker.Make<parquet::FixedLenByteArrayReader>(ToBytesFromFixed{length});
    case parquet::Type::UNDEFINED: break;
  }
  return nullptr;
}

}  // namespace fjord
