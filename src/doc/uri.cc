#include "doc/uri.h"

#include <cstddef>

#include "base/strings.h"

namespace fjord::doc {
namespace {

struct UriParts {
  std::string_view scheme;     // with its colon
  std::string_view authority;  // with its slashes
  std::string_view path;
  std::string_view query;     // with its ?
  std::string_view fragment;  // with its #
};

size_t SchemeSize(std::string_view uri) {
  const size_t end = uri.find_first_of(":/?#");
  return end != std::string_view::npos && uri[end] == ':' ? end + 1 : 0;
}

std::string_view Take(std::string_view* text, size_t size) {
  const std::string_view taken = text->substr(0, size);
  text->remove_prefix(taken.size());
  return taken;
}

UriParts SplitParts(std::string_view uri) {
  UriParts parts;
  parts.scheme = Take(&uri, SchemeSize(uri));
  if (uri.starts_with("//")) parts.authority = Take(&uri, uri.find_first_of("/?#", 2));
  parts.path = Take(&uri, uri.find_first_of("?#"));
  parts.query = Take(&uri, uri.find('#'));
  parts.fragment = uri;
  return parts;
}

// Section 5.2.4: "." and ".." are steps, not names.
std::string RemoveDotSegments(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const size_t size = path.find('/', 1);
    const std::string_view segment = Take(&path, size);
    const std::string_view name = segment.starts_with('/') ? segment.substr(1) : segment;
    if (name != "." && name != "..") {
      out += segment;
      continue;
    }
    if (name == "..") out.resize(out.rfind('/') == std::string::npos ? 0 : out.rfind('/'));
    if (path.empty()) out += '/';
  }
  return out;
}

std::string MergePaths(const UriParts& base, std::string_view path) {
  if (!base.authority.empty() && base.path.empty()) return StrCat("/", path);
  const size_t slash = base.path.rfind('/');
  if (slash == std::string_view::npos) return std::string(path);
  return StrCat(base.path.substr(0, slash + 1), path);
}

}  // namespace

std::string ResolveUri(std::string_view base_uri, std::string_view reference) {
  const UriParts base = SplitParts(base_uri);
  const UriParts to = SplitParts(reference);
  if (!to.scheme.empty()) return std::string(reference);
  if (!to.authority.empty()) return StrCat(base.scheme, reference);
  if (to.path.empty()) {
    return StrCat(base.scheme, base.authority, base.path, to.query.empty() ? base.query : to.query,
                  to.fragment);
  }
  const std::string path =
      to.path.starts_with('/') ? std::string(to.path) : MergePaths(base, to.path);
  return StrCat(base.scheme, base.authority, RemoveDotSegments(path), to.query, to.fragment);
}

SplitUri SplitFragment(std::string_view uri) {
  const size_t hash = uri.find('#');
  if (hash == std::string_view::npos) return {uri, {}};
  return {uri.substr(0, hash), uri.substr(hash + 1)};
}

}  // namespace fjord::doc
