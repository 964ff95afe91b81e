// References between schemas (RFC 3986).
#pragma once

#include <string>
#include <string_view>

namespace fjord::doc {

// `reference` as seen from `base`, section 5.2 of the RFC. A base may be a plain path or empty.
std::string ResolveUri(std::string_view base, std::string_view reference);

struct SplitUri {
  std::string_view resource;
  std::string_view fragment;  // without its #
};
SplitUri SplitFragment(std::string_view uri);

}  // namespace fjord::doc
