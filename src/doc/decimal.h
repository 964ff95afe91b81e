// Exact decimals of any length, for comparisons and sums that a double would round.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace fjord::doc {

class Decimal {
 public:
  // A sum and its operands may not be longer than this when written out.
  static constexpr int64_t kDigitsMax = int64_t{1} << 20;
  static constexpr int64_t kMultipleDigitsMax = 4096;

  Decimal() = default;  // zero

  // "-12.50", "+7", ".5", "1e3"; nothing for any other text, or an exponent beyond 18 digits.
  static std::optional<Decimal> Parse(std::string_view text);
  static Decimal FromInt(int64_t value);
  static Decimal FromUint(uint64_t value);
  // The value of the bits, all of its digits. Precondition of both: finite.
  static Decimal FromDoubleExactly(double value);
  // The shortest decimal that reads back as the same double.
  static Decimal FromDoubleAsPrinted(double value);

  bool is_zero() const { return digits_.empty(); }
  bool is_integer() const { return exponent_ >= static_cast<int64_t>(digits_.size()); }

  // kInvalidArgument when the result would be longer than kDigitsMax.
  static absl::StatusOr<Decimal> Add(const Decimal& a, const Decimal& b);
  // Without exponent, without zeros that say nothing: "-12.5", "0". Precondition: a result of Add,
  // or as short as one.
  std::string ToString() const;
  // The remainder is zero. Nothing when the operands, written out, are longer than
  // kMultipleDigitsMax: the division is long division.
  static std::optional<bool> IsMultiple(const Decimal& value, const Decimal& of);

  friend bool operator==(const Decimal&, const Decimal&) = default;
  friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b);

 private:
  Decimal(bool negative, std::string digits, int64_t exponent);
  static std::strong_ordering CompareMagnitude(const Decimal& a, const Decimal& b);
  // The digits above 10^low, as an integer.
  std::string Aligned(int64_t low) const;
  int64_t low() const { return exponent_ - static_cast<int64_t>(digits_.size()); }

  // 0.digits × 10^exponent; neither the first nor the last digit is zero; no digits, no sign and
  // exponent 0 for zero.
  bool negative_ = false;
  std::string digits_;
  int64_t exponent_ = 0;
};

}  // namespace fjord::doc
