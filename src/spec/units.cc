#include "spec/units.h"

#include <array>

#include "base/strings.h"

namespace fjord {
namespace {

struct Unit {
  std::string_view suffix;
  int64_t factor;
};

// The longest suffix that fits decides: "5ms" is no "5m" with an s.
std::optional<int64_t> ParseWithUnit(std::string_view text, const auto& units) {
  constexpr size_t kDigitsMax = 9;
  const size_t digits = text.find_first_not_of("0123456789");
  if (digits == std::string_view::npos || digits == 0 || digits > kDigitsMax) return std::nullopt;
  for (const Unit& unit : units) {
    if (text.substr(digits) == unit.suffix) {
      return *ParseInt<int64_t>(text.substr(0, digits)) * unit.factor;
    }
  }
  return std::nullopt;
}

constexpr std::array<Unit, 5> kDurationUnits = {
    {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};
constexpr std::array<Unit, 4> kSizeUnits = {
    {{"B", 1}, {"KiB", int64_t{1} << 10}, {"MiB", int64_t{1} << 20}, {"GiB", int64_t{1} << 30}}};

}  // namespace

std::optional<absl::Duration> ParseDuration(std::string_view text) {
  const std::optional<int64_t> milliseconds = ParseWithUnit(text, kDurationUnits);
  if (!milliseconds.has_value()) return std::nullopt;
  return absl::Milliseconds(*milliseconds);
}

std::optional<int64_t> ParseSize(std::string_view text) { return ParseWithUnit(text, kSizeUnits); }

std::string FormatSize(int64_t bytes) {
  const Unit* best = &kSizeUnits[0];
  for (const Unit& unit : kSizeUnits) {
    if (bytes != 0 && bytes % unit.factor == 0) best = &unit;
  }
  return StrCat(bytes / best->factor, best->suffix);
}

}  // namespace fjord
