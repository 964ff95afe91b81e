// JSON pointers (RFC 6901).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "doc/value.h"

namespace fjord::doc {

class Pointer {
 public:
  Pointer() = default;  // the whole document

  // "" or "/a/0/b~1c"; kInvalidArgument for anything else.
  static absl::StatusOr<Pointer> Parse(std::string_view text);

  const std::string& text() const { return text_; }
  const std::vector<std::string>& tokens() const { return tokens_; }

  // The place in the document, or null when it is not there.
  const Value* Find(const Value& root) const;

  friend bool operator==(const Pointer& a, const Pointer& b) { return a.text_ == b.text_; }

 private:
  std::string text_;
  std::vector<std::string> tokens_;  // without escapes
};

// Appends "/token" with its escapes.
void AppendPointerToken(std::string_view token, std::string* pointer);

// The decimal index of an array item as a pointer writes it: no sign, no leading zero.
std::optional<size_t> ParseArrayIndex(std::string_view token);

// The pointer of the place at `place` inside of `root`, found by its address; nothing when it is
// not a part of it. Looks at the whole document: for messages only.
std::optional<std::string> PointerTo(const Value& root, const Value* place);

}  // namespace fjord::doc
