#include "doc/document_walk.h"

#include <array>
#include <cstring>

#include "doc/number.h"
#include "doc/parser.h"
#include "doc/unescape.h"

namespace fjord::doc {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// What may stand behind a number or a literal.
constexpr std::array<bool, 256> kEndsScalar = [] {
  std::array<bool, 256> table{};
  for (const char c : {' ', '\n', '\r', '\t', ',', ']', '}', ':', '[', '{'}) {
    table[static_cast<uint8_t>(c)] = true;
  }
  return table;
}();

bool EndsScalar(char c) { return kEndsScalar[static_cast<uint8_t>(c)]; }

}  // namespace

bool DocumentWalk::Fail(const char* place, std::string_view what) {
  what_ = what;
  offset_ = static_cast<size_t>(place - text_);
  return false;
}

bool DocumentWalk::Next(Value* document) {
  stacks_.values.Shrink(0);
  stacks_.members.Shrink(0);
  return ParseValue(0, document);
}

bool DocumentWalk::ParseValue(int depth, Value* value) {
  if (AtEnd()) return Fail(end_, "the text ends too early");
  char* const place = Take();
  switch (*place) {
    case '{': return ParseObject(depth + 1, value);
    case '[': return ParseArray(depth + 1, value);
    case '"': {
      std::string_view string;
      if (!ParseString(place, &string)) return false;
      *value = Value::String(string);
      return true;
    }
    case 't': return ParseLiteral(place, "true", Value::Bool(true), value);
    case 'f': return ParseLiteral(place, "false", Value::Bool(false), value);
    case 'n': return ParseLiteral(place, "null", Value(), value);
    default: return ParseNumber(place, value);
  }
}

bool DocumentWalk::ParseArray(int depth, Value* value) {
  if (depth > Parser::kDepthMax) return Fail(Peek(), "nested deeper than 200 levels");
  if (*Peek() == ']') {
    Take();
    *value = Value::Array({});
    return true;
  }
  WalkStack<Value>& values = stacks_.values;
  const size_t base = values.size();
  while (true) {
    Value item;
    if (!ParseValue(depth, &item)) return false;
    values.Push(item);
    const char* const separator = Take();
    if (*separator == ']') break;
    if (*separator != ',') return Fail(separator, "expected , or ] in an array");
  }
  *value = MakeArray(values.From(base), arena_);
  values.Shrink(base);
  return true;
}

bool DocumentWalk::ParseMember(int depth) {
  char* const place = Take();
  if (*place != '"') return Fail(place, "expected a name in quotes in an object");
  Member member;
  std::string_view name;
  if (!ParseString(place, &name)) return false;
  member.name = Name(name);
  if (const char* const colon = Take(); *colon != ':')
    return Fail(colon, "expected : after a name");
  if (!ParseValue(depth, &member.value)) return false;
  stacks_.members.Push(member);
  return true;
}

bool DocumentWalk::ParseObject(int depth, Value* value) {
  if (depth > Parser::kDepthMax) return Fail(Peek(), "nested deeper than 200 levels");
  if (*Peek() == '}') {
    Take();
    *value = Value::Object({});
    return true;
  }
  WalkStack<Member>& members = stacks_.members;
  const size_t base = members.size();
  while (true) {
    if (!ParseMember(depth)) return false;
    const char* const separator = Take();
    if (*separator == '}') break;
    if (*separator != ',') return Fail(separator, "expected , or } in an object");
  }
  *value = MakeObject(members.From(base), arena_);
  members.Shrink(base);
  return true;
}

bool DocumentWalk::ParseNumber(char* place, Value* value) {
  const ScannedNumber scanned = ScanNumber(place);
  if (scanned.end == nullptr || !EndsScalar(*scanned.end)) return Fail(place, "not a JSON value");
  *value = scanned.value;
  return true;
}

bool DocumentWalk::ParseLiteral(char* place, std::string_view word, const Value& meaning,
                                Value* value) {
  if (std::memcmp(place, word.data(), word.size()) != 0 || !EndsScalar(place[word.size()])) {
    return Fail(place, "not a JSON value");
  }
  *value = meaning;
  return true;
}

bool DocumentWalk::ParseString(char* place, std::string_view* string) {
  char* const begin = place + 1;
  // Tokens do not say where a string ends: at the last quote before the next token.
  char* close = Peek() - 1;
  while (close >= begin && IsBlank(*close)) --close;
  if (close < begin || *close != '"') return Fail(place, "a string without its closing quote");
  if (backslash_ < begin) {
    const void* const found = std::memchr(begin, '\\', static_cast<size_t>(end_ - begin));
    backslash_ = found == nullptr ? end_ : static_cast<const char*>(found);
  }
  char* end = close;
  if (backslash_ < close) end = UnescapeInPlace(begin, close);
  if (end == nullptr) return Fail(place, "a string with an escape that is none");
  *string = {begin, static_cast<size_t>(end - begin)};
  return true;
}

}  // namespace fjord::doc
