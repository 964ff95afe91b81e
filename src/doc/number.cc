#include "doc/number.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace fjord::doc {
namespace {

// A double gives back each decimal of up to this many digits (in the range of kPlainExponentMax).
constexpr uint64_t kAlwaysExactMantissaMax = 999'999'999'999'999;
constexpr int kPlainExponentMax = 22;  // 10^22 is the largest power of ten that a double holds
constexpr std::array<double, kPlainExponentMax + 1> kPowersOfTen = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr int kMantissaDigitsMax = 19;  // always fit into 64 bits
constexpr int kExponentDigitsMax = 18;
// Doubles in between are printed without an exponent.
constexpr int kFixedExponentMin = -5;
constexpr int kFixedExponentMax = 16;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The parts of a number as they were met.
struct Parts {
  const char* begin;
  bool negative = false;
  uint64_t mantissa = 0;  // all digits, when there are no more than kMantissaDigitsMax
  int digits = 0;         // without leading zeros
  int64_t exponent = 0;   // value = mantissa × 10^exponent

  void Add(char digit) {
    if (digits < kMantissaDigitsMax) mantissa = mantissa * 10 + static_cast<uint64_t>(digit - '0');
    if (digits > 0 || digit != '0') ++digits;
  }
};

// Past the digits, or null when there is none.
const char* ScanWhole(const char* p, Parts* parts) {
  if (*p == '0') return IsDigit(p[1]) ? nullptr : p + 1;
  if (!IsDigit(*p)) return nullptr;
  for (; IsDigit(*p); ++p) parts->Add(*p);
  return p;
}

const char* ScanFraction(const char* p, Parts* parts) {
  if (!IsDigit(*p)) return nullptr;
  for (; IsDigit(*p); ++p) {
    parts->Add(*p);
    --parts->exponent;
  }
  return p;
}

const char* ScanExponent(const char* p, Parts* parts) {
  const bool negative = *p == '-';
  if (*p == '-' || *p == '+') ++p;
  if (!IsDigit(*p)) return nullptr;
  while (*p == '0') ++p;
  int64_t value = 0;
  int digits = 0;
  for (; IsDigit(*p); ++p) {
    // Longer ones are no numbers to anybody, and their value could not be compared.
    if (++digits > kExponentDigitsMax) return nullptr;
    value = value * 10 + (*p - '0');
  }
  parts->exponent += negative ? -value : value;
  return p;
}

Value IntegerOf(const Parts& parts, const char* end) {
  // 19 digits fit into uint64_t; the only ones of 20 digits that do begin with 1.
  uint64_t magnitude = parts.mantissa;
  if (parts.digits > kMantissaDigitsMax) {
    const auto [p, error] = std::from_chars(parts.begin + (parts.negative ? 1 : 0), end, magnitude);
    if (error != std::errc()) {
      return Value::NumberText({parts.begin, static_cast<size_t>(end - parts.begin)});
    }
  }
  if (!parts.negative) return Value::Uint(magnitude);
  if (magnitude <= uint64_t{1} << 63) return Value::Int(static_cast<int64_t>(0 - magnitude));
  return Value::NumberText({parts.begin, static_cast<size_t>(end - parts.begin)});
}

std::optional<double> PlainDouble(const Parts& parts) {
  if (parts.digits > kMantissaDigitsMax || parts.mantissa > kAlwaysExactMantissaMax) {
    return std::nullopt;
  }
  double value = static_cast<double>(parts.mantissa);
  if (parts.mantissa != 0) {
    if (parts.exponent < -kPlainExponentMax || parts.exponent > kPlainExponentMax) {
      return std::nullopt;
    }
    // Both operands are exact, so the one rounding is the right one.
    value = parts.exponent < 0 ? value / kPowersOfTen[static_cast<size_t>(-parts.exponent)]
                               : value * kPowersOfTen[static_cast<size_t>(parts.exponent)];
  }
  return parts.negative ? -value : value;
}

void DropTrailingZeros(Parts* parts) {
  for (; parts->mantissa != 0 && parts->mantissa % 10 == 0; ++parts->exponent) {
    parts->mantissa /= 10;
  }
}

// Whether `value`, printed, is the number of these parts.
bool GivesBack(double value, Parts parts, std::string_view text) {
  if (parts.digits > kMantissaDigitsMax) {
    return Decimal::FromDoubleAsPrinted(value) == *Decimal::Parse(text);
  }
  std::array<char, 32> buffer{};
  std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value),
                std::chars_format::scientific);
  Parts shortest{.begin = buffer.data()};
  const char* p = ScanWhole(buffer.data(), &shortest);
  if (*p == '.') p = ScanFraction(p + 1, &shortest);
  ScanExponent(p + 1, &shortest);
  DropTrailingZeros(&shortest);
  DropTrailingZeros(&parts);
  return shortest.mantissa == parts.mantissa && shortest.exponent == parts.exponent;
}

Value DecimalOf(const Parts& parts, const char* end) {
  if (const std::optional<double> plain = PlainDouble(parts)) return Value::Double(*plain);
  const std::string_view text(parts.begin, static_cast<size_t>(end - parts.begin));
  double value = 0;
  const auto [p, error] = std::from_chars(parts.begin, end, value);
  if (error != std::errc() || !std::isfinite(value)) return Value::NumberText(text);
  return GivesBack(value, parts, text) ? Value::Double(value) : Value::NumberText(text);
}

// "-d.ddd" × 10^exponent without an exponent.
void AppendFixed(std::string_view mantissa, int exponent, std::string* out) {
  if (mantissa.front() == '-') {
    out->push_back('-');
    mantissa.remove_prefix(1);
  }
  if (exponent < 0) {
    out->append("0.");
    out->append(static_cast<size_t>(-exponent - 1), '0');
  }
  int place = 0;  // of the next digit, counted from the first one
  for (const char c : mantissa) {
    if (c == '.') continue;
    out->push_back(c);
    if (place++ == exponent) out->push_back('.');
  }
  if (exponent < 0) return;
  if (place <= exponent) {
    out->append(static_cast<size_t>(exponent - place + 1), '0');
    out->push_back('.');
  }
  if (out->back() == '.') out->push_back('0');
}

}  // namespace

ScannedNumber ScanNumber(const char* text) {
  Parts parts{.begin = text};
  const char* p = text;
  if (*p == '-') {
    parts.negative = true;
    ++p;
  }
  p = ScanWhole(p, &parts);
  if (p == nullptr) return {Value(), nullptr};
  if (*p != '.' && *p != 'e' && *p != 'E') return {IntegerOf(parts, p), p};
  if (*p == '.') p = ScanFraction(p + 1, &parts);
  if (p != nullptr && (*p == 'e' || *p == 'E')) p = ScanExponent(p + 1, &parts);
  if (p == nullptr) return {Value(), nullptr};
  return {DecimalOf(parts, p), p};
}

void AppendDouble(double value, std::string* out) {
  // Not the plain form of to_chars: it prints large integers with all digits of their bits, which
  // is another decimal than the shortest one.
  std::array<char, 32> buffer{};
  const char* const begin = buffer.data();
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                          std::chars_format::scientific);
  const std::string_view text(begin, static_cast<size_t>(end - begin));
  const size_t e = text.find('e');
  Parts exponent{};
  ScanExponent(begin + e + 1, &exponent);
  if (exponent.exponent < kFixedExponentMin || exponent.exponent > kFixedExponentMax) {
    out->append(text);
    return;
  }
  AppendFixed(text.substr(0, e), static_cast<int>(exponent.exponent), out);
}

Decimal ToDecimal(const Value& number) {
  switch (number.kind()) {
    case Kind::kInt: return Decimal::FromInt(number.as_int());
    case Kind::kUint: return Decimal::FromUint(number.as_uint());
    case Kind::kDouble: return Decimal::FromDoubleAsPrinted(number.as_double());
    case Kind::kNumberText: return Decimal::Parse(number.text()).value_or(Decimal());
    default: return Decimal();
  }
}

bool HasIntegralValue(const Value& number) {
  if (number.is_integer()) return true;
  if (number.kind() == Kind::kDouble) {
    return std::trunc(number.as_double()) == number.as_double();
  }
  return ToDecimal(number).is_integer();
}

}  // namespace fjord::doc
