#include "base/column.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/coding.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr size_t kArenaBlockBytes = 64 << 10;

template <class T>
T CanonicalFloat(T value) {
  if (std::isnan(value)) return std::numeric_limits<T>::quiet_NaN();
  return value == 0 ? T{0} : value;
}

void AppendKeyValue(const Column& column, size_t row, std::string& out) {
  switch (PhysicalOf(column.type.kind)) {
    case Physical::kInt32: PutFixed32(out, static_cast<uint32_t>(column.int32s[row])); return;
    case Physical::kInt64: PutFixed64(out, static_cast<uint64_t>(column.int64s[row])); return;
    case Physical::kFloat: {
      const float value = CanonicalFloat(column.floats[row]);
      out.append(reinterpret_cast<const char*>(&value), sizeof value);
      return;
    }
    case Physical::kDouble: {
      const double value = CanonicalFloat(column.doubles[row]);
      out.append(reinterpret_cast<const char*>(&value), sizeof value);
      return;
    }
    case Physical::kInt128:
      PutFixed64(out, absl::Uint128Low64(static_cast<absl::uint128>(column.int128s[row])));
      PutFixed64(out, absl::Uint128High64(static_cast<absl::uint128>(column.int128s[row])));
      return;
    case Physical::kBytes:
      PutFixed32(out, static_cast<uint32_t>(column.bytes[row].size()));
      out.append(column.bytes[row]);
      return;
  }
}

}  // namespace

Physical PhysicalOf(TypeKind kind) {
  switch (kind) {
    case TypeKind::kBoolean:
    case TypeKind::kInt:
    case TypeKind::kDate: return Physical::kInt32;
    case TypeKind::kLong:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz: return Physical::kInt64;
    case TypeKind::kFloat: return Physical::kFloat;
    case TypeKind::kDouble: return Physical::kDouble;
    case TypeKind::kDecimal: return Physical::kInt128;
    case TypeKind::kString:
    case TypeKind::kUuid:
    case TypeKind::kBinary: return Physical::kBytes;
  }
  return Physical::kBytes;
}

std::string TypeName(const ColumnType& type) {
  switch (type.kind) {
    case TypeKind::kBoolean: return "boolean";
    case TypeKind::kInt: return "int";
    case TypeKind::kLong: return "long";
    case TypeKind::kFloat: return "float";
    case TypeKind::kDouble: return "double";
    case TypeKind::kDecimal: return StrCat("decimal(", type.precision, ", ", type.scale, ")");
    case TypeKind::kDate: return "date";
    case TypeKind::kTime: return "time";
    case TypeKind::kTimestamp: return "timestamp";
    case TypeKind::kTimestampTz: return "timestamptz";
    case TypeKind::kString: return "string";
    case TypeKind::kUuid: return "uuid";
    case TypeKind::kBinary: return "binary";
  }
  return "unknown";
}

void Column::Clear() {
  valid.clear();
  int32s.clear();
  int64s.clear();
  floats.clear();
  doubles.clear();
  int128s.clear();
  bytes.clear();
}

void Column::Reserve(size_t rows) {
  valid.reserve(rows);
  switch (PhysicalOf(type.kind)) {
    case Physical::kInt32: int32s.reserve(rows); break;
    case Physical::kInt64: int64s.reserve(rows); break;
    case Physical::kFloat: floats.reserve(rows); break;
    case Physical::kDouble: doubles.reserve(rows); break;
    case Physical::kInt128: int128s.reserve(rows); break;
    case Physical::kBytes: bytes.reserve(rows); break;
  }
}

void Column::AppendNull() {
  valid.push_back(0);
  switch (PhysicalOf(type.kind)) {
    case Physical::kInt32: int32s.push_back(0); break;
    case Physical::kInt64: int64s.push_back(0); break;
    case Physical::kFloat: floats.push_back(0); break;
    case Physical::kDouble: doubles.push_back(0); break;
    case Physical::kInt128: int128s.push_back(0); break;
    case Physical::kBytes: bytes.push_back({}); break;
  }
}

char* Arena::Allocate(size_t size) {
  bytes_used_ += size;
  if (blocks_.empty() || block_size_ - block_used_ < size) {
    block_size_ = std::max(size, kArenaBlockBytes);
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(block_size_));
    block_used_ = 0;
  }
  char* result = blocks_.back().get() + block_used_;
  block_used_ += size;
  return result;
}

std::string_view Arena::Copy(std::string_view text) {
  char* to = Allocate(text.size());
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return {to, text.size()};
}

void Arena::Clear() {
  blocks_.clear();
  block_size_ = block_used_ = bytes_used_ = 0;
}

void ColumnBatch::Clear() {
  for (Column& column : columns) column.Clear();
  arena.Clear();
}

void SetValue(const Column& from, size_t from_row, Column& to, size_t to_row, Arena& arena) {
  to.valid[to_row] = from.valid[from_row];
  switch (PhysicalOf(to.type.kind)) {
    case Physical::kInt32: to.int32s[to_row] = from.int32s[from_row]; break;
    case Physical::kInt64: to.int64s[to_row] = from.int64s[from_row]; break;
    case Physical::kFloat: to.floats[to_row] = from.floats[from_row]; break;
    case Physical::kDouble: to.doubles[to_row] = from.doubles[from_row]; break;
    case Physical::kInt128: to.int128s[to_row] = from.int128s[from_row]; break;
    case Physical::kBytes: to.bytes[to_row] = arena.Copy(from.bytes[from_row]); break;
  }
}

void AppendKeyBytes(const ColumnBatch& batch, size_t row, const std::vector<int>& key_columns,
                    std::string& out) {
  for (const int index : key_columns) AppendKeyValue(batch.columns[index], row, out);
}

}  // namespace fjord
