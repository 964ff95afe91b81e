// Shapes to and from schemas, and their limits.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "doc/number.h"
#include "doc/serialize.h"
#include "doc/shape.h"

namespace fjord::doc {
namespace {

struct BoundKeyword {
  std::string_view name;
  std::optional<std::string> Shape::* bound;
};
constexpr std::array<BoundKeyword, 6> kBounds = {{{"minLength", &Shape::min_length},
                                                  {"maxLength", &Shape::max_length},
                                                  {"minItems", &Shape::min_items},
                                                  {"maxItems", &Shape::max_items},
                                                  {"minimum", &Shape::minimum},
                                                  {"maximum", &Shape::maximum}}};

absl::StatusOr<TypeMask> ReadTypes(const Value& schema) {
  const Value* const type = schema.Find("type");
  if (type == nullptr) return kAnyType;
  TypeMask types = 0;
  const std::span<const Value> names =
      type->is_array() ? type->items() : std::span<const Value>(type, 1);
  for (const Value& name : names) {
    const TypeMask bits = name.is_string() ? TypeOfName(name.text()) : 0;
    if (bits == 0) return absl::InvalidArgumentError(StrCat("there is no type ", ToJson(name)));
    types |= bits;
  }
  return types;
}

absl::Status ReadOptional(const Value& schema, std::string_view keyword,
                          std::unique_ptr<Shape>* shape) {
  const Value* const found = schema.Find(keyword);
  // A list of schemas, as older dialects have it, says nothing here.
  if (found == nullptr || found->is_array()) return absl::OkStatus();
  ASSIGN_OR_RETURN(Shape read, ShapeOfSchema(*found));
  *shape = std::make_unique<Shape>(std::move(read));
  return absl::OkStatus();
}

bool IsRequired(const Value& schema, std::string_view name) {
  const Value* const required = schema.Find("required");
  if (required == nullptr || !required->is_array()) return false;
  return std::any_of(required->items().begin(), required->items().end(),
                     [&](const Value& item) { return item.is_string() && item.text() == name; });
}

absl::Status ReadProperties(const Value& schema, Shape* shape) {
  const Value* const properties = schema.Find("properties");
  if (properties == nullptr) return absl::OkStatus();
  if (!properties->is_object()) return absl::InvalidArgumentError("\"properties\" is an object");
  for (const Member& member : properties->members()) {
    ASSIGN_OR_RETURN(Shape property, ShapeOfSchema(member.value));
    shape->properties.push_back({std::string(member.name.text()), std::move(property),
                                 IsRequired(schema, member.name.text())});
  }
  return absl::OkStatus();
}

// Members that match no property may be others than `additionalProperties` says.
bool HasOtherMembers(const Value& schema) { return schema.Find("patternProperties") != nullptr; }

// Items at the front may be others than `items` says.
bool HasOtherItems(const Value& schema) { return schema.Find("prefixItems") != nullptr; }

Value TypesOf(TypeMask types, Arena& arena) {
  constexpr std::pair<TypeMask, std::string_view> kNames[] = {
      {kArrayType, "array"},  {kBooleanType, "boolean"}, {kIntegerType, "integer"},
      {kNullType, "null"},    {kNumberType, "number"},   {kObjectType, "object"},
      {kStringType, "string"}};
  if ((types & kNumberType) != 0) types &= static_cast<TypeMask>(~kIntegerType);
  std::vector<Value> names;
  for (const auto& [bit, name] : kNames) {
    if ((types & bit) != 0) names.push_back(Value::String(name));
  }
  return names.size() == 1 ? names[0] : MakeArray(names, arena);
}

Value NumberOfText(const std::string& text, Arena& arena) {
  // A blank ends the number.
  return ScanNumber(arena.Copy(std::string_view(text + " ")).data()).value;
}

void AppendProperties(const Shape& shape, Arena& arena, std::vector<Member>* members) {
  std::vector<Member> properties;
  std::vector<Value> required;
  for (const ShapeProperty& property : shape.properties) {
    const std::string_view name = arena.Copy(std::string_view(property.name));
    properties.push_back({Name(name), ToSchema(property.shape, arena)});
    if (property.required) required.push_back(Value::String(name));
  }
  if (!properties.empty()) members->push_back({Name("properties"), MakeObject(properties, arena)});
  if (!required.empty()) members->push_back({Name("required"), MakeArray(required, arena)});
}

void Squash(Shape& shape) {
  for (ShapeProperty& property : shape.properties) {
    if (shape.additional == nullptr) break;
    *shape.additional = Unite(std::move(*shape.additional), std::move(property.shape));
  }
  shape.properties.clear();
}

void SquashFrom(Shape& shape, int depth) {
  if (depth <= 0) Squash(shape);
  for (ShapeProperty& property : shape.properties) SquashFrom(property.shape, depth - 1);
  if (shape.items != nullptr) SquashFrom(*shape.items, depth - 1);
  if (shape.additional != nullptr) SquashFrom(*shape.additional, depth - 1);
}

}  // namespace

absl::StatusOr<Shape> ShapeOfSchema(const Value& schema) {
  if (schema.is_bool()) return schema.as_bool() ? AnyShape() : Shape();
  if (!schema.is_object()) {
    return absl::InvalidArgumentError(
        StrCat("a schema is an object, true or false, not ", KindName(schema.kind())));
  }
  Shape shape;
  ASSIGN_OR_RETURN(shape.types, ReadTypes(schema));
  const Value* const format = schema.Find("format");
  if (format != nullptr && format->is_string()) shape.format = std::string(format->text());
  for (const auto& [name, bound] : kBounds) {
    const Value* const found = schema.Find(name);
    if (found != nullptr && found->is_number()) shape.*bound = ToJson(*found);
  }
  if (!HasOtherItems(schema)) RETURN_IF_ERROR(ReadOptional(schema, "items", &shape.items));
  RETURN_IF_ERROR(ReadProperties(schema, &shape));
  if (!HasOtherMembers(schema)) {
    RETURN_IF_ERROR(ReadOptional(schema, "additionalProperties", &shape.additional));
  }
  return shape;
}

Value ToSchema(const Shape& shape, Arena& arena) {
  if (shape.types == 0) return Value::Bool(false);
  std::vector<Member> members;
  if (shape.types != kAnyType) {
    members.push_back({Name("type"), TypesOf(shape.types, arena)});
  }
  if (shape.format) members.push_back({Name("format"), MakeString(*shape.format, arena)});
  for (const auto& [name, bound] : kBounds) {
    if (shape.*bound) members.push_back({Name(name), NumberOfText(*(shape.*bound), arena)});
  }
  if (shape.items != nullptr) members.push_back({Name("items"), ToSchema(*shape.items, arena)});
  AppendProperties(shape, arena, &members);
  if (shape.additional != nullptr) {
    members.push_back({Name("additionalProperties"), ToSchema(*shape.additional, arena)});
  }
  return MakeObject(members, arena);
}

size_t CountLocations(const Shape& shape) {
  size_t count = shape.types == 0 ? 0 : 1;
  for (const ShapeProperty& property : shape.properties) count += CountLocations(property.shape);
  if (shape.items != nullptr) count += CountLocations(*shape.items);
  if (shape.additional != nullptr) count += CountLocations(*shape.additional);
  return count;
}

void EnforceLimits(Shape& shape, const ShapeLimits& limits) {
  SquashFrom(shape, limits.depth_max);
  for (int depth = limits.depth_max - 1; depth >= 0; --depth) {
    if (CountLocations(shape) <= limits.locations_max) return;
    SquashFrom(shape, depth);
  }
}

}  // namespace fjord::doc
