#include "doc/pointer.h"

#include <utility>

#include "base/strings.h"

namespace fjord::doc {
namespace {

std::optional<std::string> UnescapeToken(std::string_view token) {
  std::string plain;
  for (size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      plain += token[i];
      continue;
    }
    if (++i == token.size() || (token[i] != '0' && token[i] != '1')) return std::nullopt;
    plain += token[i] == '0' ? '~' : '/';
  }
  return plain;
}

// Appends the way from `from` down to `place`.
bool AppendWay(const Value& from, const Value* place, std::string* pointer) {
  if (&from == place) return true;
  const size_t length = pointer->size();
  if (from.is_array()) {
    for (size_t i = 0; i < from.size(); ++i) {
      StrAppend(pointer, "/", i);
      if (AppendWay(from.items()[i], place, pointer)) return true;
      pointer->resize(length);
    }
  } else if (from.is_object()) {
    for (const Member& member : from.members()) {
      AppendPointerToken(member.name.text(), pointer);
      if (AppendWay(member.value, place, pointer)) return true;
      pointer->resize(length);
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<Pointer> Pointer::Parse(std::string_view text) {
  Pointer pointer;
  pointer.text_ = text;
  if (text.empty()) return pointer;
  if (text.front() != '/') {
    return absl::InvalidArgumentError(
        StrCat("\"", text, "\" is no JSON pointer: it has to begin with /"));
  }
  for (const std::string& token : Split(text.substr(1), '/')) {
    std::optional<std::string> plain = UnescapeToken(token);
    if (!plain) {
      return absl::InvalidArgumentError(
          StrCat("\"", text, "\" is no JSON pointer: ~ is written ~0, and / inside of a name ~1"));
    }
    pointer.tokens_.push_back(*std::move(plain));
  }
  return pointer;
}

const Value* Pointer::Find(const Value& root) const {
  const Value* at = &root;
  for (const std::string& token : tokens_) {
    if (at->is_array()) {
      const std::optional<size_t> index = ParseArrayIndex(token);
      if (!index || *index >= at->size()) return nullptr;
      at = &at->items()[*index];
    } else {
      at = at->Find(token);
      if (at == nullptr) return nullptr;
    }
  }
  return at;
}

void AppendPointerToken(std::string_view token, std::string* pointer) {
  pointer->push_back('/');
  for (const char c : token) {
    if (c == '~') {
      pointer->append("~0");
    } else if (c == '/') {
      pointer->append("~1");
    } else {
      pointer->push_back(c);
    }
  }
}

std::optional<size_t> ParseArrayIndex(std::string_view token) {
  if (token.empty() || (token.front() == '0' && token.size() > 1)) return std::nullopt;
  return ParseInt<size_t>(token);
}

std::optional<std::string> PointerTo(const Value& root, const Value* place) {
  std::string pointer;
  if (!AppendWay(root, place, &pointer)) return std::nullopt;
  return pointer;
}

}  // namespace fjord::doc
