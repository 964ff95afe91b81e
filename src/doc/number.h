// Numbers between text and Value.
#pragma once

#include <string>
#include <string_view>

#include "doc/decimal.h"
#include "doc/value.h"

namespace fjord::doc {

struct ScannedNumber {
  Value value;      // borrows the text when it is kNumberText
  const char* end;  // behind the number; null when there is none
};

// The JSON number at `text`, which ends with some character that no number contains.
ScannedNumber ScanNumber(const char* text);

// Precondition: finite. Shortest digits that read back the same; always with a point or an
// exponent.
void AppendDouble(double value, std::string* out);

// The exact value, a double's as it is printed. Precondition: a number.
Decimal ToDecimal(const Value& number);

// 5, 5.0 and 1e400 are; 5.5 is not. Precondition: a number.
bool HasIntegralValue(const Value& number);

}  // namespace fjord::doc
