// Parsers of single values in PostgreSQL's text form. Pure, one function a type;
// used by DecodeColumn's loops.
//
// Formats: PostgreSQL manual, "Data Types", with DateStyle ISO, IntervalStyle postgres,
// bytea_output hex (connection.h sets them for every session).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/numeric/int128.h"
#include "postgres/tuple.h"

namespace fjord {

// Why a text gave no value; `reason` null: it did.
struct ValueFailure {
  DecodeProblem::Kind kind = DecodeProblem::Kind::kMalformed;
  const char* reason = nullptr;
  explicit operator bool() const { return reason != nullptr; }
};

ValueFailure ParseBoolean(std::string_view text, int32_t& value);
ValueFailure ParseInt32(std::string_view text, int32_t& value);
ValueFailure ParseInt64(std::string_view text, int64_t& value);
ValueFailure ParseFloat(std::string_view text, float& value);
ValueFailure ParseDouble(std::string_view text, double& value);
ValueFailure ParseDecimal(std::string_view text, int precision, int scale, absl::int128& value);
ValueFailure ParseDate(std::string_view text, int32_t& days);
ValueFailure ParseTime(std::string_view text, int64_t& micros);
ValueFailure ParseTimestamp(std::string_view text, int64_t& micros);
// Gives UTC.
ValueFailure ParseTimestampTz(std::string_view text, int64_t& micros);
// `out`: 16 bytes.
ValueFailure ParseUuid(std::string_view text, char* out);
// `out`: at least text.size() / 2 bytes; `size` is what was written.
ValueFailure ParseBytea(std::string_view text, char* out, size_t& size);
// Replaces `out` by the array's JSON text.
ValueFailure ArrayToJson(std::string_view text, ArrayElement element, char delimiter,
                         std::string& out);

bool IsUtf8(std::string_view text);

}  // namespace fjord
