// JSON Schema (draft 2020-12) of the grammar. Says all that the checker checks, except ranges of
// durations and sizes and conditions between distant keys (build.cc).
#include "base/json.h"
#include "base/strings.h"
#include "spec/grammar.h"

namespace fjord {
namespace {

Json Of(const Shape& shape);

Json Type(std::string_view name) {
  Json out = Json::MakeObject();
  out.Set("type", name);
  return out;
}

Json TextSchema(const Shape& shape) {
  Json out = Type("string");
  if (shape.pattern.empty()) {
    out.Set("minLength", 1);
  } else {
    out.Set("pattern", shape.pattern);
  }
  return out;
}

Json EnumSchema(const Shape& shape) {
  Json values = Json::MakeArray();
  for (const std::string& value : shape.values) {
    values.Push(value);
    // The plain word null is this value's text for us, and null for a YAML reader.
    if (value == "null") values.Push(nullptr);
  }
  Json out = Json::MakeObject();
  out.Set("enum", std::move(values));
  return out;
}

Json IntegerSchema(const Shape& shape) {
  Json out = Type("integer");
  if (shape.values.empty()) {
    out.Set("minimum", shape.least);
    out.Set("maximum", shape.most);
    return out;
  }
  Json values = Json::MakeArray();
  for (const std::string& value : shape.values) values.Push(*ParseInt<int64_t>(value));
  out.Set("enum", std::move(values));
  return out;
}

Json NameList(const std::vector<std::string>& names) {
  Json out = Json::MakeArray();
  for (const std::string& name : names) out.Push(name);
  return out;
}

Json RequiredSchema(const std::vector<std::string>& names) {
  Json out = Json::MakeObject();
  out.Set("required", NameList(names));
  return out;
}

// The default as the JSON value that its text means.
Json DefaultValue(const Shape& shape, const std::string& text) {
  if (shape.kind == ShapeKind::kInteger) return Json(*ParseInt<int64_t>(text));
  if (shape.kind == ShapeKind::kBoolean) return Json(text == "true");
  return Json(text);
}

Json PropertySchema(const Key& key) {
  Json out = Of(*key.shape);
  out.Set("description", key.description);
  if (!key.default_text.empty()) out.Set("default", DefaultValue(*key.shape, key.default_text));
  return out;
}

void AddConditions(const Shape& shape, Json& out) {
  if (!shape.exactly_one_of.empty()) {
    Json choices = Json::MakeArray();
    for (const std::string& name : shape.exactly_one_of) choices.Push(RequiredSchema({name}));
    out.Set("oneOf", std::move(choices));
  }
  if (!shape.exclusions.empty()) {
    Json all = Json::MakeArray();
    for (const auto& [one, other] : shape.exclusions) {
      Json exclusion = Json::MakeObject();
      exclusion.Set("not", RequiredSchema({one, other}));
      all.Push(std::move(exclusion));
    }
    out.Set("allOf", std::move(all));
  }
  if (!shape.needs.empty()) {
    Json needs = Json::MakeObject();
    for (const auto& [one, other] : shape.needs) needs.Set(one, NameList({other}));
    out.Set("dependentRequired", std::move(needs));
  }
}

Json ObjectSchema(const Shape& shape) {
  Json out = Type("object");
  Json properties = Json::MakeObject();
  std::vector<std::string> required;
  for (const Key& key : shape.keys) {
    if (key.use == KeyUse::kNotYet) continue;
    properties.Set(key.name, PropertySchema(key));
    if (key.use == KeyUse::kRequired) required.push_back(key.name);
  }
  out.Set("properties", std::move(properties));
  out.Set("additionalProperties", false);
  if (!required.empty()) out.Set("required", NameList(required));
  AddConditions(shape, out);
  return out;
}

Json MapSchema(const Shape& shape) {
  Json out = Type("object");
  Json names = Json::MakeObject();
  names.Set("pattern", shape.name_pattern);
  out.Set("propertyNames", std::move(names));
  out.Set("additionalProperties", Of(*shape.item));
  out.Set("minProperties", shape.least);
  return out;
}

Json ListSchema(const Shape& shape) {
  Json out = Type("array");
  out.Set("items", Of(*shape.item));
  out.Set("minItems", shape.least);
  return out;
}

Json Of(const Shape& shape) {
  switch (shape.kind) {
    case ShapeKind::kText:
    case ShapeKind::kDuration:
    case ShapeKind::kSize: return TextSchema(shape);
    case ShapeKind::kEnum: return EnumSchema(shape);
    case ShapeKind::kInteger: return IntegerSchema(shape);
    case ShapeKind::kBoolean: return Type("boolean");
    case ShapeKind::kObject: return ObjectSchema(shape);
    case ShapeKind::kMap: return MapSchema(shape);
    case ShapeKind::kList: return ListSchema(shape);
    case ShapeKind::kTextOrObject: {
      Json choices = Json::MakeArray();
      choices.Push(Of(*shape.text));
      choices.Push(Of(*shape.object));
      Json out = Json::MakeObject();
      out.Set("oneOf", std::move(choices));
      return out;
    }
  }
  return Json();
}

}  // namespace

std::string ConfigJsonSchema() {
  Json out = Json::MakeObject();
  out.Set("$schema", "https://json-schema.org/draft/2020-12/schema");
  out.Set("title", "Fjord configuration");
  const Json body = Of(ConfigGrammar());
  for (const auto& [name, value] : body.object()) out.Set(name, value);
  return out.DumpPretty();
}

}  // namespace fjord
