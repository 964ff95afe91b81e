// Values of Parquet's physical types into those of base/column.h, one converter for each pair
// that CheckFits lets through. For this layer's files only; the templates take Parquet's
// types without naming them.
//
// A converter has the vector of a Column that it fills and a function from a value to an element of
// it, false when the value does not fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/numeric/int128.h"
#include "base/column.h"

namespace fjord {

struct ToInt32 {
  static std::vector<int32_t>& Values(Column& column) { return column.int32s; }
  bool operator()(auto from, int32_t& to) const {
    to = from;
    return true;
  }
};

struct ToInt64 {
  static std::vector<int64_t>& Values(Column& column) { return column.int64s; }
  bool operator()(auto from, int64_t& to) const {
    to = from;
    return true;
  }
};

// Times in a unit longer than a microsecond.
struct ToMicrosTimes {
  int64_t factor;
  static std::vector<int64_t>& Values(Column& column) { return column.int64s; }
  bool operator()(auto from, int64_t& to) const {
    return !__builtin_mul_overflow(int64_t{from}, factor, &to);
  }
};

// Nanoseconds; those that are no whole microseconds do not fit.
struct ToMicrosFromNanos {
  static std::vector<int64_t>& Values(Column& column) { return column.int64s; }
  bool operator()(int64_t from, int64_t& to) const {
    to = from / 1000;
    return from % 1000 == 0;
  }
};

// INT96: nanoseconds of the day (64 bits), Julian day (32 bits).
struct ToMicrosFromInt96 {
  static constexpr int64_t kJulianDayOfEpoch = 2'440'588;
  static constexpr int64_t kMicrosPerDay = 86'400'000'000;
  static std::vector<int64_t>& Values(Column& column) { return column.int64s; }
  bool operator()(const auto& from, int64_t& to) const {
    const auto nanos = static_cast<int64_t>(from.value[0] | uint64_t{from.value[1]} << 32);
    const int64_t day = int64_t{from.value[2]} - kJulianDayOfEpoch;
    return nanos % 1000 == 0 && !__builtin_mul_overflow(day, kMicrosPerDay, &to) &&
           !__builtin_add_overflow(to, nanos / 1000, &to);
  }
};

struct ToFloat {
  static std::vector<float>& Values(Column& column) { return column.floats; }
  bool operator()(float from, float& to) const {
    to = from;
    return true;
  }
};

struct ToDouble {
  static std::vector<double>& Values(Column& column) { return column.doubles; }
  bool operator()(double from, double& to) const {
    to = from;
    return true;
  }
};

struct ToInt128 {
  static std::vector<absl::int128>& Values(Column& column) { return column.int128s; }
  bool operator()(int64_t from, absl::int128& to) const {
    to = from;
    return true;
  }
};

// Two's complement, most significant byte first.
inline bool BigEndianToInt128(const uint8_t* bytes, size_t size, absl::int128& to) {
  if (size == 0 || size > 16) return false;
  absl::uint128 value = (bytes[0] & 0x80) != 0 ? ~absl::uint128{0} : absl::uint128{0};
  for (size_t i = 0; i < size; ++i) value = (value << 8) | bytes[i];
  to = static_cast<absl::int128>(value);
  return true;
}

struct ToInt128FromArray {
  static std::vector<absl::int128>& Values(Column& column) { return column.int128s; }
  bool operator()(const auto& from, absl::int128& to) const {
    return BigEndianToInt128(from.ptr, from.len, to);
  }
};

struct ToInt128FromFixed {
  size_t length;
  static std::vector<absl::int128>& Values(Column& column) { return column.int128s; }
  bool operator()(const auto& from, absl::int128& to) const {
    return BigEndianToInt128(from.ptr, length, to);
  }
};

// Views of the page; whoever reads copies them before the next page.
struct ToBytesFromArray {
  static std::vector<std::string_view>& Values(Column& column) { return column.bytes; }
  bool operator()(const auto& from, std::string_view& to) const {
    to = {reinterpret_cast<const char*>(from.ptr), from.len};
    return true;
  }
};

struct ToBytesFromFixed {
  size_t length;
  static std::vector<std::string_view>& Values(Column& column) { return column.bytes; }
  bool operator()(const auto& from, std::string_view& to) const {
    to = {reinterpret_cast<const char*>(from.ptr), length};
    return true;
  }
};

}  // namespace fjord
