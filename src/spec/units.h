// Durations and sizes as the configuration writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace fjord {

// The forms as regular expressions (ECMAScript), for the checker and the JSON Schema alike.
inline constexpr std::string_view kDurationPattern = "^[0-9]{1,9}(ms|s|m|h|d)$";
inline constexpr std::string_view kSizePattern = "^[0-9]{1,9}(B|KiB|MiB|GiB)$";

// "500ms", "2s", "5m", "1h", "7d"; nothing when the text has another form.
std::optional<absl::Duration> ParseDuration(std::string_view text);
// "512B", "64KiB", "64MiB", "1GiB", in bytes.
std::optional<int64_t> ParseSize(std::string_view text);
// The shortest text that parses to the same size: "64MiB", "1000B".
std::string FormatSize(int64_t bytes);

}  // namespace fjord
