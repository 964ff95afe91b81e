// The strategy `sum`: integers exactly in 64 bits, decimals exactly in text, doubles as doubles.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/status.h"
#include "base/strings.h"
#include "doc/number.h"
#include "doc/reduction.h"
#include "doc/serialize.h"

namespace fjord::doc {
namespace {

using Int128 = __int128;

absl::Status NotANumber(const Value& value) {
  return absl::InvalidArgumentError(
      StrCat("sum adds numbers and strings that hold numbers, not ", ToJson(value).substr(0, 100)));
}

Int128 AsInt128(const Value& integer) {
  return integer.kind() == Kind::kInt ? Int128{integer.as_int()} : Int128{integer.as_uint()};
}

absl::StatusOr<Value> SumIntegers(const Value& a, const Value& b) {
  const Int128 sum = AsInt128(a) + AsInt128(b);
  if (sum < INT64_MIN || sum > Int128{UINT64_MAX}) {
    return absl::InvalidArgumentError(
        StrCat("the sum of ", ToJson(a), " and ", ToJson(b), " does not fit into 64 bits"));
  }
  return sum < 0 ? Value::Int(static_cast<int64_t>(sum)) : Value::Uint(static_cast<uint64_t>(sum));
}

double AsDouble(const Value& number) {
  switch (number.kind()) {
    case Kind::kInt: return static_cast<double>(number.as_int());
    case Kind::kUint: return static_cast<double>(number.as_uint());
    case Kind::kDouble: return number.as_double();
    default: return std::strtod(std::string(number.text()).c_str(), nullptr);
  }
}

absl::StatusOr<Value> SumDoubles(const Value& a, const Value& b) {
  const double sum = AsDouble(a) + AsDouble(b);
  if (std::isfinite(sum)) return Value::Double(sum);
  return absl::InvalidArgumentError(
      StrCat("the sum of ", ToJson(a), " and ", ToJson(b), " is too large for a number"));
}

// The exact value of a number, or of a string that holds one.
std::optional<Decimal> ExactValue(const Value& value) {
  if (value.is_string()) return Decimal::Parse(value.text());
  if (!value.is_number()) return std::nullopt;
  if (value.kind() == Kind::kDouble) return Decimal::FromDoubleExactly(value.as_double());
  return ToDecimal(value);
}

absl::StatusOr<Decimal> SumExactly(const Value& a, const Value& b) {
  const std::optional<Decimal> x = ExactValue(a);
  const std::optional<Decimal> y = ExactValue(b);
  if (!x) return NotANumber(a);
  if (!y) return NotANumber(b);
  return Decimal::Add(*x, *y);
}

// An integer of 64 bits where it is one, else text: never a double, which would make the next sum
// inexact.
Value NumberOf(const Decimal& decimal, Arena& arena) {
  const std::string_view text = arena.Copy(StrCat(decimal.ToString(), " "));
  const ScannedNumber scanned = ScanNumber(text.data());
  if (scanned.value.is_integer()) return scanned.value;
  return Value::NumberText(text.substr(0, text.size() - 1));
}

absl::StatusOr<Value> SumNumbers(const Value& a, const Value& b, Arena& arena) {
  if (a.is_integer() && b.is_integer()) return SumIntegers(a, b);
  if (a.kind() == Kind::kDouble || b.kind() == Kind::kDouble) return SumDoubles(a, b);
  ASSIGN_OR_RETURN(const Decimal sum, SumExactly(a, b));
  return NumberOf(sum, arena);
}

}  // namespace

absl::StatusOr<Value> SumValues(const Value* lhs, const Value& rhs, Arena& arena) {
  if (lhs == nullptr && rhs.is_number()) return rhs;
  const Value zero = Value::Int(0);
  const Value& left = lhs == nullptr ? zero : *lhs;
  if (left.is_number() && rhs.is_number()) return SumNumbers(left, rhs, arena);
  ASSIGN_OR_RETURN(const Decimal sum, SumExactly(left, rhs));
  return MakeString(sum.ToString(), arena);
}

}  // namespace fjord::doc
