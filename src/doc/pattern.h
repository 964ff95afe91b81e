// Regular expressions of schemas, in an engine whose time grows linearly with the text.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace fjord::doc {

// Immutable; usable from several threads.
class Pattern {
 public:
  // ECMAScript syntax. kInvalidArgument for what the engine cannot run: looking ahead or behind,
  // and references to groups.
  static absl::StatusOr<Pattern> Compile(std::string_view expression);

  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  // Somewhere in the text.
  bool Matches(std::string_view text) const;

 private:
  struct Engine;

  explicit Pattern(std::unique_ptr<const Engine> engine);

  std::unique_ptr<const Engine> engine_;
};

// The same expression in the engine's syntax, where the two differ.
std::string TranslatePattern(std::string_view expression);

}  // namespace fjord::doc
