// Arrays in PostgreSQL's text form as JSON text (docs/postgres-types.md, "Arrays").
//
// Format: PostgreSQL manual, "Arrays", "Array Input and Output Syntax".
#include <string>
#include <string_view>

#include "base/json.h"
#include "postgres/text_value.h"

namespace fjord {
namespace {

constexpr ValueFailure kMalformedArray{DecodeProblem::Kind::kMalformed,
                                       "not an array in PostgreSQL's form"};

void AppendJsonString(std::string_view text, std::string& out) { out += JsonQuote(text); }

// PostgreSQL prints numbers as JSON does, but for NaN and the infinities.
bool IsJsonNumber(std::string_view text) {
  const size_t sign = !text.empty() && text[0] == '-' ? 1 : 0;
  return text.size() > sign && text[sign] >= '0' && text[sign] <= '9';
}

// `text` without quotes and escapes.
bool AppendElement(std::string_view text, ArrayElement element, std::string& out) {
  switch (element) {
    case ArrayElement::kNumber:
      if (IsJsonNumber(text)) {
        out += text;
      } else {
        AppendJsonString(text, out);
      }
      return true;
    case ArrayElement::kBoolean:
      if (text != "t" && text != "f") return false;
      out += text == "t" ? "true" : "false";
      return true;
    case ArrayElement::kJson: out += text; return true;
    case ArrayElement::kString: AppendJsonString(text, out); return true;
  }
  return false;
}

struct Element {
  std::string_view text;  // into the array's text, or `unescaped`
  std::string unescaped;
  bool quoted = false;
};

// Takes one element from the front of `rest`; false when it is broken.
bool TakeElement(std::string_view& rest, char delimiter, Element& element) {
  element.quoted = rest.starts_with('"');
  if (element.quoted) rest.remove_prefix(1);
  const char first_end = element.quoted ? '"' : delimiter;
  const char second_end = element.quoted ? '"' : '}';
  auto find_end = [&](size_t from) {
    while (from < rest.size() && rest[from] != first_end && rest[from] != second_end &&
           rest[from] != '\\')
      ++from;
    return from < rest.size() ? from : std::string_view::npos;
  };
  size_t end = find_end(0);
  element.text = rest.substr(0, end);
  if (end != std::string_view::npos && rest[end] == '\\') {
    element.unescaped.clear();
    size_t from = 0;
    while (end != std::string_view::npos && rest[end] == '\\') {
      element.unescaped += rest.substr(from, end - from);
      from = end + 1;  // the escaped byte belongs to the next piece, whatever it is
      end = find_end(from + 1);
    }
    if (end != std::string_view::npos) element.unescaped += rest.substr(from, end - from);
    element.text = element.unescaped;
  }
  if (end == std::string_view::npos) return false;
  rest.remove_prefix(end + (element.quoted ? 1 : 0));
  return element.quoted || !element.text.empty();
}

// Takes an element and appends its JSON.
bool AppendNext(std::string_view& rest, ArrayElement element, char delimiter, Element& taken,
                std::string& out) {
  if (!TakeElement(rest, delimiter, taken)) return false;
  if (taken.quoted || taken.text != "NULL") return AppendElement(taken.text, element, out);
  out += "null";
  return true;
}

}  // namespace

ValueFailure ArrayToJson(std::string_view text, ArrayElement element, char delimiter,
                         std::string& out) {
  out.clear();
  // Bounds other than 1 ("[0:1]={…}") have no JSON array that gives them back.
  if (text.starts_with('[')) {
    AppendJsonString(text, out);
    return {};
  }
  std::string_view rest = text;
  Element taken;
  int depth = 0;
  // Each round takes a beginning of a dimension, or an element with what follows it.
  while (!rest.empty()) {
    if (rest.front() == '{') {
      rest.remove_prefix(1);
      out += '[';
      ++depth;
      if (!rest.starts_with('}')) continue;
    } else if (depth == 0 || !AppendNext(rest, element, delimiter, taken, out)) {
      return kMalformedArray;
    }
    while (rest.starts_with('}') && depth > 0) {
      rest.remove_prefix(1);
      out += ']';
      --depth;
    }
    if (depth == 0) break;
    if (!rest.starts_with(delimiter)) return kMalformedArray;
    rest.remove_prefix(1);
    out += ',';
  }
  if (depth != 0 || !rest.empty() || out.empty()) return kMalformedArray;
  return {};
}

}  // namespace fjord
