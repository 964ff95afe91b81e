// Internal to schemas: what they are compiled to.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doc/arena.h"
#include "doc/format.h"
#include "doc/pattern.h"
#include "doc/schema.h"
#include "doc/schema_type.h"
#include "doc/value.h"

namespace fjord::doc {

// A schema with a base URI of its own.
struct SchemaResource {
  std::string uri;
  const Value* root = nullptr;
  std::map<std::string, const Value*, std::less<>> anchors;
  // Those that `$dynamicRef` goes to. `$recursiveAnchor` is the one with an empty name.
  std::map<std::string, const Value*, std::less<>> dynamic_anchors;
};

struct NumberRules {
  const Value* minimum = nullptr;
  const Value* maximum = nullptr;
  const Value* exclusive_minimum = nullptr;
  const Value* exclusive_maximum = nullptr;
  const Value* multiple_of = nullptr;
};

struct StringRules {
  uint64_t min_length = 0;
  uint64_t max_length = UINT64_MAX;
  std::optional<Pattern> pattern;
  FormatCheck format = nullptr;
};

struct ArrayRules {
  uint64_t min_items = 0;
  uint64_t max_items = UINT64_MAX;
  bool unique = false;
  std::vector<const SchemaNode*> prefix;
  const SchemaNode* rest = nullptr;
  std::string_view rest_keyword;
  const SchemaNode* contains = nullptr;
  uint64_t min_contains = 1;
  uint64_t max_contains = UINT64_MAX;
  bool contains_evaluates = false;  // since 2020-12
};

// What is known about one name; sorted by name, like the members that it is compared with.
struct PropertyRule {
  Name name;
  const SchemaNode* schema = nullptr;
  bool required = false;
};

struct Dependency {
  Name name;
  std::vector<Name> required;
  const SchemaNode* schema = nullptr;
};

struct ObjectRules {
  uint64_t min_properties = 0;
  uint64_t max_properties = UINT64_MAX;
  std::vector<PropertyRule> properties;
  std::vector<std::pair<Pattern, const SchemaNode*>> patterns;
  const SchemaNode* additional = nullptr;
  const SchemaNode* names = nullptr;
  std::vector<Dependency> dependencies;
};

// Subschemas of the same value.
struct LogicRules {
  const SchemaNode* ref = nullptr;
  const SchemaNode* dynamic_ref = nullptr;    // where it goes without a dynamic scope
  std::optional<std::string> dynamic_anchor;  // and the name to look for
  std::vector<const SchemaNode*> all_of;
  std::vector<const SchemaNode*> any_of;
  std::vector<const SchemaNode*> one_of;
  const SchemaNode* not_schema = nullptr;
  const SchemaNode* if_schema = nullptr;
  const SchemaNode* then_schema = nullptr;
  const SchemaNode* else_schema = nullptr;
};

struct SchemaNode {
  const Value* source = nullptr;
  const SchemaResource* resource = nullptr;
  std::string location;  // URI with a pointer
  TypeMask types = kAnyType;
  uint8_t annotation_kinds = kNoAnnotations;
  bool never = false;  // the schema `false`
  const Value* const_value = nullptr;
  const Value* enum_values = nullptr;
  std::unique_ptr<NumberRules> numbers;
  std::unique_ptr<StringRules> strings;
  std::unique_ptr<ArrayRules> arrays;
  std::unique_ptr<ObjectRules> objects;
  std::unique_ptr<LogicRules> logic;
  const SchemaNode* unevaluated_items = nullptr;
  const SchemaNode* unevaluated_properties = nullptr;
  SchemaAnnotations annotations;
};

// Everything that belongs to one compiled schema. Its parts keep their addresses.
struct SchemaGraph {
  Arena arena;
  std::deque<Value> documents;
  std::list<SchemaResource> resources;
  std::list<Strategy> strategies;
  std::deque<SchemaNode> nodes;
  std::map<const Value*, SchemaNode*> node_of;
  const SchemaNode* root = nullptr;
  bool has_dynamic_scope = false;
};

}  // namespace fjord::doc
