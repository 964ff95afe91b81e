// The values of the keyword `format` that are asserted. Others are annotations only.
//
//   date-time, date, time, duration    RFC 3339 (leap seconds as it has them)
//   email, hostname, ipv4, ipv6        RFC 5321, 1123, 2673, 4291; ASCII
//   uri, uri-reference                 RFC 3986
//   uuid                               RFC 4122
//   json-pointer, relative-json-pointer
//   regex                              what `pattern` takes
//   integer, number                    of strings: a whole number, a decimal
#pragma once

#include <string_view>

namespace fjord::doc {

using FormatCheck = bool (*)(std::string_view text);

// Null when the format is not asserted.
FormatCheck FindFormat(std::string_view name);

}  // namespace fjord::doc
