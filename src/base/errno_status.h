// What the operating system answers, as a status.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace fjord {

// "<what> <path>: <text of errno>". kNotFound: no such file. kResourceExhausted: disk full, quota,
// file size limit, memory. kFailedPrecondition: the rest.
absl::Status ErrnoStatus(int error, std::string_view what, std::string_view path);

}  // namespace fjord
