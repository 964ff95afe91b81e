// What is known of the values of a place and of the places below it: inferred from documents, read
// from schemas, united, cut to a size, and written as a schema.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "doc/arena.h"
#include "doc/schema_type.h"
#include "doc/value.h"

namespace fjord::doc {

struct ShapeProperty;

// Movable only: shapes are trees.
struct Shape {
  // The types that occur. None: the schema `false`.
  TypeMask types = 0;
  // Of strings: what all of them are.
  std::optional<std::string> format;
  // Bounds as JSON numbers in text, the lower one of each kind and the upper one; none when values
  // without it occur.
  std::optional<std::string> min_length, max_length, min_items, max_items, minimum, maximum;
  // Of arrays: any item when null.
  std::unique_ptr<Shape> items;
  // Of objects; sorted by name.
  std::vector<ShapeProperty> properties;
  // Other members: anything when null, none when it has no types.
  std::unique_ptr<Shape> additional;
};

struct ShapeProperty {
  std::string name;
  Shape shape;
  bool required = false;  // there in every object
};

// Anything at all.
Shape AnyShape();

// Of one document: its objects have the members that they have, and no others.
Shape ShapeOf(const Value& document);

// Of a schema. Keywords that a Shape does not have leave it as wide as it is without them.
// kInvalidArgument when it is no schema.
absl::StatusOr<Shape> ShapeOfSchema(const Value& schema);

// Types, formats and members are those of the shape; bounds are not looked at.
bool Admits(const Shape& shape, const Value& value);

// All values of both.
Shape Unite(Shape a, Shape b);

// Makes the shape one of the document too. True when that changed it; fast when not.
bool Widen(Shape& shape, const Value& document);

struct ShapeLimits {
  size_t locations_max = 1000;
  int depth_max = 12;
};
// Turns the members of the deepest objects into `additional` until the limits hold.
void EnforceLimits(Shape& shape, const ShapeLimits& limits);

// Places at and below it.
size_t CountLocations(const Shape& shape);

Value ToSchema(const Shape& shape, Arena& arena);

}  // namespace fjord::doc
