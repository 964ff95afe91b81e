// Keywords about values, arrays and objects.
#include <algorithm>
#include <cmath>
#include <vector>

#include "doc/compare.h"
#include "doc/evaluated.h"
#include "doc/number.h"
#include "doc/validator.h"

namespace fjord::doc {
namespace {

constexpr size_t kPairwiseItemsMax = 8;

bool IsMultipleOf(const Value& value, const Value& of) {
  if (value.kind() == Kind::kInt && of.kind() == Kind::kInt) {
    return value.as_int() % of.as_int() == 0;
  }
  return Decimal::IsMultiple(ToDecimal(value), ToDecimal(of)).value_or(false);
}

uint64_t CodePoints(std::string_view text) {
  return static_cast<uint64_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; }));
}

// Fewer bytes than `min` are fewer characters, and no more bytes than `max` no more characters.
bool LengthIsWithin(std::string_view text, uint64_t min, uint64_t max) {
  if (min == 0 && text.size() <= max) return true;
  if (text.size() < min) return false;
  const uint64_t length = CodePoints(text);
  return min <= length && length <= max;
}

bool AllDiffer(std::span<const Value> items) {
  if (items.size() <= kPairwiseItemsMax) {
    for (size_t i = 1; i < items.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (Equal(items[i], items[j])) return false;
      }
    }
    return true;
  }
  std::vector<const Value*> sorted;
  for (const Value& item : items) sorted.push_back(&item);
  const auto less = [](const Value* a, const Value* b) { return Compare(*a, *b) < 0; };
  std::sort(sorted.begin(), sorted.end(), less);
  const auto equal = [](const Value* a, const Value* b) { return Equal(*a, *b); };
  return std::adjacent_find(sorted.begin(), sorted.end(), equal) == sorted.end();
}

}  // namespace

bool Validator::CheckValue(const SchemaNode& node, const Value& value) {
  bool ok = true;
  if (node.types != kAnyType && (node.types & TypeOf(value)) == 0) ok = Fail(node, "type", value);
  if (GoesOn(ok) && node.const_value != nullptr && !Equal(*node.const_value, value)) {
    ok = Fail(node, "const", value);
  }
  if (GoesOn(ok) && node.enum_values != nullptr) {
    const auto items = node.enum_values->items();
    const auto equal = [&](const Value& item) { return Equal(item, value); };
    if (std::none_of(items.begin(), items.end(), equal)) ok = Fail(node, "enum", value);
  }
  return ok;
}

bool Validator::CheckNumber(const SchemaNode& node, const Value& value) {
  const NumberRules& rules = *node.numbers;
  bool ok = true;
  if (rules.minimum != nullptr && CompareNumbers(value, *rules.minimum) < 0) {
    ok = Fail(node, "minimum", value);
  }
  if (rules.maximum != nullptr && CompareNumbers(value, *rules.maximum) > 0) {
    ok = Fail(node, "maximum", value);
  }
  if (rules.exclusive_minimum != nullptr && CompareNumbers(value, *rules.exclusive_minimum) <= 0) {
    ok = Fail(node, "exclusiveMinimum", value);
  }
  if (rules.exclusive_maximum != nullptr && CompareNumbers(value, *rules.exclusive_maximum) >= 0) {
    ok = Fail(node, "exclusiveMaximum", value);
  }
  if (rules.multiple_of != nullptr && !IsMultipleOf(value, *rules.multiple_of)) {
    ok = Fail(node, "multipleOf", value);
  }
  return ok;
}

bool Validator::CheckString(const SchemaNode& node, const Value& value) {
  const StringRules& rules = *node.strings;
  bool ok = true;
  if (!LengthIsWithin(value.text(), rules.min_length, UINT64_MAX)) {
    ok = Fail(node, "minLength", value);
  }
  if (!LengthIsWithin(value.text(), 0, rules.max_length)) ok = Fail(node, "maxLength", value);
  if (GoesOn(ok) && rules.pattern && !rules.pattern->Matches(value.text())) {
    ok = Fail(node, "pattern", value);
  }
  if (GoesOn(ok) && rules.format != nullptr && !rules.format(value.text())) {
    ok = Fail(node, "format", value);
  }
  return ok;
}

bool Validator::CheckArray(const SchemaNode& node, const Value& value, Evaluated* evaluated) {
  const ArrayRules& rules = *node.arrays;
  bool ok = true;
  if (value.size() < rules.min_items) ok = Fail(node, "minItems", value);
  if (value.size() > rules.max_items) ok = Fail(node, "maxItems", value);
  if (GoesOn(ok) && rules.unique && !AllDiffer(value.items())) {
    ok = Fail(node, "uniqueItems", value);
  }
  if (GoesOn(ok)) ok &= CheckItems(rules, value, evaluated);
  if (GoesOn(ok) && rules.contains != nullptr) ok &= CheckContains(node, value, evaluated);
  return ok;
}

bool Validator::CheckItems(const ArrayRules& rules, const Value& value, Evaluated* evaluated) {
  bool ok = true;
  for (size_t i = 0; i < value.size() && GoesOn(ok); ++i) {
    const SchemaNode* const schema = i < rules.prefix.size() ? rules.prefix[i] : rules.rest;
    if (schema == nullptr) break;
    ok &= Visit(*schema, value.items()[i], nullptr);
    if (evaluated != nullptr) evaluated->Mark(i);
  }
  return ok;
}

bool Validator::CheckContains(const SchemaNode& node, const Value& value, Evaluated* evaluated) {
  const ArrayRules& rules = *node.arrays;
  uint64_t found = 0;
  for (size_t i = 0; i < value.size(); ++i) {
    if (!Try(*rules.contains, value.items()[i], nullptr)) continue;
    ++found;
    if (evaluated != nullptr && rules.contains_evaluates) evaluated->Mark(i);
  }
  if (found < rules.min_contains) {
    return Fail(node, rules.min_contains == 1 ? "contains" : "minContains", value);
  }
  return found <= rules.max_contains || Fail(node, "maxContains", value);
}

bool Validator::CheckObject(const SchemaNode& node, const Value& value, Evaluated* evaluated) {
  const ObjectRules& rules = *node.objects;
  bool ok = true;
  if (value.size() < rules.min_properties) ok = Fail(node, "minProperties", value);
  if (value.size() > rules.max_properties) ok = Fail(node, "maxProperties", value);
  if (GoesOn(ok)) ok &= CheckMembers(node, value, evaluated);
  if (GoesOn(ok) && rules.names != nullptr) ok &= CheckNames(node, value);
  if (GoesOn(ok) && !rules.dependencies.empty()) ok &= CheckDependencies(node, value, evaluated);
  return ok;
}

// Members and rules are both sorted by name: one walk over both.
bool Validator::CheckMembers(const SchemaNode& node, const Value& value, Evaluated* evaluated) {
  const ObjectRules& rules = *node.objects;
  const std::span<const Member> members = value.members();
  auto rule = rules.properties.begin();
  const auto last = rules.properties.end();
  const bool unnamed = !rules.patterns.empty() || rules.additional != nullptr;
  bool ok = true;
  bool complete = true;
  for (size_t i = 0; i < members.size() && GoesOn(ok); ++i) {
    const Member& member = members[i];
    // Mostly the next name is the next rule's, which is cheaper to see than their order.
    while (rule != last && rule->name != member.name && rule->name < member.name) {
      complete &= !rule++->required;
    }
    bool known = false;
    if (rule != last && rule->name == member.name) {
      known = rule->schema != nullptr;
      if (known) ok &= Visit(*rule->schema, member.value, nullptr);
      ++rule;
    }
    if (unnamed && GoesOn(ok)) ok &= CheckUnnamed(rules, member, &known);
    if (known && evaluated != nullptr) evaluated->Mark(i);
  }
  for (; rule != last; ++rule) complete &= !rule->required;
  return (complete || !GoesOn(ok) || Fail(node, "required", value)) && ok;
}

bool Validator::CheckUnnamed(const ObjectRules& rules, const Member& member, bool* known) {
  bool ok = true;
  for (const auto& [pattern, schema] : rules.patterns) {
    if (!GoesOn(ok) || !pattern.Matches(member.name.text())) continue;
    *known = true;
    ok &= Visit(*schema, member.value, nullptr);
  }
  if (*known || rules.additional == nullptr) return ok;
  *known = true;
  return Visit(*rules.additional, member.value, nullptr) && ok;
}

bool Validator::CheckNames(const SchemaNode& node, const Value& value) {
  bool ok = true;
  const Mark mark = Now();
  for (const Member& member : value.members()) {
    const Value name = Value::String(member.name.text());
    ok &= Visit(*node.objects->names, name, nullptr);
    // A name is not a place of the document: nothing is said about it.
    ReturnTo(mark);
  }
  return ok || Fail(node, "propertyNames", value);
}

bool Validator::CheckDependencies(const SchemaNode& node, const Value& value,
                                  Evaluated* evaluated) {
  bool ok = true;
  for (const Dependency& dependency : node.objects->dependencies) {
    if (!GoesOn(ok) || value.Find(dependency.name) == nullptr) continue;
    for (const Name& name : dependency.required) {
      if (value.Find(name) == nullptr) ok = Fail(node, "dependentRequired", value);
    }
    if (dependency.schema != nullptr) ok &= Visit(*dependency.schema, value, evaluated);
  }
  return ok;
}

}  // namespace fjord::doc
