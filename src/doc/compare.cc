#include "doc/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "doc/number.h"

namespace fjord::doc {
namespace {

constexpr double kExactIntegerMax = 9007199254740992.0;  // 2^53: up to here doubles are exact

int Rank(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull: return 0;
    case Kind::kBool: return 1;
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
    case Kind::kNumberText: return 2;
    case Kind::kString: return 3;
    case Kind::kArray: return 4;
    case Kind::kObject: return 5;
  }
  return 0;
}

std::strong_ordering CompareDoubles(double a, double b) {
  if (a < b) return std::strong_ordering::less;
  return a > b ? std::strong_ordering::greater : std::strong_ordering::equal;
}

std::strong_ordering CompareIntegers(const Value& a, const Value& b) {
  if (a.kind() == b.kind()) {
    return a.kind() == Kind::kInt ? a.as_int() <=> b.as_int() : a.as_uint() <=> b.as_uint();
  }
  // A kUint is larger than any kInt.
  return a.kind() == Kind::kInt ? std::strong_ordering::less : std::strong_ordering::greater;
}

bool FitsDouble(const Value& number) {
  if (number.kind() == Kind::kDouble) return std::abs(number.as_double()) <= kExactIntegerMax;
  if (number.kind() != Kind::kInt) return false;
  return number.as_int() <= int64_t{1} << 53 && number.as_int() >= -(int64_t{1} << 53);
}

double AsDouble(const Value& number) {
  return number.kind() == Kind::kDouble ? number.as_double() : static_cast<double>(number.as_int());
}

std::strong_ordering CompareItems(std::span<const Value> a, std::span<const Value> b) {
  const size_t common = std::min(a.size(), b.size());
  for (size_t i = 0; i < common; ++i) {
    if (const auto order = Compare(a[i], b[i]); order != 0) return order;
  }
  return a.size() <=> b.size();
}

std::strong_ordering CompareMembers(std::span<const Member> a, std::span<const Member> b) {
  const size_t common = std::min(a.size(), b.size());
  for (size_t i = 0; i < common; ++i) {
    if (const auto order = a[i].name <=> b[i].name; order != 0) return order;
    if (const auto order = Compare(a[i].value, b[i].value); order != 0) return order;
  }
  return a.size() <=> b.size();
}

}  // namespace

std::strong_ordering CompareNumbers(const Value& a, const Value& b) {
  if (a.is_integer() && b.is_integer()) return CompareIntegers(a, b);
  if (a.kind() == Kind::kDouble && b.kind() == Kind::kDouble) {
    return CompareDoubles(a.as_double(), b.as_double());
  }
  if (FitsDouble(a) && FitsDouble(b)) return CompareDoubles(AsDouble(a), AsDouble(b));
  return ToDecimal(a) <=> ToDecimal(b);
}

std::strong_ordering Compare(const Value& a, const Value& b) {
  const int rank = Rank(a);
  if (const auto order = rank <=> Rank(b); order != 0) return order;
  switch (a.kind()) {
    case Kind::kNull: return std::strong_ordering::equal;
    case Kind::kBool: return a.as_bool() <=> b.as_bool();
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
    case Kind::kNumberText: return CompareNumbers(a, b);
    case Kind::kString: return a.text().compare(b.text()) <=> 0;
    case Kind::kArray: return CompareItems(a.items(), b.items());
    case Kind::kObject: return CompareMembers(a.members(), b.members());
  }
  return std::strong_ordering::equal;
}

}  // namespace fjord::doc
