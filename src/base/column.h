// Values in columns: what the PostgreSQL decoder produces, Parquet files hold,
// and the row index hashes.
//
// One physical form for all three, so that a key that came from a change, and the same
// key read back from a data file, are the same bytes. Types are Iceberg's primitive
// types (specification, "Primitive Types").
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/numeric/int128.h"
#include "base/ids.h"

namespace fjord {

enum class TypeKind : uint8_t {
  kBoolean,      // physical: int32 0 or 1
  kInt,          // int32
  kLong,         // int64
  kFloat,        // float
  kDouble,       // double
  kDecimal,      // int128, unscaled value
  kDate,         // int32, days since 1970-01-01
  kTime,         // int64, microseconds since midnight, 0 … 86'399'999'999
  kTimestamp,    // int64, microseconds since 1970-01-01 without zone
  kTimestampTz,  // int64, microseconds since 1970-01-01 UTC
  kString,       // bytes, UTF-8
  kUuid,         // bytes, exactly 16, big-endian
  kBinary,       // bytes
};

// How a kind is held in memory.
enum class Physical : uint8_t { kInt32, kInt64, kFloat, kDouble, kInt128, kBytes };
Physical PhysicalOf(TypeKind kind);

struct ColumnType {
  TypeKind kind = TypeKind::kString;
  int32_t precision = 0;  // decimal: 1 … 38
  int32_t scale = 0;      // decimal: 0 … precision

  friend bool operator==(const ColumnType&, const ColumnType&) = default;
};

// The Iceberg name: "long", "decimal(9, 2)".
std::string TypeName(const ColumnType& type);

// The values of one column. `valid` has one byte a row (1 = present); the vector that belongs to
// the physical form has one element a row too, zero where the value is absent; the others are
// empty. `bytes` points into memory that somebody else owns (a tuple, a page, ColumnBatch::arena).
struct Column {
  ColumnType type;
  std::vector<uint8_t> valid;
  std::vector<int32_t> int32s;
  std::vector<int64_t> int64s;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<absl::int128> int128s;
  std::vector<std::string_view> bytes;

  explicit Column(ColumnType t) : type(t) {}
  size_t size() const { return valid.size(); }
  void Clear();
  void Reserve(size_t rows);
  void AppendNull();
};

// Memory for byte values that had to be made (unescaped text, decoded hex). Addresses
// stay valid until Clear.
class Arena {
 public:
  // `size` bytes, not initialised.
  char* Allocate(size_t size);
  std::string_view Copy(std::string_view text);
  void Clear();
  size_t bytes_used() const { return bytes_used_; }

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t block_size_ = 0;
  size_t block_used_ = 0;
  size_t bytes_used_ = 0;
};

// Rows as columns. All columns have the same number of rows.
struct ColumnBatch {
  std::vector<Column> columns;
  Arena arena;

  size_t rows() const { return columns.empty() ? 0 : columns[0].size(); }
  void Clear();
};

// Puts value `from_row` of `from` in the place of value `to_row` of `to`, a column of the same
// physical form. Bytes are copied into `arena`.
void SetValue(const Column& from, size_t from_row, Column& to, size_t to_row, Arena& arena);

// The canonical bytes of a key: for each key column its length-unambiguous form, concatenated.
// Fixed-width values are little-endian (decimal: 16 bytes), byte values are a u32 length and the
// bytes; floats with -0.0 as +0.0 and one NaN, since PostgreSQL holds those equal. Precondition: no
// key value is absent.
void AppendKeyBytes(const ColumnBatch& batch, size_t row, const std::vector<int>& key_columns,
                    std::string& out);

}  // namespace fjord
