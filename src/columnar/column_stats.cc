#include "columnar/column_stats.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "base/coding.h"

namespace fjord {
namespace {

template <class T>
struct Range {
  T min = std::numeric_limits<T>::max();
  T max = std::numeric_limits<T>::lowest();
};

// The place of a null holds zero, so it must be looked at; where there is no null the loop is one
// that compilers vectorise.
template <class T>
Range<T> RangeOf(const std::vector<T>& values, const std::vector<uint8_t>& valid, bool dense) {
  Range<T> range;
  if (dense) {
    for (const T value : values) {
      range.min = std::min(range.min, value);
      range.max = std::max(range.max, value);
    }
    return range;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    range.min = std::min(range.min, valid[i] != 0 ? values[i] : range.min);
    range.max = std::max(range.max, valid[i] != 0 ? values[i] : range.max);
  }
  return range;
}

template <class T>
struct FloatRange {
  T min = std::numeric_limits<T>::infinity();
  T max = -std::numeric_limits<T>::infinity();
  int64_t nans = 0;
};

// Every comparison with NaN is false, so NaN changes neither end.
template <class T>
FloatRange<T> FloatRangeOf(const std::vector<T>& values, const std::vector<uint8_t>& valid) {
  FloatRange<T> range;
  for (size_t i = 0; i < values.size(); ++i) {
    const T value = values[i];
    const bool present = valid[i] != 0;
    range.nans += present && value != value;
    range.min = present && value < range.min ? value : range.min;
    range.max = present && value > range.max ? value : range.max;
  }
  return range;
}

// Joins a batch's range to the column's.
template <class T, class U>
void Join(bool has_range, T least, T greatest, U& min, U& max) {
  min = has_range ? std::min<U>(min, least) : U{least};
  max = has_range ? std::max<U>(max, greatest) : U{greatest};
}

// The first 8 bytes as a number that has their order; a shorter value is filled with zeros, so
// equal numbers say nothing.
uint64_t LeadingBytes(std::string_view value) {
  if (value.size() >= 8) return GetBig64(value.data());
  char padded[8] = {};
  if (!value.empty()) std::memcpy(padded, value.data(), value.size());
  return GetBig64(padded);
}

}  // namespace

void ColumnStats::Add(const Column& column) {
  const auto rows = static_cast<int64_t>(column.size());
  const int64_t nulls = std::count(column.valid.begin(), column.valid.end(), uint8_t{0});
  int64_t without_range = nulls;
  value_count_ += rows;
  null_count_ += nulls;
  if (nulls == rows) return;
  switch (PhysicalOf(type_.kind)) {
    case Physical::kInt32: {
      const auto range = RangeOf(column.int32s, column.valid, nulls == 0);
      Join(has_range_, range.min, range.max, min_int_, max_int_);
      break;
    }
    case Physical::kInt64: {
      const auto range = RangeOf(column.int64s, column.valid, nulls == 0);
      Join(has_range_, range.min, range.max, min_int_, max_int_);
      break;
    }
    case Physical::kInt128: {
      const auto range = RangeOf(column.int128s, column.valid, nulls == 0);
      Join(has_range_, range.min, range.max, min_int128_, max_int128_);
      break;
    }
    case Physical::kFloat: {
      const auto range = FloatRangeOf(column.floats, column.valid);
      nan_count_ += range.nans;
      without_range += range.nans;
      if (without_range < rows) Join(has_range_, range.min, range.max, min_double_, max_double_);
      break;
    }
    case Physical::kDouble: {
      const auto range = FloatRangeOf(column.doubles, column.valid);
      nan_count_ += range.nans;
      without_range += range.nans;
      if (without_range < rows) Join(has_range_, range.min, range.max, min_double_, max_double_);
      break;
    }
    case Physical::kBytes: AddBytes(column); break;
  }
  has_range_ |= without_range < rows;
}

// Candidates are kept as views and copied once a batch; mostly their first 8 bytes decide.
// Precondition: not all are null.
void ColumnStats::AddBytes(const Column& column) {
  const size_t first = static_cast<size_t>(std::find(column.valid.begin(), column.valid.end(), 1) -
                                           column.valid.begin());
  std::string_view least = column.bytes[first];
  std::string_view greatest = least;
  uint64_t least_leading = LeadingBytes(least);
  uint64_t greatest_leading = least_leading;
  for (size_t i = first + 1; i < column.size(); ++i) {
    if (column.valid[i] == 0) continue;
    const std::string_view value = column.bytes[i];
    const uint64_t leading = LeadingBytes(value);
    if (leading < least_leading || (leading == least_leading && value < least)) {
      least = value;
      least_leading = leading;
    }
    if (leading > greatest_leading || (leading == greatest_leading && value > greatest)) {
      greatest = value;
      greatest_leading = leading;
    }
  }
  // A kept beginning stands for the whole value: what compares between the two
  // begins with the same bytes.
  if (!has_range_ || least < min_bytes_) min_bytes_ = least.substr(0, kStatsBytesMax);
  if (!has_range_ || greatest > max_bytes_) max_bytes_ = greatest.substr(0, kStatsBytesMax);
}

}  // namespace fjord
