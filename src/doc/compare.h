// The total order of values: null < booleans (false < true) < numbers by value < strings by bytes
// < arrays item by item < objects member by member, name before value. A longer array or object
// comes after its own beginning.
//
// Numbers compare exactly, whatever they are held in: 1, 1.0 and 1e0 are equal.
#pragma once

#include <compare>

#include "doc/value.h"

namespace fjord::doc {

std::strong_ordering Compare(const Value& a, const Value& b);

inline bool Equal(const Value& a, const Value& b) { return Compare(a, b) == 0; }

// Precondition: both are numbers.
std::strong_ordering CompareNumbers(const Value& a, const Value& b);

}  // namespace fjord::doc
