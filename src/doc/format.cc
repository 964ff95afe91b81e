#include "doc/format.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/strings.h"
#include "doc/decimal.h"
#include "doc/format_internal.h"
#include "doc/pattern.h"
#include "doc/pointer.h"

namespace fjord::doc {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool AllOf(std::string_view text, bool (*is)(char)) {
  return std::all_of(text.begin(), text.end(), is);
}

bool IsHostnameLabel(std::string_view label) {
  return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
         AllOf(label, [](char c) { return IsLetter(c) || IsDigit(c) || c == '-'; });
}

bool IsHostname(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  const std::vector<std::string> labels = Split(text, '.');
  return std::all_of(labels.begin(), labels.end(), IsHostnameLabel);
}

bool IsIpv4(std::string_view text) {
  const std::vector<std::string> parts = Split(text, '.');
  return parts.size() == 4 && std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
           return !part.empty() && part.size() <= 3 && AllOf(part, IsDigit) &&
                  (part.size() == 1 || part.front() != '0') && std::stoi(part) <= 255;
         });
}

// The number of 16-bit groups, or nothing. Only the end may be an IPv4 address.
std::optional<size_t> CountIpv6Groups(std::string_view text) {
  if (text.empty()) return 0;
  const std::vector<std::string> groups = Split(text, ':');
  for (size_t i = 0; i < groups.size(); ++i) {
    if (i + 1 == groups.size() && IsIpv4(groups[i])) return groups.size() + 1;
    if (groups[i].empty() || groups[i].size() > 4 || !AllOf(groups[i], IsHex)) return std::nullopt;
  }
  return groups.size();
}

bool IsIpv6(std::string_view text) {
  const size_t gap = text.find("::");
  if (gap == std::string_view::npos) return CountIpv6Groups(text) == 8;
  const std::string_view before = text.substr(0, gap);
  if (before.find('.') != std::string_view::npos) return false;
  const std::optional<size_t> head = CountIpv6Groups(before);
  const std::optional<size_t> tail = CountIpv6Groups(text.substr(gap + 2));
  return head && tail && *head + *tail <= 7;
}

bool IsAtomText(char c) {
  return IsLetter(c) || IsDigit(c) ||
         std::string_view("!#$%&'*+/=?^_`{|}~-").find(c) != std::string_view::npos;
}

bool IsLocalPart(std::string_view text) {
  if (text.empty() || text.size() > 64) return false;
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    return text.find('"', 1) == text.size() - 1;
  }
  const std::vector<std::string> atoms = Split(text, '.');
  return std::all_of(atoms.begin(), atoms.end(), [](const std::string& atom) {
    return !atom.empty() && AllOf(atom, IsAtomText);
  });
}

bool IsEmail(std::string_view text) {
  const size_t at = text.rfind('@');
  if (at == std::string_view::npos || !IsLocalPart(text.substr(0, at))) return false;
  std::string_view domain = text.substr(at + 1);
  if (!domain.starts_with('[')) return IsHostname(domain);
  if (!domain.ends_with(']')) return false;
  domain = domain.substr(1, domain.size() - 2);
  return domain.starts_with("IPv6:") ? IsIpv6(domain.substr(5)) : IsIpv4(domain);
}

bool IsUriCharacter(char c) {
  return IsLetter(c) || IsDigit(c) ||
         std::string_view("-._~:/?#[]@!$&'()*+,;=%").find(c) != std::string_view::npos;
}

bool IsUriReference(std::string_view text) {
  if (!AllOf(text, IsUriCharacter)) return false;
  for (size_t i = text.find('%'); i != std::string_view::npos; i = text.find('%', i + 1)) {
    if (i + 2 >= text.size() || !IsHex(text[i + 1]) || !IsHex(text[i + 2])) return false;
  }
  if (std::count(text.begin(), text.end(), '#') > 1) return false;
  // Brackets belong around the address of a host, and a colon before the first slash ends a scheme.
  const size_t host = text.find("//");
  const size_t bracket = text.find_first_of("[]");
  return bracket == std::string_view::npos ||
         (host != std::string_view::npos && bracket > host && text.find(']') != text.npos &&
          text.find('/', host + 2) > bracket);
}

bool IsUri(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || !IsLetter(text.front())) return false;
  return AllOf(text.substr(0, colon),
               [](char c) {
                 return IsLetter(c) || IsDigit(c) || c == '+' || c == '-' || c == '.';
               }) &&
         IsUriReference(text);
}

bool IsUuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !IsHex(text[i])) return false;
  }
  return true;
}

bool IsJsonPointer(std::string_view text) { return Pointer::Parse(text).ok(); }

bool IsRelativeJsonPointer(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || (digits > 1 && text.front() == '0')) return false;
  const std::string_view rest = text.substr(digits);
  return rest == "#" || IsJsonPointer(rest);
}

bool IsRegex(std::string_view text) { return Pattern::Compile(text).ok(); }

bool IsIntegerText(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && AllOf(text, IsDigit);
}

bool IsNumberText(std::string_view text) { return Decimal::Parse(text).has_value(); }

constexpr std::pair<std::string_view, FormatCheck> kFormats[] = {
    {"date", IsDate},
    {"date-time", IsDateTime},
    {"duration", IsDuration},
    {"email", IsEmail},
    {"hostname", IsHostname},
    {"integer", IsIntegerText},
    {"ipv4", IsIpv4},
    {"ipv6", IsIpv6},
    {"json-pointer", IsJsonPointer},
    {"number", IsNumberText},
    {"regex", IsRegex},
    {"relative-json-pointer", IsRelativeJsonPointer},
    {"time", IsTime},
    {"uri", IsUri},
    {"uri-reference", IsUriReference},
    {"uuid", IsUuid},
};

}  // namespace

FormatCheck FindFormat(std::string_view name) {
  for (const auto& [format, check] : kFormats) {
    if (format == name) return check;
  }
  return nullptr;
}

}  // namespace fjord::doc
