// What the tests of this layer share.
#pragma once

#include <string_view>

#include "doc/arena.h"
#include "doc/parser.h"
#include "doc/value.h"

namespace fjord::doc {

inline Arena& TestArena() {
  static Arena arena;
  return arena;
}

// A document that lives as long as the program. Ends it when the text is none.
inline Value J(std::string_view text) {
  static Parser parser;
  absl::StatusOr<Value> value = parser.Parse(text, TestArena());
  return std::move(value).value();
}

}  // namespace fjord::doc
