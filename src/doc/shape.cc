#include "doc/shape.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "doc/decimal.h"
#include "doc/format.h"

namespace fjord::doc {
namespace {

constexpr TypeMask kNumberTypes = kIntegerType | kNumberType;
using Bound = std::optional<std::string>;
using BoundMember = Bound Shape::*;

// The formats that a document's strings are taken to have, the narrower one first.
constexpr std::string_view kInferredFormats[] = {"integer", "number", "date-time", "date", "uuid"};

std::optional<std::string> InferFormat(std::string_view text) {
  for (const std::string_view format : kInferredFormats) {
    if (FindFormat(format)(text)) return std::string(format);
  }
  return std::nullopt;
}

bool HasFormat(std::string_view text, const std::string& format) {
  const FormatCheck check = FindFormat(format);
  return check != nullptr && check(text);
}

enum class Side { kLower, kUpper };

bool IsDecimalSpelling(const std::string& text) {
  return text.find_first_of(".eE") != std::string::npos;
}

// The wider bound. Of equal ones the decimal spelling: it says that there are such values.
Bound Wider(const Bound& a, const Bound& b, Side side) {
  if (!a || !b) return std::nullopt;
  const auto order = *Decimal::Parse(*a) <=> *Decimal::Parse(*b);
  if (order == 0) return IsDecimalSpelling(*a) ? a : b;
  return (order < 0) == (side == Side::kLower) ? a : b;
}

// A side on which values of these types do not occur has nothing to say about their bounds.
void UniteBounds(Shape& a, const Shape& b, TypeMask types, BoundMember lower, BoundMember upper) {
  if ((b.types & types) == 0) return;
  const bool only_b = (a.types & types) == 0;
  a.*lower = only_b ? b.*lower : Wider(a.*lower, b.*lower, Side::kLower);
  a.*upper = only_b ? b.*upper : Wider(a.*upper, b.*upper, Side::kUpper);
}

bool IsNumeric(const std::optional<std::string>& format) {
  return format == "integer" || format == "number";
}

void UniteFormats(Shape& a, const Shape& b) {
  if ((b.types & kStringType) == 0) return;
  if ((a.types & kStringType) == 0) {
    a.format = b.format;
  } else if (a.format != b.format) {
    // Each whole number is a decimal.
    const bool numeric = IsNumeric(a.format) && IsNumeric(b.format);
    a.format = numeric ? std::optional<std::string>("number") : std::nullopt;
  }
}

Shape Copy(const Shape& shape) {
  Shape copy;
  copy.types = shape.types;
  copy.format = shape.format;
  for (const BoundMember bound : {&Shape::min_length, &Shape::max_length, &Shape::min_items,
                                  &Shape::max_items, &Shape::minimum, &Shape::maximum}) {
    copy.*bound = shape.*bound;
  }
  if (shape.items != nullptr) copy.items = std::make_unique<Shape>(Copy(*shape.items));
  if (shape.additional != nullptr) {
    copy.additional = std::make_unique<Shape>(Copy(*shape.additional));
  }
  for (const ShapeProperty& property : shape.properties) {
    copy.properties.push_back({property.name, Copy(property.shape), property.required});
  }
  return copy;
}

// Null is anything.
std::unique_ptr<Shape> UniteOthers(std::unique_ptr<Shape> a, std::unique_ptr<Shape> b) {
  if (a == nullptr || b == nullptr) return nullptr;
  return std::make_unique<Shape>(Unite(std::move(*a), std::move(*b)));
}

void UniteItems(Shape& a, Shape& b) {
  if ((b.types & kArrayType) == 0) return;
  const bool only_b = (a.types & kArrayType) == 0;
  a.items = only_b ? std::move(b.items) : UniteOthers(std::move(a.items), std::move(b.items));
}

// A member that one side has a property for, and the other one among its additional members.
ShapeProperty UniteWithOthers(ShapeProperty property, const std::unique_ptr<Shape>& additional) {
  property.required = false;
  property.shape =
      additional == nullptr ? AnyShape() : Unite(std::move(property.shape), Copy(*additional));
  return property;
}

ShapeProperty UniteProperty(ShapeProperty a, ShapeProperty b) {
  a.required &= b.required;
  a.shape = Unite(std::move(a.shape), std::move(b.shape));
  return a;
}

// Both are sorted by name.
void UniteProperties(Shape& a, Shape& b) {
  std::vector<ShapeProperty> united;
  auto right = b.properties.begin();
  const auto end = b.properties.end();
  for (ShapeProperty& left : a.properties) {
    while (right != end && right->name < left.name) {
      united.push_back(UniteWithOthers(std::move(*right++), a.additional));
    }
    const bool both = right != end && right->name == left.name;
    united.push_back(both ? UniteProperty(std::move(left), std::move(*right++))
                          : UniteWithOthers(std::move(left), b.additional));
  }
  while (right != end) united.push_back(UniteWithOthers(std::move(*right++), a.additional));
  a.properties = std::move(united);
  a.additional = UniteOthers(std::move(a.additional), std::move(b.additional));
}

void UniteObjects(Shape& a, Shape& b) {
  if ((b.types & kObjectType) == 0) return;
  if ((a.types & kObjectType) != 0) return UniteProperties(a, b);
  a.properties = std::move(b.properties);
  a.additional = std::move(b.additional);
}

bool AdmitsObject(const Shape& shape, const Value& object) {
  auto property = shape.properties.begin();
  const auto last = shape.properties.end();
  for (const Member& member : object.members()) {
    for (; property != last && property->name < member.name.text(); ++property) {
      if (property->required) return false;
    }
    const bool known = property != last && property->name == member.name.text();
    const Shape* const wanted = known ? &property->shape : shape.additional.get();
    if (known) ++property;
    if (wanted != nullptr && !Admits(*wanted, member.value)) return false;
  }
  return std::none_of(property, last, [](const ShapeProperty& p) { return p.required; });
}

}  // namespace

bool Admits(const Shape& shape, const Value& value) {
  if ((shape.types & TypeOf(value)) == 0) return false;
  if (value.is_string()) return !shape.format || HasFormat(value.text(), *shape.format);
  if (value.is_object()) return AdmitsObject(shape, value);
  if (!value.is_array() || shape.items == nullptr) return true;
  return std::all_of(value.items().begin(), value.items().end(),
                     [&](const Value& item) { return Admits(*shape.items, item); });
}

Shape AnyShape() {
  Shape shape;
  shape.types = kAnyType;
  return shape;
}

Shape ShapeOf(const Value& document) {
  Shape shape;
  shape.types = TypeOf(document);
  if (document.is_string()) shape.format = InferFormat(document.text());
  if (document.is_array()) {
    shape.items = std::make_unique<Shape>();
    for (const Value& item : document.items()) {
      *shape.items = Unite(std::move(*shape.items), ShapeOf(item));
    }
  }
  if (document.is_object()) {
    shape.additional = std::make_unique<Shape>();
    for (const Member& member : document.members()) {
      shape.properties.push_back({std::string(member.name.text()), ShapeOf(member.value), true});
    }
  }
  return shape;
}

Shape Unite(Shape a, Shape b) {
  UniteBounds(a, b, kStringType, &Shape::min_length, &Shape::max_length);
  UniteBounds(a, b, kArrayType, &Shape::min_items, &Shape::max_items);
  UniteBounds(a, b, kNumberTypes, &Shape::minimum, &Shape::maximum);
  UniteFormats(a, b);
  UniteItems(a, b);
  UniteObjects(a, b);
  a.types |= b.types;
  return a;
}

bool Widen(Shape& shape, const Value& document) {
  if (Admits(shape, document)) return false;
  // Bounds that were read from a schema say nothing about what else will come.
  shape = Unite(std::move(shape), ShapeOf(document));
  return true;
}

}  // namespace fjord::doc
