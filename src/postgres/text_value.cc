#include "postgres/text_value.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace fjord {
namespace {

constexpr ValueFailure kOk{};

constexpr ValueFailure Malformed(const char* reason) {
  return {DecodeProblem::Kind::kMalformed, reason};
}
constexpr ValueFailure Unrepresentable(const char* reason) {
  return {DecodeProblem::Kind::kUnrepresentable, reason};
}

template <class T>
ValueFailure ParseWhole(std::string_view text, T& value, const char* reason) {
  const char* const end = text.data() + text.size();
  const auto [parsed_to, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && parsed_to == end ? kOk : Malformed(reason);
}

template <class T>
ValueFailure ParseFloating(std::string_view text, T& value) {
  if (text == "NaN") {
    value = std::numeric_limits<T>::quiet_NaN();
    return kOk;
  }
  if (text == "Infinity" || text == "-Infinity") {
    value =
        text[0] == '-' ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
    return kOk;
  }
  return ParseWhole(text, value, "not a floating-point number");
}

constexpr bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// The compiler's own: unlike absl::uint128 it multiplies in constant expressions.
using Uint128 = unsigned __int128;

constexpr auto kPowersOfTen = [] {
  std::array<Uint128, 39> powers{};
  Uint128 power = 1;
  for (auto& p : powers) {
    p = power;
    power = power * 10;
  }
  return powers;
}();

// Digits as a number; in pieces of 18, since 128-bit multiplication is slow.
Uint128 DigitsValue(std::string_view digits, Uint128 start) {
  Uint128 value = start;
  while (!digits.empty()) {
    const size_t count = std::min<size_t>(digits.size(), 18);
    uint64_t piece = 0;
    for (size_t i = 0; i < count; ++i) piece = piece * 10 + static_cast<uint64_t>(digits[i] - '0');
    value = value == 0 ? Uint128{piece} : value * kPowersOfTen[count] + piece;
    digits.remove_prefix(count);
  }
  return value;
}

bool AllDigits(std::string_view text) {
  for (const char c : text) {
    if (!IsDigit(c)) return false;
  }
  return true;
}

// Days since 1970-01-01 of a date of the proleptic Gregorian calendar; year 0 is 1 BC. Counts in
// eras of 400 years that begin on 1 March, so that the leap day is the last of its year.
constexpr int64_t DaysFromCivil(int64_t year, int month, int day) {
  year -= month <= 2;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}
static_assert(DaysFromCivil(1970, 1, 1) == 0 && DaysFromCivil(2000, 3, 1) == 11017);

// Two digits, or a number above 99 when they are none.
constexpr int TwoDigits(const char* p) {
  return IsDigit(p[0]) && IsDigit(p[1]) ? (p[0] - '0') * 10 + (p[1] - '0') : 100;
}

// What is left to read of a text.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  bool done() const { return at_ == end_; }
  void Skip(size_t size) { at_ += size; }  // Precondition: size <= left()
  bool Take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool Take(std::string_view word) {
    if (left() < word.size() || std::memcmp(at_, word.data(), word.size()) != 0) return false;
    at_ += word.size();
    return true;
  }
  // A two-digit number of at most `max`.
  bool TakeTwo(int max, int& value) {
    if (left() < 2) return false;
    value = TwoDigits(at_);
    at_ += 2;
    return value <= max;
  }
  // Four to seven digits.
  bool TakeYear(int64_t& year) {
    year = 0;
    int count = 0;
    for (; at_ != end_ && IsDigit(*at_) && count < 8; ++count) year = year * 10 + (*at_++ - '0');
    return count >= 4 && count <= 7;
  }
  // One to six digits of a second's fraction, as microseconds.
  bool TakeFraction(int64_t& micros) {
    micros = 0;
    int count = 0;
    for (; at_ != end_ && IsDigit(*at_) && count < 7; ++count)
      micros = micros * 10 + (*at_++ - '0');
    if (count < 1 || count > 6) return false;
    for (; count < 6; ++count) micros *= 10;
    return true;
  }

 private:
  const char* at_;
  const char* end_;
};

struct CivilDate {
  int64_t year = 0;
  int month = 1;
  int day = 1;
};

bool TakeDate(Cursor& cursor, CivilDate& date) {
  return cursor.TakeYear(date.year) && cursor.Take('-') && cursor.TakeTwo(12, date.month) &&
         cursor.Take('-') && cursor.TakeTwo(31, date.day) && date.month >= 1 && date.day >= 1;
}

bool TakeTimeOfDay(Cursor& cursor, int64_t& micros) {
  int hours = 0;
  int minutes = 0;
  int seconds = 0;
  int64_t fraction = 0;
  if (!(cursor.TakeTwo(24, hours) && cursor.Take(':') && cursor.TakeTwo(59, minutes) &&
        cursor.Take(':') && cursor.TakeTwo(60, seconds))) {
    return false;
  }
  if (cursor.Take('.') && !cursor.TakeFraction(fraction)) return false;
  micros = ((hours * 60 + minutes) * int64_t{60} + seconds) * 1'000'000 + fraction;
  return true;
}

// "+00", "-03:30", "+00:19:32" as microseconds east of UTC.
bool TakeOffset(Cursor& cursor, int64_t& micros) {
  const bool west = cursor.Take('-');
  if (!west && !cursor.Take('+')) return false;
  int hours = 0;
  int minutes = 0;
  int seconds = 0;
  if (!cursor.TakeTwo(99, hours)) return false;
  if (cursor.Take(':') && !cursor.TakeTwo(59, minutes)) return false;
  if (cursor.Take(':') && !cursor.TakeTwo(59, seconds)) return false;
  micros = ((hours * 60 + minutes) * int64_t{60} + seconds) * 1'000'000;
  if (west) micros = -micros;
  return true;
}

// The usual shape, "YYYY-MM-DD HH:MM:SS", by fixed places and without branches on digits; ranges
// are checked once at the end. False: read it the long way.
bool ReadUsualInstant(std::string_view text, CivilDate& date, int64_t& micros) {
  if (text.size() < 19) return false;
  const char* const p = text.data();
  if (p[4] != '-' || p[7] != '-' || p[10] != ' ' || p[13] != ':' || p[16] != ':') return false;
  unsigned worst = 0;
  auto digit = [&](int i) {
    const unsigned d = static_cast<unsigned char>(p[i] - '0');
    worst |= d + 6;  // above 15 for anything but a digit
    return static_cast<int>(d);
  };
  auto two = [&](int i) { return digit(i) * 10 + digit(i + 1); };
  date.year = two(0) * 100 + two(2);
  date.month = two(5);
  date.day = two(8);
  const int hours = two(11);
  const int minutes = two(14);
  const int seconds = two(17);
  if (worst > 15 || date.month < 1 || date.month > 12 || date.day < 1 || date.day > 31 ||
      hours > 23 || minutes > 59 || seconds > 59) {
    return false;
  }
  micros = ((hours * 60 + minutes) * int64_t{60} + seconds) * 1'000'000;
  return true;
}

bool TakeInstant(Cursor& cursor, std::string_view text, CivilDate& date, int64_t& micros) {
  if (!ReadUsualInstant(text, date, micros)) {
    return TakeDate(cursor, date) && cursor.Take(' ') && TakeTimeOfDay(cursor, micros);
  }
  cursor.Skip(19);
  int64_t fraction = 0;
  if (cursor.Take('.') && !cursor.TakeFraction(fraction)) return false;
  micros += fraction;
  return true;
}

int64_t DaysOf(const CivilDate& date, bool bc) {
  return DaysFromCivil(bc ? 1 - date.year : date.year, date.month, date.day);
}

bool IsInfinity(std::string_view text) { return text == "infinity" || text == "-infinity"; }

enum class Zone { kNone, kOffset };

ValueFailure ParseInstant(std::string_view text, Zone zone, int64_t& micros) {
  Cursor cursor(text);
  CivilDate date;
  int64_t time = 0;
  int64_t offset = 0;
  const bool read =
      TakeInstant(cursor, text, date, time) && (zone == Zone::kNone || TakeOffset(cursor, offset));
  const bool bc = read && cursor.Take(" BC");
  if (!read || !cursor.done()) {
    if (IsInfinity(text)) return Unrepresentable("a timestamp of the lake has no infinity");
    return Malformed("not a timestamp in ISO form");
  }
  constexpr int64_t kMicrosPerDay = int64_t{86'400} * 1'000'000;
  int64_t sum = 0;
  if (__builtin_mul_overflow(DaysOf(date, bc), kMicrosPerDay, &sum) ||
      __builtin_add_overflow(sum, time - offset, &micros) ||
      micros == std::numeric_limits<int64_t>::max()) {
    // The largest number itself is how DuckDB holds infinity.
    return Unrepresentable("the year is beyond what microseconds in 64 bits reach (294247-01-10)");
  }
  return kOk;
}

constexpr auto kHexDigits = [] {
  std::array<int8_t, 256> table{};
  for (auto& entry : table) entry = -1;
  for (int i = 0; i < 10; ++i) table['0' + i] = static_cast<int8_t>(i);
  for (int i = 0; i < 6; ++i) {
    table['a' + i] = static_cast<int8_t>(10 + i);
    table['A' + i] = static_cast<int8_t>(10 + i);
  }
  return table;
}();

// Negative when it is none.
int HexByte(const char* p) {
  return kHexDigits[static_cast<unsigned char>(p[0])] << 4 |
         kHexDigits[static_cast<unsigned char>(p[1])];
}

}  // namespace

ValueFailure ParseBoolean(std::string_view text, int32_t& value) {
  if (text.size() != 1 || (text[0] != 't' && text[0] != 'f')) return Malformed("not a boolean");
  value = text[0] == 't';
  return kOk;
}

ValueFailure ParseInt32(std::string_view text, int32_t& value) {
  return ParseWhole(text, value, "not an integer of 32 bits");
}
ValueFailure ParseInt64(std::string_view text, int64_t& value) {
  return ParseWhole(text, value, "not an integer of 64 bits");
}
ValueFailure ParseFloat(std::string_view text, float& value) { return ParseFloating(text, value); }
ValueFailure ParseDouble(std::string_view text, double& value) {
  return ParseFloating(text, value);
}

ValueFailure ParseDecimal(std::string_view text, int precision, int scale, absl::int128& value) {
  if (text == "NaN") return Unrepresentable("a decimal of the lake has no NaN");
  if (text == "Infinity" || text == "-Infinity")
    return Unrepresentable("a decimal of the lake has no infinity");
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  const size_t point = text.find('.');
  std::string_view whole = text.substr(0, point);
  std::string_view fraction = point == std::string_view::npos ? "" : text.substr(point + 1);
  if (whole.empty() || !AllDigits(whole) || !AllDigits(fraction)) return Malformed("not a number");
  while (whole.size() > 1 && whole.front() == '0') whole.remove_prefix(1);
  while (fraction.size() > static_cast<size_t>(scale) && fraction.back() == '0')
    fraction.remove_suffix(1);
  if (fraction.size() > static_cast<size_t>(scale) || whole.size() > 38) {
    return Unrepresentable("the number has more digits than the decimal of the lake");
  }
  const size_t missing = static_cast<size_t>(scale) - fraction.size();
  // More than 38 digits together would overflow before the comparison below could see it.
  if (whole != "0" && whole.size() + static_cast<size_t>(scale) > 38) {
    return Unrepresentable("the number has more digits than the decimal of the lake");
  }
  const Uint128 magnitude = DigitsValue(fraction, DigitsValue(whole, 0)) * kPowersOfTen[missing];
  if (magnitude >= kPowersOfTen[precision]) {
    return Unrepresentable("the number has more digits than the decimal of the lake");
  }
  value = static_cast<__int128>(magnitude);
  if (negative) value = -value;
  return kOk;
}

ValueFailure ParseDate(std::string_view text, int32_t& days) {
  Cursor cursor(text);
  CivilDate date;
  const bool read = TakeDate(cursor, date);
  const bool bc = read && cursor.Take(" BC");
  if (!read || !cursor.done()) {
    if (IsInfinity(text)) return Unrepresentable("a date of the lake has no infinity");
    return Malformed("not a date in ISO form");
  }
  const int64_t value = DaysOf(date, bc);
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) {
    return Unrepresentable("the year is beyond what days in 32 bits reach");
  }
  days = static_cast<int32_t>(value);
  return kOk;
}

ValueFailure ParseTime(std::string_view text, int64_t& micros) {
  Cursor cursor(text);
  if (!TakeTimeOfDay(cursor, micros) || !cursor.done()) return Malformed("not a time in ISO form");
  if (micros >= int64_t{86'400} * 1'000'000)
    return Unrepresentable("a time of the lake ends before 24:00");
  return kOk;
}

ValueFailure ParseTimestamp(std::string_view text, int64_t& micros) {
  return ParseInstant(text, Zone::kNone, micros);
}
ValueFailure ParseTimestampTz(std::string_view text, int64_t& micros) {
  return ParseInstant(text, Zone::kOffset, micros);
}

ValueFailure ParseUuid(std::string_view text, char* out) {
  constexpr ValueFailure kNoUuid = Malformed("not a uuid");
  if (text.size() != 36) return kNoUuid;
  size_t at = 0;
  for (int i = 0; i < 16; ++i) {
    if (at == 8 || at == 13 || at == 18 || at == 23) {
      if (text[at++] != '-') return kNoUuid;
    }
    const int byte = HexByte(text.data() + at);
    if (byte < 0) return kNoUuid;
    out[i] = static_cast<char>(byte);
    at += 2;
  }
  return kOk;
}

ValueFailure ParseBytea(std::string_view text, char* out, size_t& size) {
  if (text.size() < 2 || text[0] != '\\' || text[1] != 'x' || text.size() % 2 != 0) {
    return Malformed("not a bytea in hexadecimal form");
  }
  size = text.size() / 2 - 1;
  const char* p = text.data() + 2;
  int bad = 0;
  for (size_t i = 0; i < size; ++i) {
    const int byte = HexByte(p + 2 * i);
    bad |= byte;
    out[i] = static_cast<char>(byte);
  }
  return bad < 0 ? Malformed("not a bytea in hexadecimal form") : kOk;
}

bool IsUtf8(std::string_view text) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const end = p + text.size();
  while (p < end) {
    uint64_t eight = 0;
    if (end - p >= 8 && (std::memcpy(&eight, p, 8), (eight & 0x8080808080808080u) == 0)) {
      p += 8;
      continue;
    }
    if (*p < 0x80) {
      ++p;
      continue;
    }
    const int more = *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : 1;
    if (*p < 0xc2 || *p > 0xf4 || end - p <= more) return false;
    for (int i = 1; i <= more; ++i) {
      if ((p[i] & 0xc0) != 0x80) return false;
    }
    // Too long forms, surrogates, beyond U+10FFFF.
    if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) || (*p == 0xf0 && p[1] < 0x90) ||
        (*p == 0xf4 && p[1] > 0x8f)) {
      return false;
    }
    p += more + 1;
  }
  return true;
}

}  // namespace fjord
