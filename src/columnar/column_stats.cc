#include "columnar/column_stats.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fjord {

void ColumnStats::Add(const Column& column) {
  const size_t rows = column.size();
  value_count_ += static_cast<int64_t>(rows);
  null_count_ += std::count(column.valid.begin(), column.valid.end(), uint8_t{0});
  switch (PhysicalOf(type_.kind)) {
    case Physical::kInt32: return AddIntegers(column.int32s, column.valid);
    case Physical::kInt64: return AddIntegers(column.int64s, column.valid);
    case Physical::kFloat: return AddFloats(column.floats, column.valid);
    case Physical::kDouble: return AddFloats(column.doubles, column.valid);
    case Physical::kInt128: return AddInt128s(column);
    case Physical::kBytes: return AddBytes(column);
  }
}

template <class T>
void ColumnStats::AddIntegers(const std::vector<T>& values, const std::vector<uint8_t>& valid) {
  T least = std::numeric_limits<T>::max();
  T greatest = std::numeric_limits<T>::min();
  for (size_t i = 0; i < values.size(); ++i) {
    if (valid[i] == 0) continue;
    least = std::min(least, values[i]);
    greatest = std::max(greatest, values[i]);
  }
  if (least > greatest) return;
  min_int_ = has_range_ ? std::min<int64_t>(min_int_, least) : least;
  max_int_ = has_range_ ? std::max<int64_t>(max_int_, greatest) : greatest;
  has_range_ = true;
}

template <class T>
void ColumnStats::AddFloats(const std::vector<T>& values, const std::vector<uint8_t>& valid) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (valid[i] == 0) continue;
    if (std::isnan(values[i])) {
      ++nan_count_;
      continue;
    }
    const double value = values[i];
    min_double_ = has_range_ ? std::min(min_double_, value) : value;
    max_double_ = has_range_ ? std::max(max_double_, value) : value;
    has_range_ = true;
  }
}

void ColumnStats::AddInt128s(const Column& column) {
  for (size_t i = 0; i < column.size(); ++i) {
    if (column.valid[i] == 0) continue;
    const absl::int128 value = column.int128s[i];
    min_int128_ = has_range_ ? std::min(min_int128_, value) : value;
    max_int128_ = has_range_ ? std::max(max_int128_, value) : value;
    has_range_ = true;
  }
}

// Candidates are kept as views, and copied once a batch.
void ColumnStats::AddBytes(const Column& column) {
  const std::string_view* least = nullptr;
  const std::string_view* greatest = nullptr;
  for (size_t i = 0; i < column.size(); ++i) {
    if (column.valid[i] == 0) continue;
    const std::string_view& value = column.bytes[i];
    if (least == nullptr) {
      least = greatest = &value;
    } else if (value < *least) {
      least = &value;
    } else if (value > *greatest) {
      greatest = &value;
    }
  }
  if (least == nullptr) return;
  if (!has_range_ || *least < min_bytes_) min_bytes_ = *least;
  if (!has_range_ || *greatest > max_bytes_) max_bytes_ = *greatest;
  has_range_ = true;
}

}  // namespace fjord
