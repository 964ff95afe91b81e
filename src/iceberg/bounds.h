// Column bounds and partition values as bytes (Iceberg
// specification, "Binary single-value serialization").
//
// A bound that is missing is always safe; one that is wrong makes rows vanish from queries. Where
// no right bound exists there is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"
#include "base/column.h"

namespace fjord {

// A value in the physical form of its type (base/column.h): int32 for boolean, int, date; int64 for
// long, time, timestamps; the unscaled int128 for decimal; bytes for string, uuid, binary.
using BoundValue = std::variant<int32_t, int64_t, float, double, absl::int128, std::string>;

// Precondition: the value has the physical form of the type.
std::string EncodeBound(const ColumnType& type, const BoundValue& value);

// Also values written before the column's type was widened: int in a long, float in a double, a
// decimal of any precision. kDataLoss when the length does not fit the type.
absl::StatusOr<BoundValue> DecodeBound(const ColumnType& type, std::string_view bytes);

struct Bounds {
  std::optional<std::string> lower;
  std::optional<std::string> upper;

  friend bool operator==(const Bounds&, const Bounds&) = default;
};

// Bounds for a column whose least and greatest value are these. Strings and binary are shortened to
// `length_max` code points or bytes (0: not at all). A zero of a float or double becomes -0.0 below
// and +0.0 above; NaN gives no bounds.
Bounds MakeBounds(const ColumnType& type, const BoundValue& min, const BoundValue& max,
                  size_t length_max);

// The first `code_points` code points: at or below the text. Nothing when they are not UTF-8.
std::optional<std::string> TruncateStringLower(std::string_view text, size_t code_points);
// At or above every text that begins with the same `code_points` code points as this one: those,
// with the last that can be incremented incremented, and cut behind it. The text itself when it is
// not longer. Nothing when none can be incremented, or they are not UTF-8.
std::optional<std::string> TruncateStringUpper(std::string_view text, size_t code_points);

// The same for bytes.
std::string TruncateBinaryLower(std::string_view bytes, size_t length);
std::optional<std::string> TruncateBinaryUpper(std::string_view bytes, size_t length);

// Two's complement, big-endian, as short as possible: 0 is 00, 128 is 0080, -1 is ff.
std::string EncodeDecimalBytes(absl::int128 unscaled);
// Any length from 1 to 16, also longer than needed.
absl::StatusOr<absl::int128> DecodeDecimalBytes(std::string_view bytes);

}  // namespace fjord
