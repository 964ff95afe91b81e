#include "io/s3_xml.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr int kDepthMax = 32;
constexpr std::string_view kSpace = " \t\r\n";

void AppendUtf8(uint32_t code, std::string* out) {
  const auto put = [out](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6), put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18), put(0x80 | (code >> 12 & 0x3F)), put(0x80 | (code >> 6 & 0x3F)),
        put(0x80 | (code & 0x3F));
  }
}

// `entity` without '&' and ';'. False: there is no such one.
bool AppendEntity(std::string_view entity, std::string* out) {
  constexpr std::pair<std::string_view, char> kNamed[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [name, c] : kNamed) {
    if (entity == name) return out->push_back(c), true;
  }
  if (!entity.starts_with("#")) return false;
  const bool hexadecimal = entity.starts_with("#x");
  const auto code = ParseInt<uint32_t>(entity.substr(hexadecimal ? 2 : 1), hexadecimal ? 16 : 10);
  if (!code || *code == 0 || *code > 0x10FFFF || (*code >= 0xD800 && *code < 0xE000)) return false;
  AppendUtf8(*code, out);
  return true;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  absl::StatusOr<XmlElement> Document() {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
    RETURN_IF_ERROR(SkipMisc());
    ASSIGN_OR_RETURN(XmlElement root, Element(0));
    RETURN_IF_ERROR(SkipMisc());
    if (!rest_.empty()) return Bad("text after the end");
    return root;
  }

 private:
  static absl::Status Bad(std::string_view what) {
    return absl::DataLossError(StrCat("not XML: ", what));
  }

  // False: `end` does not come any more.
  bool SkipPast(std::string_view end) {
    const size_t at = rest_.find(end);
    if (at == std::string_view::npos) return false;
    rest_.remove_prefix(at + end.size());
    return true;
  }

  // White space, comments and processing instructions.
  absl::Status SkipMisc() {
    while (true) {
      rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpace), rest_.size()));
      if (rest_.starts_with("<?")) {
        if (!SkipPast("?>")) return Bad("an instruction does not end");
      } else if (rest_.starts_with("<!--")) {
        if (!SkipPast("-->")) return Bad("a comment does not end");
      } else {
        return absl::OkStatus();
      }
    }
  }

  // The tag that rest_ begins with, without '<' and '>'. A '>' within an attribute's quotes does
  // not end it.
  absl::StatusOr<std::string_view> Tag() {
    char quote = 0;
    for (size_t i = 1; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '>') {
        const std::string_view tag = rest_.substr(1, i - 1);
        rest_.remove_prefix(i + 1);
        return tag;
      }
    }
    return Bad("a tag does not end");
  }

  absl::StatusOr<XmlElement> Element(int depth) {
    if (depth > kDepthMax) return Bad("elements nest too deep");
    if (!rest_.starts_with("<") || rest_.starts_with("<!"))
      return Bad("an element must begin here");
    ASSIGN_OR_RETURN(std::string_view tag, Tag());
    const bool is_empty = tag.ends_with("/");
    if (is_empty) tag.remove_suffix(1);
    const std::string_view full_name = tag.substr(0, tag.find_first_of(kSpace));
    if (full_name.empty()) return Bad("an element without a name");
    XmlElement element{
        .name = std::string(full_name.substr(full_name.find(':') + 1)), .text = {}, .children = {}};
    if (!is_empty) RETURN_IF_ERROR(Content(full_name, depth, &element));
    return element;
  }

  absl::Status Content(std::string_view full_name, int depth, XmlElement* element) {
    constexpr std::string_view kCdata = "<![CDATA[";
    while (!rest_.empty()) {
      if (rest_.starts_with("</")) {
        ASSIGN_OR_RETURN(const std::string_view tag, Tag());
        return Trim(tag.substr(1)) == full_name ? absl::OkStatus() : Bad("tags do not match");
      }
      if (rest_.starts_with("<!--")) {
        if (!SkipPast("-->")) return Bad("a comment does not end");
      } else if (rest_.starts_with(kCdata)) {
        const size_t end = rest_.find("]]>");
        if (end == std::string_view::npos) return Bad("a CDATA section does not end");
        element->text += rest_.substr(kCdata.size(), end - kCdata.size());
        rest_.remove_prefix(end + 3);
      } else if (rest_.starts_with("<")) {
        ASSIGN_OR_RETURN(XmlElement child, Element(depth + 1));
        element->children.push_back(std::move(child));
      } else {
        RETURN_IF_ERROR(Text(&element->text));
      }
    }
    return Bad("an element does not end");
  }

  // Up to the next '<'.
  absl::Status Text(std::string* out) {
    std::string_view text = rest_.substr(0, rest_.find('<'));
    rest_.remove_prefix(text.size());
    while (true) {
      const size_t at = text.find('&');
      *out += text.substr(0, at);
      if (at == std::string_view::npos) return absl::OkStatus();
      const size_t end = text.find(';', at);
      if (end == std::string_view::npos || !AppendEntity(text.substr(at + 1, end - at - 1), out)) {
        return Bad("an unknown entity");
      }
      text.remove_prefix(end + 1);
    }
  }

  std::string_view rest_;
};

}  // namespace

const XmlElement* XmlElement::Find(std::string_view child) const {
  for (const XmlElement& element : children) {
    if (element.name == child) return &element;
  }
  return nullptr;
}

std::string XmlElement::TextOf(std::string_view child) const {
  const XmlElement* element = Find(child);
  return element == nullptr ? "" : element->text;
}

absl::StatusOr<XmlElement> ParseXml(std::string_view text) { return Parser(text).Document(); }

std::string XmlEscape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      default: out.push_back(c);
    }
  }
  return out;
}

}  // namespace fjord
