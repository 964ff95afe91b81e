#include "iceberg/bounds.h"

#include <cmath>
#include <vector>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr int64_t kMicrosecondsPerDay = 86'400'000'000;
constexpr char32_t kCodePointMax = 0x10FFFF;
constexpr char32_t kSurrogateFirst = 0xD800;
constexpr char32_t kSurrogateLast = 0xDFFF;

template <class T>
std::string LittleEndian(T v) {
  return std::string(reinterpret_cast<const char*>(&v), sizeof v);
}

template <class T>
T FromLittleEndian(std::string_view bytes) {
  T v;
  std::memcpy(&v, bytes.data(), sizeof v);
  return v;
}

absl::Status WrongLength(const ColumnType& type, std::string_view bytes) {
  return absl::DataLossError(
      StrCat("a bound of type ", TypeName(type), " has ", bytes.size(), " bytes"));
}

// The code point at `offset` and the offset behind it; nothing when the text is not UTF-8 there.
struct CodePoint {
  char32_t value = 0;
  size_t end = 0;
};

std::optional<CodePoint> DecodeUtf8(std::string_view text, size_t offset) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(offset);
  size_t length = 1;
  char32_t value = lead;
  char32_t least = 0;
  if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4, value = lead & 0x07, least = 0x10000;
  } else if (lead >= 0xE0 && lead < 0xF0) {
    length = 3, value = lead & 0x0F, least = 0x800;
  } else if (lead >= 0xC2 && lead < 0xE0) {
    length = 2, value = lead & 0x1F, least = 0x80;
  } else if (lead >= 0x80) {
    return std::nullopt;
  }
  if (offset + length > text.size()) return std::nullopt;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(offset + i) & 0xC0) != 0x80) return std::nullopt;
    value = (value << 6) | (byte(offset + i) & 0x3F);
  }
  if (value < least || value > kCodePointMax) return std::nullopt;
  if (value >= kSurrogateFirst && value <= kSurrogateLast) return std::nullopt;
  return CodePoint{value, offset + length};
}

void AppendUtf8(std::string& out, char32_t c) {
  if (c < 0x80) {
    out.push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out.push_back(static_cast<char>(0xC0 | (c >> 6)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else if (c < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | (c >> 12)));
    out.push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else {
    out.push_back(static_cast<char>(0xF0 | (c >> 18)));
    out.push_back(static_cast<char>(0x80 | ((c >> 12) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  }
}

// Where the first `count` code points begin, and the end of the last: up to count + 1 offsets.
// Nothing when the text is not UTF-8 so far.
std::optional<std::vector<size_t>> CodePointOffsets(std::string_view text, size_t count) {
  std::vector<size_t> offsets = {0};
  while (offsets.size() <= count && offsets.back() < text.size()) {
    const std::optional<CodePoint> point = DecodeUtf8(text, offsets.back());
    if (!point) return std::nullopt;
    offsets.push_back(point->end);
  }
  return offsets;
}

template <class Float>
Bounds FloatBounds(Float min, Float max) {
  if (std::isnan(min) || std::isnan(max)) return {};
  if (min == 0) min = Float{-0.0};
  if (max == 0) max = Float{0.0};
  return {LittleEndian(min), LittleEndian(max)};
}

absl::StatusOr<int64_t> DecodeInt64(const ColumnType& type, std::string_view bytes) {
  if (bytes.size() == 8) return FromLittleEndian<int64_t>(bytes);
  if (bytes.size() != 4 || type.kind == TypeKind::kTime) return WrongLength(type, bytes);
  const int64_t narrow = FromLittleEndian<int32_t>(bytes);
  if (type.kind == TypeKind::kLong) return narrow;
  // Written when the column was a date.
  int64_t microseconds = 0;
  if (type.kind == TypeKind::kTimestampTz ||
      __builtin_mul_overflow(narrow, kMicrosecondsPerDay, &microseconds)) {
    return WrongLength(type, bytes);
  }
  return microseconds;
}

}  // namespace

std::string EncodeBound(const ColumnType& type, const BoundValue& value) {
  switch (type.kind) {
    case TypeKind::kBoolean: return std::string(1, std::get<int32_t>(value) != 0 ? '\1' : '\0');
    case TypeKind::kInt:
    case TypeKind::kDate: return LittleEndian(std::get<int32_t>(value));
    case TypeKind::kLong:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz: return LittleEndian(std::get<int64_t>(value));
    case TypeKind::kFloat: return LittleEndian(std::get<float>(value));
    case TypeKind::kDouble: return LittleEndian(std::get<double>(value));
    case TypeKind::kDecimal: return EncodeDecimalBytes(std::get<absl::int128>(value));
    case TypeKind::kString:
    case TypeKind::kUuid:
    case TypeKind::kBinary: return std::get<std::string>(value);
  }
  return {};
}

absl::StatusOr<BoundValue> DecodeBound(const ColumnType& type, std::string_view bytes) {
  switch (type.kind) {
    case TypeKind::kBoolean:
      if (bytes.size() != 1) return WrongLength(type, bytes);
      return BoundValue(int32_t{bytes[0] != 0});
    case TypeKind::kInt:
    case TypeKind::kDate:
      if (bytes.size() != 4) return WrongLength(type, bytes);
      return BoundValue(FromLittleEndian<int32_t>(bytes));
    case TypeKind::kLong:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz: {
      ASSIGN_OR_RETURN(const int64_t v, DecodeInt64(type, bytes));
      return BoundValue(v);
    }
    case TypeKind::kFloat:
      if (bytes.size() != 4) return WrongLength(type, bytes);
      return BoundValue(FromLittleEndian<float>(bytes));
    case TypeKind::kDouble:
      if (bytes.size() == 4) return BoundValue(double{FromLittleEndian<float>(bytes)});
      if (bytes.size() != 8) return WrongLength(type, bytes);
      return BoundValue(FromLittleEndian<double>(bytes));
    case TypeKind::kDecimal: {
      ASSIGN_OR_RETURN(const absl::int128 v, DecodeDecimalBytes(bytes));
      return BoundValue(v);
    }
    case TypeKind::kUuid:
      if (bytes.size() != 16) return WrongLength(type, bytes);
      return BoundValue(std::string(bytes));
    case TypeKind::kString:
    case TypeKind::kBinary: return BoundValue(std::string(bytes));
  }
  return absl::InternalError("no such type");
}

Bounds MakeBounds(const ColumnType& type, const BoundValue& min, const BoundValue& max,
                  size_t length_max) {
  if (type.kind == TypeKind::kFloat) {
    return FloatBounds(std::get<float>(min), std::get<float>(max));
  }
  if (type.kind == TypeKind::kDouble) {
    return FloatBounds(std::get<double>(min), std::get<double>(max));
  }
  if (length_max > 0 && type.kind == TypeKind::kString) {
    return {TruncateStringLower(std::get<std::string>(min), length_max),
            TruncateStringUpper(std::get<std::string>(max), length_max)};
  }
  if (length_max > 0 && type.kind == TypeKind::kBinary) {
    return {TruncateBinaryLower(std::get<std::string>(min), length_max),
            TruncateBinaryUpper(std::get<std::string>(max), length_max)};
  }
  return {EncodeBound(type, min), EncodeBound(type, max)};
}

std::optional<std::string> TruncateStringLower(std::string_view text, size_t code_points) {
  const auto offsets = CodePointOffsets(text, code_points);
  if (!offsets) return std::nullopt;
  return std::string(text.substr(0, offsets->back()));
}

std::optional<std::string> TruncateStringUpper(std::string_view text, size_t code_points) {
  const auto offsets = CodePointOffsets(text, code_points);
  if (!offsets) return std::nullopt;
  if (offsets->back() == text.size()) return std::string(text);
  for (size_t i = offsets->size() - 1; i > 0; --i) {
    char32_t next = DecodeUtf8(text, (*offsets)[i - 1])->value + 1;
    if (next > kCodePointMax) continue;  // the carry goes to the code point before
    if (next == kSurrogateFirst) next = kSurrogateLast + 1;
    std::string result(text.substr(0, (*offsets)[i - 1]));
    AppendUtf8(result, next);
    return result;
  }
  return std::nullopt;
}

std::string TruncateBinaryLower(std::string_view bytes, size_t length) {
  return std::string(bytes.substr(0, length));
}

std::optional<std::string> TruncateBinaryUpper(std::string_view bytes, size_t length) {
  if (bytes.size() <= length) return std::string(bytes);
  std::string result(bytes.substr(0, length));
  while (!result.empty() && static_cast<uint8_t>(result.back()) == 0xFF) result.pop_back();
  if (result.empty()) return std::nullopt;
  ++result.back();
  return result;
}

std::string EncodeDecimalBytes(absl::int128 unscaled) {
  std::string result;
  PutBig64(result, static_cast<uint64_t>(absl::Int128High64(unscaled)));
  PutBig64(result, absl::Int128Low64(unscaled));
  // A leading byte is redundant when it only repeats the sign bit of the next one.
  const char sign = unscaled < 0 ? '\xff' : '\0';
  size_t skip = 0;
  while (skip + 1 < result.size() && result[skip] == sign &&
         ((result[skip] ^ result[skip + 1]) & 0x80) == 0) {
    ++skip;
  }
  return result.substr(skip);
}

absl::StatusOr<absl::int128> DecodeDecimalBytes(std::string_view bytes) {
  if (bytes.empty() || bytes.size() > 16) {
    return absl::DataLossError(StrCat("a decimal has ", bytes.size(), " bytes"));
  }
  std::string wide(16 - bytes.size(), (bytes[0] & 0x80) != 0 ? '\xff' : '\0');
  wide.append(bytes);
  return absl::MakeInt128(static_cast<int64_t>(GetBig64(wide.data())), GetBig64(wide.data() + 8));
}

}  // namespace fjord
