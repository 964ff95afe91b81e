// The keywords that assert, and the table of all keywords with their dialects.
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "doc/number.h"
#include "doc/schema_compiler.h"
#include "doc/serialize.h"

namespace fjord::doc {
namespace {

absl::StatusOr<TypeMask> ParseType(const Value& name) {
  const TypeMask type = name.is_string() ? TypeOfName(name.text()) : 0;
  if (type != 0) return type;
  return absl::InvalidArgumentError(
      StrCat("there is no type ", ToJson(name).substr(0, 100),
             "; there is null, boolean, integer, number, string, array, object"));
}

// 3 and 3.0; nothing else.
std::optional<uint64_t> ParseSize(const Value& value) {
  if (value.kind() == Kind::kInt && value.as_int() >= 0) return value.as_int();
  if (value.kind() == Kind::kUint) return value.as_uint();
  if (value.kind() != Kind::kDouble || !HasIntegralValue(value)) return std::nullopt;
  if (value.as_double() < 0 || value.as_double() >= 0x1p63) return std::nullopt;
  return static_cast<uint64_t>(value.as_double());
}

absl::Status CheckNames(const Value& value) {
  const auto is_string = [](const Value& item) { return item.is_string(); };
  if (value.is_array() && std::all_of(value.items().begin(), value.items().end(), is_string)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("expected a list of names");
}

absl::Status CheckObject(const Value& value) {
  if (value.is_object()) return absl::OkStatus();
  return absl::InvalidArgumentError("expected an object");
}

}  // namespace

template <class Rules>
absl::Status SchemaCompiler::Size(const Value& value, Rules& rules, uint64_t Rules::* bound) {
  const std::optional<uint64_t> size = ParseSize(value);
  if (!size) {
    return absl::InvalidArgumentError(
        StrCat("expected an integer of 0 or more, not ", ToJson(value).substr(0, 100)));
  }
  rules.*bound = *size;
  return absl::OkStatus();
}

absl::Status SchemaCompiler::Number(const Value& value, const Value* NumberRules::* bound) {
  if (!value.is_number()) return absl::InvalidArgumentError("expected a number");
  numbers().*bound = &value;
  return absl::OkStatus();
}

absl::Status SchemaCompiler::MultipleOf(const Value& value) {
  RETURN_IF_ERROR(Number(value, &NumberRules::multiple_of));
  if (ToDecimal(value) > Decimal()) return absl::OkStatus();
  return absl::InvalidArgumentError("expected a number above 0");
}

absl::Status SchemaCompiler::Type(const Value& value) {
  TypeMask types = 0;
  if (value.is_array()) {
    for (const Value& name : value.items()) {
      ASSIGN_OR_RETURN(const TypeMask type, ParseType(name));
      types |= type;
    }
  } else {
    ASSIGN_OR_RETURN(types, ParseType(value));
  }
  node_->types = types;
  return absl::OkStatus();
}

absl::Status SchemaCompiler::Enum(const Value& value) {
  if (!value.is_array()) return absl::InvalidArgumentError("expected a list of values");
  node_->enum_values = &value;
  return absl::OkStatus();
}

absl::Status SchemaCompiler::Const(const Value& value) {
  node_->const_value = &value;
  return absl::OkStatus();
}

absl::Status SchemaCompiler::PatternKeyword(const Value& value) {
  if (!value.is_string()) return absl::InvalidArgumentError("expected a regular expression");
  ASSIGN_OR_RETURN(strings().pattern, Pattern::Compile(value.text()));
  return absl::OkStatus();
}

absl::Status SchemaCompiler::Format(const Value& value) {
  if (!value.is_string()) return absl::InvalidArgumentError("expected the name of a format");
  if (options_.format == FormatUse::kAssert) {
    if (const FormatCheck check = FindFormat(value.text())) strings().format = check;
  }
  return Other(value);
}

absl::Status SchemaCompiler::UniqueItems(const Value& value) {
  if (!value.is_bool()) return absl::InvalidArgumentError("expected true or false");
  if (value.as_bool()) arrays().unique = true;
  return absl::OkStatus();
}

absl::Status SchemaCompiler::PrefixItems(const Value& value) {
  return ApplicatorList(value, &arrays().prefix);
}

absl::Status SchemaCompiler::Items(const Value& value) {
  if (value.is_array() && place_.dialect != Dialect::k2020) {
    return value.size() == 0 ? absl::OkStatus() : PrefixItems(value);
  }
  arrays().rest_keyword = "items";
  return Applicator(value, &arrays().rest);
}

absl::Status SchemaCompiler::AdditionalItems(const Value& value) {
  const Value* const items = node_->source->Find("items");
  if (items == nullptr || !items->is_array()) return absl::OkStatus();
  arrays().rest_keyword = "additionalItems";
  return Applicator(value, &arrays().rest);
}

PropertyRule& SchemaCompiler::Property(std::string_view text) {
  auto& rules = objects().properties;
  const Name name(text);
  const auto found = std::find_if(rules.begin(), rules.end(),
                                  [&](const PropertyRule& rule) { return rule.name == name; });
  return found != rules.end() ? *found : rules.emplace_back(PropertyRule{.name = name});
}

absl::Status SchemaCompiler::Required(const Value& value) {
  RETURN_IF_ERROR(CheckNames(value));
  for (const Value& name : value.items()) Property(name.text()).required = true;
  return absl::OkStatus();
}

absl::Status SchemaCompiler::Properties(const Value& value) {
  RETURN_IF_ERROR(CheckObject(value));
  for (const Member& member : value.members()) {
    RETURN_IF_ERROR(Applicator(member.value, &Property(member.name.text()).schema));
  }
  return absl::OkStatus();
}

absl::Status SchemaCompiler::PatternProperties(const Value& value) {
  RETURN_IF_ERROR(CheckObject(value));
  for (const Member& member : value.members()) {
    ASSIGN_OR_RETURN(Pattern pattern, Pattern::Compile(member.name.text()));
    ASSIGN_OR_RETURN(const SchemaNode* node, Subschema(member.value));
    objects().patterns.emplace_back(std::move(pattern), node);
  }
  return absl::OkStatus();
}

Dependency& SchemaCompiler::DependencyOf(std::string_view text) {
  auto& rules = objects().dependencies;
  const Name name(text);
  const auto found = std::find_if(rules.begin(), rules.end(),
                                  [&](const Dependency& rule) { return rule.name == name; });
  return found != rules.end() ? *found : rules.emplace_back(Dependency{.name = name});
}

// Also dependentRequired and dependentSchemas, which are its two halves.
absl::Status SchemaCompiler::Dependencies(const Value& value) {
  RETURN_IF_ERROR(CheckObject(value));
  for (const Member& member : value.members()) {
    Dependency& dependency = DependencyOf(member.name.text());
    if (!member.value.is_array()) {
      RETURN_IF_ERROR(Applicator(member.value, &dependency.schema));
      continue;
    }
    RETURN_IF_ERROR(CheckNames(member.value));
    for (const Value& name : member.value.items()) dependency.required.emplace_back(name.text());
  }
  return absl::OkStatus();
}

struct SchemaCompiler::KeywordRow {
  std::string_view name;
  absl::Status (*compile)(SchemaCompiler& c, const Value& v);
  Dialect first = Dialect::kDraft7;
  Dialect last = Dialect::k2020;
};

// In the order of the JSON Schema vocabularies; then what this layer adds.
struct KeywordTable {
  using C = SchemaCompiler;
  static constexpr Dialect k7 = Dialect::kDraft7;
  static constexpr Dialect k19 = Dialect::k2019;
  static constexpr Dialect k20 = Dialect::k2020;

  static constexpr C::KeywordRow kRows[] = {
      {"$ref", [](C& c, const Value& v) { return c.Ref(v); }},
      {"$dynamicRef", [](C& c, const Value& v) { return c.DynamicRef(v); }, k20},
      {"$recursiveRef", [](C& c, const Value& v) { return c.RecursiveRef(v); }, k19, k19},
      {"allOf", [](C& c, const Value& v) { return c.ApplicatorList(v, &c.logic().all_of); }},
      {"anyOf", [](C& c, const Value& v) { return c.ApplicatorList(v, &c.logic().any_of); }},
      {"oneOf", [](C& c, const Value& v) { return c.ApplicatorList(v, &c.logic().one_of); }},
      {"not", [](C& c, const Value& v) { return c.Applicator(v, &c.logic().not_schema); }},
      {"if", [](C& c, const Value& v) { return c.Applicator(v, &c.logic().if_schema); }},
      {"then", [](C& c, const Value& v) { return c.Applicator(v, &c.logic().then_schema); }},
      {"else", [](C& c, const Value& v) { return c.Applicator(v, &c.logic().else_schema); }},
      {"prefixItems", [](C& c, const Value& v) { return c.PrefixItems(v); }, k20},
      {"items", [](C& c, const Value& v) { return c.Items(v); }},
      {"additionalItems", [](C& c, const Value& v) { return c.AdditionalItems(v); }, k7, k19},
      {"contains", [](C& c, const Value& v) { return c.Applicator(v, &c.arrays().contains); }},
      {"properties", [](C& c, const Value& v) { return c.Properties(v); }},
      {"patternProperties", [](C& c, const Value& v) { return c.PatternProperties(v); }},
      {"additionalProperties",
       [](C& c, const Value& v) { return c.Applicator(v, &c.objects().additional); }},
      {"propertyNames", [](C& c, const Value& v) { return c.Applicator(v, &c.objects().names); }},
      {"dependentSchemas", [](C& c, const Value& v) { return c.Dependencies(v); }, k19},
      {"dependentRequired", [](C& c, const Value& v) { return c.Dependencies(v); }, k19},
      {"dependencies", [](C& c, const Value& v) { return c.Dependencies(v); }, k7, k7},
      {"unevaluatedItems",
       [](C& c, const Value& v) { return c.Applicator(v, &c.node_->unevaluated_items); }, k19},
      {"unevaluatedProperties",
       [](C& c, const Value& v) { return c.Applicator(v, &c.node_->unevaluated_properties); }, k19},
      {"type", [](C& c, const Value& v) { return c.Type(v); }},
      {"enum", [](C& c, const Value& v) { return c.Enum(v); }},
      {"const", [](C& c, const Value& v) { return c.Const(v); }},
      {"multipleOf", [](C& c, const Value& v) { return c.MultipleOf(v); }},
      {"minimum", [](C& c, const Value& v) { return c.Number(v, &NumberRules::minimum); }},
      {"maximum", [](C& c, const Value& v) { return c.Number(v, &NumberRules::maximum); }},
      {"exclusiveMinimum",
       [](C& c, const Value& v) { return c.Number(v, &NumberRules::exclusive_minimum); }},
      {"exclusiveMaximum",
       [](C& c, const Value& v) { return c.Number(v, &NumberRules::exclusive_maximum); }},
      {"minLength",
       [](C& c, const Value& v) { return c.Size(v, c.strings(), &StringRules::min_length); }},
      {"maxLength",
       [](C& c, const Value& v) { return c.Size(v, c.strings(), &StringRules::max_length); }},
      {"pattern", [](C& c, const Value& v) { return c.PatternKeyword(v); }},
      {"format", [](C& c, const Value& v) { return c.Format(v); }},
      {"minItems",
       [](C& c, const Value& v) { return c.Size(v, c.arrays(), &ArrayRules::min_items); }},
      {"maxItems",
       [](C& c, const Value& v) { return c.Size(v, c.arrays(), &ArrayRules::max_items); }},
      {"uniqueItems", [](C& c, const Value& v) { return c.UniqueItems(v); }},
      {"minContains",
       [](C& c, const Value& v) { return c.Size(v, c.arrays(), &ArrayRules::min_contains); }, k19},
      {"maxContains",
       [](C& c, const Value& v) { return c.Size(v, c.arrays(), &ArrayRules::max_contains); }, k19},
      {"minProperties",
       [](C& c, const Value& v) { return c.Size(v, c.objects(), &ObjectRules::min_properties); }},
      {"maxProperties",
       [](C& c, const Value& v) { return c.Size(v, c.objects(), &ObjectRules::max_properties); }},
      {"required", [](C& c, const Value& v) { return c.Required(v); }},
      {"default", [](C& c, const Value& v) { return c.Default(v); }},
      {"reduce", [](C& c, const Value& v) { return c.Reduce(v); }},
      {"redact", [](C& c, const Value& v) { return c.Redact(v); }},
      {"secret", [](C& c, const Value& v) { return c.Secret(v); }},
      {"airbyte_secret", [](C& c, const Value& v) { return c.Secret(v); }},
      {"title", [](C& c, const Value& v) { return c.Other(v); }},
      {"description", [](C& c, const Value& v) { return c.Other(v); }},
      {"examples", [](C& c, const Value& v) { return c.Other(v); }},
      {"contentEncoding", [](C& c, const Value& v) { return c.Other(v); }},
      {"contentMediaType", [](C& c, const Value& v) { return c.Other(v); }},
      {"deprecated", [](C& c, const Value& v) { return c.Other(v); }},
      {"readOnly", [](C& c, const Value& v) { return c.Other(v); }},
      {"writeOnly", [](C& c, const Value& v) { return c.Other(v); }},
      {"multiline", [](C& c, const Value& v) { return c.Other(v); }},
      {"advanced", [](C& c, const Value& v) { return c.Other(v); }},
      {"order", [](C& c, const Value& v) { return c.Other(v); }},
      {"discriminator", [](C& c, const Value& v) { return c.Other(v); }},
  };
};

absl::Status SchemaCompiler::CompileKeyword(std::string_view keyword, const Value& value) {
  for (const KeywordRow& row : KeywordTable::kRows) {
    if (row.name != keyword) continue;
    const bool known = row.first <= place_.dialect && place_.dialect <= row.last;
    return known ? row.compile(*this, value) : absl::OkStatus();
  }
  return keyword.starts_with("x-") ? Other(value) : absl::OkStatus();
}

}  // namespace fjord::doc
