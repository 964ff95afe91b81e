// A JSON value of 16 bytes, immutable, whose text, items and members lie in an Arena.
//
// A Value is copied like a number and never owns anything: it is valid as long as the arena (or,
// where a function says "borrows", the text) that it was made from. The members of an object are
// sorted by the bytes of their names, and no name is there twice.
//
// Numbers (docs/architecture.md, "Documents"): an integer that fits into 64 bits is kInt, or
// kUint beyond the largest int64_t; a decimal that a double gives back is kDouble; everything else
// keeps its source text, kNumberText. The value of a double is the decimal that it is printed as.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "doc/arena.h"

namespace fjord::doc {

enum class Kind : uint8_t {
  kNull,
  kBool,
  kInt,         // int64_t
  kUint,        // uint64_t above the largest int64_t
  kDouble,      // finite
  kNumberText,  // a JSON number that none of the others holds
  kString,
  kArray,
  kObject,
};

// The name of a member. Its first four bytes are kept beside the pointer: most comparisons end
// there.
class Name {
 public:
  Name() = default;
  // Borrows the text.
  explicit Name(std::string_view text)
      : size_(static_cast<uint32_t>(text.size())), prefix_(PrefixOf(text)), text_(text.data()) {}

  std::string_view text() const { return {text_, size_}; }
  uint32_t prefix() const { return prefix_; }

  friend bool operator==(const Name& a, const Name& b) {
    if (a.size_ != b.size_ || a.prefix_ != b.prefix_) return false;
    return a.size_ <= 4 || SameRest(a.text_, b.text_, a.size_);
  }
  friend std::strong_ordering operator<=>(const Name& a, const Name& b) {
    if (a.prefix_ != b.prefix_) return a.prefix_ <=> b.prefix_;
    return a.text().compare(b.text()) <=> 0;
  }

 private:
  // Of texts with equal beginnings and more than four bytes. Two loads that overlap are cheaper
  // than a call for the short names that there are.
  static bool SameRest(const char* a, const char* b, size_t size) {
    if (size <= 8) return Load<uint32_t>(a + size - 4) == Load<uint32_t>(b + size - 4);
    if (size > 16) return std::memcmp(a + 4, b + 4, size - 4) == 0;
    return Load<uint64_t>(a) == Load<uint64_t>(b) &&
           Load<uint64_t>(a + size - 8) == Load<uint64_t>(b + size - 8);
  }
  template <class Word>
  static Word Load(const char* from) {
    Word word;
    std::memcpy(&word, from, sizeof(word));
    return word;
  }

  static uint32_t PrefixOf(std::string_view text) {
    uint32_t prefix = 0;
    if (text.size() >= 4) {
      std::memcpy(&prefix, text.data(), 4);
      return __builtin_bswap32(prefix);
    }
    for (size_t i = 0; i < text.size(); ++i) {
      prefix |= uint32_t{static_cast<uint8_t>(text[i])} << (24 - 8 * i);
    }
    return prefix;
  }

  uint32_t size_ = 0;
  uint32_t prefix_ = 0;  // big-endian, zeros behind a shorter name
  const char* text_ = nullptr;
};

struct Member;

class Value {
 public:
  Value() : Value(Kind::kNull, 0) {}

  static Value Bool(bool value) {
    Value made(Kind::kBool, 0);
    made.bool_ = value;
    return made;
  }
  static Value Int(int64_t value) {
    Value made(Kind::kInt, 0);
    made.int_ = value;
    return made;
  }
  static Value Uint(uint64_t value) {
    if (value <= uint64_t{INT64_MAX}) return Int(static_cast<int64_t>(value));
    Value made(Kind::kUint, 0);
    made.uint_ = value;
    return made;
  }
  // Precondition: finite.
  static Value Double(double value) {
    Value made(Kind::kDouble, 0);
    made.double_ = value;
    return made;
  }
  // These four borrow what they are given.
  static Value String(std::string_view text) { return Text(Kind::kString, text); }
  static Value NumberText(std::string_view text) { return Text(Kind::kNumberText, text); }
  static Value Array(std::span<const Value> items) {
    Value made(Kind::kArray, items.size());
    made.items_ = items.data();
    return made;
  }
  // Precondition: sorted by name, no name twice.
  static Value Object(std::span<const Member> members);

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_bool() const { return kind_ == Kind::kBool; }
  bool is_number() const { return kind_ >= Kind::kInt && kind_ <= Kind::kNumberText; }
  // An integer of 64 bits. (5.0 is an integer to JSON Schema, and a double here.)
  bool is_integer() const { return kind_ == Kind::kInt || kind_ == Kind::kUint; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_array() const { return kind_ == Kind::kArray; }
  bool is_object() const { return kind_ == Kind::kObject; }
  bool is_scalar() const { return kind_ < Kind::kArray; }

  // Precondition of each: the value is of that kind.
  bool as_bool() const { return bool_; }
  int64_t as_int() const { return int_; }
  uint64_t as_uint() const { return uint_; }
  double as_double() const { return double_; }
  std::string_view text() const { return {text_, size_}; }  // kString, kNumberText
  std::span<const Value> items() const { return {items_, size_}; }
  std::span<const Member> members() const;

  // Items, members or bytes of text.
  size_t size() const { return size_; }

  // The member, or null when this is no object or has none of that name.
  const Value* Find(const Name& name) const;
  const Value* Find(std::string_view name) const { return Find(Name(name)); }

 private:
  Value(Kind kind, size_t size) : kind_(kind), size_(static_cast<uint32_t>(size)), uint_(0) {}
  static Value Text(Kind kind, std::string_view text) {
    Value made(kind, text.size());
    made.text_ = text.data();
    return made;
  }

  Kind kind_;
  uint32_t size_;
  union {
    bool bool_;
    int64_t int_;
    uint64_t uint_;
    double double_;
    const char* text_;
    const Value* items_;
    const Member* members_;
  };
};
static_assert(sizeof(Value) == 16);

struct Member {
  Name name;
  Value value;
};

inline Value Value::Object(std::span<const Member> members) {
  Value made(Kind::kObject, members.size());
  made.members_ = members.data();
  return made;
}
inline std::span<const Member> Value::members() const { return {members_, size_}; }

// "null", "boolean", "number", … for messages.
std::string_view KindName(Kind kind);

// A value in `arena` that shares nothing with this one.
Value DeepCopy(const Value& value, Arena& arena);

// Copies of the arguments themselves; what items and members point to is shared.
Value MakeString(std::string_view text, Arena& arena);
Value MakeArray(std::span<const Value> items, Arena& arena);
// In any order; of equal names the last wins.
Value MakeObject(std::span<const Member> members, Arena& arena);

}  // namespace fjord::doc
