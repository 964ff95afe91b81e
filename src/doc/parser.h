// JSON text to values. simdjson finds the tokens and checks the encoding; the tree is built
// straight into the arena, whose copy of the text holds the strings: no memory is taken for single
// values.
//
// At this boundary: duplicate names, the last wins. Lone surrogates are refused; U+0000 is a
// character like any other. Documents nest to kDepthMax. Numbers: doc/value.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "doc/arena.h"
#include "doc/value.h"

namespace fjord::doc {

// Confined to one thread; keeps its memory from call to call. Usable after an error.
class Parser {
 public:
  static constexpr int kDepthMax = 200;
  static constexpr size_t kTextBytesMax = size_t{1} << 31;

  Parser();
  ~Parser();

  // One document. kInvalidArgument with the byte offset when the text is none.
  absl::StatusOr<Value> Parse(std::string_view text, Arena& arena);

  // Documents one after another, with white space between. On an error, which names the line,
  // `documents` has received those before it.
  absl::Status ParseMany(std::string_view text, Arena& arena, std::vector<Value>* documents);

 private:
  struct State;

  absl::Status FindTokens(std::string_view text);
  absl::Status ParseLines(std::string_view text, Arena& arena, std::vector<Value>* documents);

  std::unique_ptr<State> state_;
};

}  // namespace fjord::doc
