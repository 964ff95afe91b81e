// Text helpers on std::string_view. Debian 12 builds Abseil with its own string_view class,
// which std::string_view does not convert to; everything of Abseil's that takes text is
// therefore called through here.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace fjord {

inline absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view ToStd(absl::string_view text) { return {text.data(), text.size()}; }

namespace strings_internal {
template <class T>
decltype(auto) Arg(const T& value) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return ToAbsl(value);
  } else {
    return (value);
  }
}
}  // namespace strings_internal

// absl::StrCat and absl::StrAppend that take std::string_view too.
template <class... Args>
std::string StrCat(const Args&... args) {
  return absl::StrCat(strings_internal::Arg(args)...);
}
template <class... Args>
void StrAppend(std::string* out, const Args&... args) {
  absl::StrAppend(out, strings_internal::Arg(args)...);
}

// The whole text as a number, or nothing.
template <class Int>
std::optional<Int> ParseInt(std::string_view text, int base = 10) {
  Int value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> Split(std::string_view text, char separator);
std::string Join(const std::vector<std::string>& parts, std::string_view separator);
std::string_view Trim(std::string_view text);

// Everything but letters, digits and "-._~" as %XX: one segment of a path or one value of a query.
std::string PercentEncode(std::string_view text);
// Nothing when a '%' is not followed by two hexadecimal digits.
std::optional<std::string> PercentDecode(std::string_view text);

// The candidate nearest to `word` by edit distance, when near enough to be a
// typing error; else nothing.
std::optional<std::string> Nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

}  // namespace fjord
