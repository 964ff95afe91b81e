// Values as compact JSON text in UTF-8. Members come in the order of their names; numbers that kept
// their source text are printed as they came.
#pragma once

#include <string>
#include <string_view>

#include "doc/value.h"

namespace fjord::doc {

void AppendJson(const Value& value, std::string* out);
std::string ToJson(const Value& value);

// With quotes. Escaped is what JSON demands: the quote, the backslash, U+0000 to U+001F.
void AppendJsonString(std::string_view text, std::string* out);

}  // namespace fjord::doc
