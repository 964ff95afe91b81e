// XML as S3 servers answer with it: elements and text. Attributes and comments are skipped, a
// DOCTYPE is refused, so nothing in an answer can name another document or grow.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace fjord {

struct XmlElement {
  std::string name;  // without a namespace prefix
  std::string text;  // of the element itself, entities resolved
  std::vector<XmlElement> children;

  const XmlElement* Find(std::string_view child) const;  // the first one, or nullptr
  std::string TextOf(std::string_view child) const;      // empty when there is none
};

// The root element; kDataLoss when the text is not well-formed or nests deeper than 32 elements.
absl::StatusOr<XmlElement> ParseXml(std::string_view text);

// Text for the content of an element.
std::string XmlEscape(std::string_view text);

}  // namespace fjord
