// Internal to format.cc: dates and times (RFC 3339).
#pragma once

#include <string_view>

namespace fjord::doc {

bool IsDate(std::string_view text);
bool IsTime(std::string_view text);
bool IsDateTime(std::string_view text);
bool IsDuration(std::string_view text);

}  // namespace fjord::doc
