#include "doc/decimal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/strings.h"

namespace fjord::doc {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view TakeDigits(std::string_view* text) {
  size_t count = 0;
  while (count < text->size() && IsDigit((*text)[count])) ++count;
  const std::string_view digits = text->substr(0, count);
  text->remove_prefix(count);
  return digits;
}

bool TakeOne(std::string_view* text, std::string_view any_of) {
  if (text->empty() || any_of.find(text->front()) == std::string_view::npos) return false;
  text->remove_prefix(1);
  return true;
}

// What follows "e".
std::optional<int64_t> TakeExponent(std::string_view* text) {
  const bool negative = !text->empty() && text->front() == '-';
  TakeOne(text, "+-");
  const std::string_view digits = TakeDigits(text);
  const size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
  if (digits.empty() || digits.size() - zeros > 18) return std::nullopt;
  int64_t value = 0;
  for (const char c : digits) value = value * 10 + (c - '0');
  return negative ? -value : value;
}

// a + b of two integers in text.
std::string AddIntegers(std::string a, const std::string& b) {
  if (a.size() < b.size()) return AddIntegers(b, a);
  int carry = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    char& digit = a[a.size() - 1 - i];
    const int sum = (digit - '0') + (i < b.size() ? b[b.size() - 1 - i] - '0' : 0) + carry;
    digit = static_cast<char>('0' + sum % 10);
    carry = sum / 10;
  }
  return carry == 0 ? a : "1" + a;
}

// a - b, where a ≥ b.
std::string SubtractIntegers(std::string a, const std::string& b) {
  int borrow = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    char& digit = a[a.size() - 1 - i];
    int difference = (digit - '0') - borrow;
    if (i < b.size()) difference -= b[b.size() - 1 - i] - '0';
    borrow = difference < 0 ? 1 : 0;
    digit = static_cast<char>('0' + difference + 10 * borrow);
  }
  return a;
}

// dividend % divisor == 0 by long division; the divisor without leading zeros.
bool DividesInteger(const std::string& dividend, const std::string& divisor) {
  std::string rest;
  for (const char digit : dividend) {
    if (!rest.empty() || digit != '0') rest += digit;
    while (rest.size() > divisor.size() || (rest.size() == divisor.size() && rest >= divisor)) {
      rest = SubtractIntegers(std::move(rest), divisor);
      rest.erase(0, std::min(rest.find_first_not_of('0'), rest.size()));
    }
  }
  return rest.empty();
}

}  // namespace

Decimal::Decimal(bool negative, std::string digits, int64_t exponent) {
  const size_t first = digits.find_first_not_of('0');
  if (first == std::string::npos) return;
  digits_ = digits.substr(first, digits.find_last_not_of('0') - first + 1);
  exponent_ = exponent - static_cast<int64_t>(first);
  negative_ = negative;
}

std::optional<Decimal> Decimal::Parse(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  TakeOne(&text, "+-");
  const std::string_view whole = TakeDigits(&text);
  std::string_view fraction;
  if (TakeOne(&text, ".")) fraction = TakeDigits(&text);
  if (whole.empty() && fraction.empty()) return std::nullopt;
  int64_t exponent = 0;
  if (TakeOne(&text, "eE")) {
    const std::optional<int64_t> taken = TakeExponent(&text);
    if (!taken) return std::nullopt;
    exponent = *taken;
  }
  if (!text.empty()) return std::nullopt;
  return Decimal(negative, StrCat(whole, fraction), exponent + static_cast<int64_t>(whole.size()));
}

Decimal Decimal::FromInt(int64_t value) { return *Parse(StrCat(value)); }
Decimal Decimal::FromUint(uint64_t value) { return *Parse(StrCat(value)); }

Decimal Decimal::FromDoubleExactly(double value) {
  // No double has more than 767 significant digits.
  std::array<char, 800> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                          std::chars_format::scientific, 766);
  return *Parse({buffer.data(), static_cast<size_t>(end - buffer.data())});
}

Decimal Decimal::FromDoubleAsPrinted(double value) {
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                          std::chars_format::scientific);
  return *Parse({buffer.data(), static_cast<size_t>(end - buffer.data())});
}

std::string Decimal::Aligned(int64_t low) const {
  return digits_ + std::string(static_cast<size_t>(this->low() - low), '0');
}

absl::StatusOr<Decimal> Decimal::Add(const Decimal& a, const Decimal& b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  const int64_t low = std::min(a.low(), b.low());
  const int64_t high = std::max(a.exponent_, b.exponent_);
  if (high - low > kDigitsMax || high > kDigitsMax || low < -kDigitsMax) {
    return absl::InvalidArgumentError(
        StrCat("a sum of decimals would have more than ", kDigitsMax, " digits"));
  }
  const std::string x = a.Aligned(low);
  const std::string y = b.Aligned(low);
  const auto make = [low](bool negative, std::string digits) {
    const int64_t exponent = low + static_cast<int64_t>(digits.size());
    return Decimal(negative, std::move(digits), exponent);
  };
  if (a.negative_ == b.negative_) return make(a.negative_, AddIntegers(x, y));
  if (CompareMagnitude(a, b) >= 0) return make(a.negative_, SubtractIntegers(x, y));
  return make(b.negative_, SubtractIntegers(y, x));
}

std::string Decimal::ToString() const {
  if (is_zero()) return "0";
  std::string text = negative_ ? "-" : "";
  const int64_t size = static_cast<int64_t>(digits_.size());
  if (exponent_ <= 0) {
    StrAppend(&text, "0.", std::string(static_cast<size_t>(-exponent_), '0'), digits_);
  } else if (exponent_ >= size) {
    StrAppend(&text, digits_, std::string(static_cast<size_t>(exponent_ - size), '0'));
  } else {
    const auto point = static_cast<size_t>(exponent_);
    StrAppend(&text, digits_.substr(0, point), ".", digits_.substr(point));
  }
  return text;
}

std::optional<bool> Decimal::IsMultiple(const Decimal& value, const Decimal& of) {
  if (value.is_zero()) return true;
  if (of.is_zero()) return false;
  const int64_t low = std::min(value.low(), of.low());
  if (std::max(value.exponent_, of.exponent_) - low > kMultipleDigitsMax) return std::nullopt;
  return DividesInteger(value.Aligned(low), of.Aligned(low));
}

std::strong_ordering Decimal::CompareMagnitude(const Decimal& a, const Decimal& b) {
  if (a.is_zero() || b.is_zero()) return !a.is_zero() <=> !b.is_zero();
  if (a.exponent_ != b.exponent_) return a.exponent_ <=> b.exponent_;
  return a.digits_.compare(b.digits_) <=> 0;
}

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) {
  if (a.negative_ != b.negative_) return b.negative_ <=> a.negative_;
  return a.negative_ ? Decimal::CompareMagnitude(b, a) : Decimal::CompareMagnitude(a, b);
}

}  // namespace fjord::doc
