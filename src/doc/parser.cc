#include "doc/parser.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "doc/document_walk.h"

namespace fjord::doc {
namespace {

absl::Status NoDocument(std::string_view what, size_t offset) {
  return absl::InvalidArgumentError(StrCat("not a JSON document: ", what, ", at byte ", offset));
}

std::string_view Meaning(simdjson::error_code error) {
  switch (error) {
    case simdjson::UTF8_ERROR: return "the text is not UTF-8";
    case simdjson::UNCLOSED_STRING: return "a string without its closing quote";
    case simdjson::UNESCAPED_CHARS: return "a string with a control character that is not escaped";
    case simdjson::EMPTY: return "there is no text";
    default: return simdjson::error_message(error);
  }
}

size_t LineAt(std::string_view text, size_t offset) {
  return 1 + static_cast<size_t>(std::count(text.begin(), text.begin() + offset, '\n'));
}

// The arena's copy of the text, with blanks behind it.
char* CopyPadded(std::string_view text, Arena& arena) {
  char* const copy = arena.Allocate(text.size() + simdjson::SIMDJSON_PADDING);
  std::memcpy(copy, text.data(), text.size());
  std::memset(copy + text.size(), ' ', simdjson::SIMDJSON_PADDING);
  return copy;
}

}  // namespace

struct Parser::State {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> tokens;
  WalkStacks stacks;

  DocumentWalk Walk(char* text, size_t size, Arena& arena) {
    return DocumentWalk(text, size, tokens->structural_indexes.get(), tokens->n_structural_indexes,
                        arena, stacks);
  }
};

Parser::Parser() : state_(std::make_unique<State>()) {}
Parser::~Parser() = default;

// `text` has padding behind it.
absl::Status Parser::FindTokens(std::string_view text) {
  if (text.size() > kTextBytesMax) {
    return absl::InvalidArgumentError(
        StrCat("a text of ", text.size(), " bytes: the most is ", kTextBytesMax));
  }
  simdjson::error_code error = simdjson::SUCCESS;
  auto& tokens = state_->tokens;
  const size_t capacity = std::max<size_t>(text.size(), 4096);
  if (tokens == nullptr) {
    error = simdjson::get_active_implementation()->create_dom_parser_implementation(capacity, 1,
                                                                                    tokens);
  } else if (tokens->capacity() < text.size()) {
    error = tokens->set_capacity(capacity);
  }
  if (error) return absl::ResourceExhaustedError("no memory to parse a text");
  error = tokens->stage1(reinterpret_cast<const uint8_t*>(text.data()), text.size(),
                         simdjson::stage1_mode::regular);
  if (error) return absl::InvalidArgumentError(StrCat("not a JSON document: ", Meaning(error)));
  return absl::OkStatus();
}

absl::StatusOr<Value> Parser::Parse(std::string_view text, Arena& arena) {
  char* const copy = CopyPadded(text, arena);
  RETURN_IF_ERROR(FindTokens({copy, text.size()}));
  DocumentWalk walk = state_->Walk(copy, text.size(), arena);
  Value document;
  if (!walk.Next(&document)) return NoDocument(walk.what(), walk.offset());
  if (!walk.AtEnd()) return absl::InvalidArgumentError("more than one JSON document in a text");
  return document;
}

absl::Status Parser::ParseMany(std::string_view text, Arena& arena, std::vector<Value>* documents) {
  if (Trim(text).empty()) return absl::OkStatus();
  char* const copy = CopyPadded(text, arena);
  if (absl::Status found = FindTokens({copy, text.size()}); !found.ok()) {
    // The search for tokens does not say where it failed.
    if (text.size() > kTextBytesMax) return found;
    return ParseLines(text, arena, documents);
  }
  DocumentWalk walk = state_->Walk(copy, text.size(), arena);
  while (!walk.AtEnd()) {
    Value document;
    if (!walk.Next(&document)) {
      return Annotate(NoDocument(walk.what(), walk.offset()),
                      StrCat("line ", LineAt(text, walk.offset())));
    }
    documents->push_back(document);
  }
  return absl::OkStatus();
}

absl::Status Parser::ParseLines(std::string_view text, Arena& arena,
                                std::vector<Value>* documents) {
  size_t begin = 0;
  for (size_t line = 1; begin < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view one = text.substr(begin, end - begin);
    begin = end + 1;
    if (Trim(one).empty()) continue;
    absl::StatusOr<Value> document = Parse(one, arena);
    if (!document.ok()) return Annotate(document.status(), StrCat("line ", line));
    documents->push_back(*document);
  }
  return absl::OkStatus();
}

}  // namespace fjord::doc
