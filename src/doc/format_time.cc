#include <array>
#include <cstddef>
#include <optional>

#include "doc/format_internal.h"

namespace fjord::doc {
namespace {

constexpr int kMinutesOfDay = 24 * 60;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Exactly `count` digits.
std::optional<int> TakeNumber(std::string_view* text, size_t count) {
  if (text->size() < count) return std::nullopt;
  int value = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!IsDigit((*text)[i])) return std::nullopt;
    value = value * 10 + ((*text)[i] - '0');
  }
  text->remove_prefix(count);
  return value;
}

bool TakeOneOf(std::string_view* text, std::string_view characters) {
  if (text->empty() || characters.find(text->front()) == std::string_view::npos) return false;
  text->remove_prefix(1);
  return true;
}

bool TakeDigits(std::string_view* text) {
  size_t count = 0;
  while (count < text->size() && IsDigit((*text)[count])) ++count;
  text->remove_prefix(count);
  return count > 0;
}

int DaysOf(int year, int month) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return kDays[static_cast<size_t>(month) - 1] + (month == 2 && leap ? 1 : 0);
}

// "hh:mm", in minutes.
std::optional<int> TakeHourAndMinute(std::string_view* text) {
  const std::optional<int> hour = TakeNumber(text, 2);
  if (!hour || *hour > 23 || !TakeOneOf(text, ":")) return std::nullopt;
  const std::optional<int> minute = TakeNumber(text, 2);
  if (!minute || *minute > 59) return std::nullopt;
  return *hour * 60 + *minute;
}

// "Z" or "+hh:mm": minutes before UTC.
std::optional<int> TakeOffset(std::string_view* text) {
  if (TakeOneOf(text, "zZ")) return 0;
  const bool west = text->starts_with('-');
  if (!TakeOneOf(text, "+-")) return std::nullopt;
  const std::optional<int> minutes = TakeHourAndMinute(text);
  if (!minutes) return std::nullopt;
  return west ? -*minutes : *minutes;
}

// A run of "nU" with the units in this order, each at most once. The number of them.
int TakeUnits(std::string_view* text, std::string_view units) {
  int taken = 0;
  while (!text->empty() && IsDigit(text->front())) {
    TakeDigits(text);
    const size_t unit = text->empty() ? std::string_view::npos : units.find(text->front());
    if (unit == std::string_view::npos) return -1;
    // RFC 3339, appendix A: a unit is followed by the next smaller one only.
    if (taken > 0 && unit != 0) return -1;
    units.remove_prefix(unit + 1);
    text->remove_prefix(1);
    ++taken;
  }
  return taken;
}

}  // namespace

bool IsDate(std::string_view text) {
  const std::optional<int> year = TakeNumber(&text, 4);
  if (!year || !TakeOneOf(&text, "-")) return false;
  const std::optional<int> month = TakeNumber(&text, 2);
  if (!month || *month < 1 || *month > 12 || !TakeOneOf(&text, "-")) return false;
  const std::optional<int> day = TakeNumber(&text, 2);
  return day && *day >= 1 && *day <= DaysOf(*year, *month) && text.empty();
}

bool IsTime(std::string_view text) {
  const std::optional<int> minutes = TakeHourAndMinute(&text);
  if (!minutes || !TakeOneOf(&text, ":")) return false;
  const std::optional<int> second = TakeNumber(&text, 2);
  if (!second || *second > 60) return false;
  if (TakeOneOf(&text, ".") && !TakeDigits(&text)) return false;
  const std::optional<int> offset = TakeOffset(&text);
  if (!offset || !text.empty()) return false;
  // A leap second is the last one of a day in UTC.
  return *second < 60 ||
         (*minutes - *offset + 2 * kMinutesOfDay) % kMinutesOfDay == kMinutesOfDay - 1;
}

bool IsDateTime(std::string_view text) {
  if (text.size() < 11 || !IsDate(text.substr(0, 10))) return false;
  text.remove_prefix(10);
  return TakeOneOf(&text, "tT") && IsTime(text);
}

bool IsDuration(std::string_view text) {
  if (!TakeOneOf(&text, "P")) return false;
  std::string_view weeks = text;
  if (TakeUnits(&weeks, "W") == 1 && weeks.empty()) return true;
  const int dates = TakeUnits(&text, "YMD");
  if (dates < 0) return false;
  if (text.empty()) return dates > 0;
  return TakeOneOf(&text, "T") && TakeUnits(&text, "HMS") > 0 && text.empty();
}

}  // namespace fjord::doc
