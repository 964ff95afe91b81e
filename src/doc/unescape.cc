#include "doc/unescape.h"

#include <cstdint>
#include <cstring>
#include <optional>

namespace fjord::doc {
namespace {

std::optional<uint32_t> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

// The four digits behind "\u".
std::optional<uint32_t> HexUnit(const char* p, const char* end) {
  if (end - p < 4) return std::nullopt;
  uint32_t unit = 0;
  for (int i = 0; i < 4; ++i) {
    const std::optional<uint32_t> digit = HexDigit(p[i]);
    if (!digit) return std::nullopt;
    unit = unit << 4 | *digit;
  }
  return unit;
}

char* AppendUtf8(uint32_t c, char* out) {
  if (c < 0x80) {
    *out++ = static_cast<char>(c);
    return out;
  }
  if (c < 0x800) {
    *out++ = static_cast<char>(0xc0 | c >> 6);
  } else if (c < 0x10000) {
    *out++ = static_cast<char>(0xe0 | c >> 12);
    *out++ = static_cast<char>(0x80 | (c >> 6 & 0x3f));
  } else {
    *out++ = static_cast<char>(0xf0 | c >> 18);
    *out++ = static_cast<char>(0x80 | (c >> 12 & 0x3f));
    *out++ = static_cast<char>(0x80 | (c >> 6 & 0x3f));
  }
  *out++ = static_cast<char>(0x80 | (c & 0x3f));
  return out;
}

// What "\u" at `*in` stands for; moves `*in` behind it.
std::optional<uint32_t> TakeCodePoint(const char** in, const char* end) {
  const std::optional<uint32_t> first = HexUnit(*in + 2, end);
  if (!first) return std::nullopt;
  *in += 6;
  if (*first < 0xd800 || *first > 0xdfff) return first;
  if (*first > 0xdbff || end - *in < 6 || (*in)[0] != '\\' || (*in)[1] != 'u') return std::nullopt;
  const std::optional<uint32_t> second = HexUnit(*in + 2, end);
  if (!second || *second < 0xdc00 || *second > 0xdfff) return std::nullopt;
  *in += 6;
  return 0x10000 + ((*first - 0xd800) << 10) + (*second - 0xdc00);
}

char Simple(char escaped) {
  switch (escaped) {
    case '"':
    case '\\':
    case '/': return escaped;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return 0;
  }
}

}  // namespace

char* UnescapeInPlace(char* begin, char* end) {
  char* out = begin;
  const char* in = begin;
  while (in != end) {
    const void* const found = std::memchr(in, '\\', static_cast<size_t>(end - in));
    const size_t plain = static_cast<size_t>((found ? static_cast<const char*>(found) : end) - in);
    std::memmove(out, in, plain);
    out += plain;
    in += plain;
    if (in == end) break;
    if (end - in < 2) return nullptr;
    if (in[1] == 'u') {
      const std::optional<uint32_t> c = TakeCodePoint(&in, end);
      if (!c) return nullptr;
      out = AppendUtf8(*c, out);
    } else {
      const char c = Simple(in[1]);
      if (c == 0) return nullptr;
      *out++ = c;
      in += 2;
    }
  }
  return out;
}

}  // namespace fjord::doc
