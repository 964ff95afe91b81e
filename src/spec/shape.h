// The vocabulary in which the grammar is described: a tree of shapes.
//
// One description serves the checker (check.cc), the JSON Schema (json_schema.cc) and the search
// for the nearest right key, so that they cannot differ. Shapes are immutable once built.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fjord {

enum class ShapeKind {
  kText,
  kEnum,
  kInteger,
  kBoolean,
  kDuration,
  kSize,
  kObject,  // fixed keys
  kMap,     // names of the user's choice
  kList,
  kTextOrObject,  // the short and the long form of one thing
};

struct Shape;
using ShapePtr = std::shared_ptr<const Shape>;

enum class KeyUse { kOptional, kRequired, kNotYet };

struct Key {
  std::string name;
  ShapePtr shape;  // null when the use is kNotYet
  std::string description;
  KeyUse use = KeyUse::kOptional;
  std::string default_text = {};  // as one would write it; empty: none
};

// Two keys of one object.
using KeyPair = std::pair<std::string, std::string>;

struct Shape {
  ShapeKind kind;
  std::string example = {};  // "text such as public.orders": what a message says was expected

  // kText
  std::string pattern = {};  // ECMAScript, matched whole; empty: any text but the empty one

  // kEnum; also kInteger with a closed set, as text
  std::vector<std::string> values = {};
  std::vector<std::string> later_values = {};  // known, but not yet

  // kInteger; kSize in bytes; kDuration in milliseconds
  int64_t least = 0;
  int64_t most = INT64_MAX;

  // kObject
  std::vector<Key> keys = {};
  std::vector<std::string> exactly_one_of = {};
  std::vector<KeyPair> exclusions = {};  // not both
  std::vector<KeyPair> needs = {};       // the first only with the second

  // kMap: the names and what each holds
  std::string name_pattern = {};
  std::string name_rule = {};

  ShapePtr item = nullptr;    // kMap, kList
  ShapePtr text = nullptr;    // kTextOrObject
  ShapePtr object = nullptr;  // kTextOrObject

  const Key* FindKey(std::string_view name) const;
};

}  // namespace fjord
