// Internal to the parser: from the places of tokens to a tree in the arena.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "doc/arena.h"
#include "doc/value.h"

namespace fjord::doc {

// Like std::vector, whose push_back is a call; here it is the innermost loop.
template <class T>
class WalkStack {
 public:
  size_t size() const { return size_; }
  void Push(const T& value) {
    if (size_ == items_.size()) items_.resize(items_.empty() ? 64 : 2 * size_);
    items_[size_++] = value;
  }
  void Shrink(size_t size) { size_ = size; }
  std::span<const T> From(size_t base) const { return {items_.data() + base, size_ - base}; }

 private:
  std::vector<T> items_;
  size_t size_ = 0;
};

// What the walk of one document keeps for the next one: open arrays and objects.
struct WalkStacks {
  WalkStack<Value> values;
  WalkStack<Member> members;
};

class DocumentWalk {
 public:
  // `text` is ours to change, with some blanks behind its end. `tokens` holds the offset of each
  // token, a scalar's first byte, and the text's size behind the last one.
  DocumentWalk(char* text, size_t size, const uint32_t* tokens, size_t token_count, Arena& arena,
               WalkStacks& stacks)
      : text_(text),
        end_(text + size),
        next_(tokens),
        last_(tokens + token_count),
        backslash_(text - 1),
        arena_(arena),
        stacks_(stacks) {}

  bool AtEnd() const { return next_ == last_; }

  // The next document. False: see what() and offset().
  bool Next(Value* document);

  std::string_view what() const { return what_; }
  size_t offset() const { return offset_; }

 private:
  bool ParseValue(int depth, Value* value);
  bool ParseArray(int depth, Value* value);
  bool ParseObject(int depth, Value* value);
  bool ParseMember(int depth);
  bool ParseNumber(char* place, Value* value);
  bool ParseLiteral(char* place, std::string_view word, const Value& meaning, Value* value);
  bool ParseString(char* place, std::string_view* string);

  // The token's first byte; a blank behind the last token.
  char* Peek() const { return text_ + *next_; }
  char* Take() { return text_ + (next_ == last_ ? *next_ : *next_++); }
  bool Fail(const char* place, std::string_view what);

  char* text_;
  char* end_;
  const uint32_t* next_;
  const uint32_t* last_;
  const char* backslash_;  // the first one at or behind the last string, or end_
  Arena& arena_;
  WalkStacks& stacks_;
  std::string_view what_;
  size_t offset_ = 0;
};

}  // namespace fjord::doc
