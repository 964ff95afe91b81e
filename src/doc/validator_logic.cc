// Keywords that apply schemas to the same value: references, combinations, conditions.
#include "doc/evaluated.h"
#include "doc/validator.h"

namespace fjord::doc {

bool Validator::CheckLogic(const SchemaNode& node, const Value& value, Evaluated* evaluated) {
  const LogicRules& rules = *node.logic;
  bool ok = rules.ref == nullptr || Visit(*rules.ref, value, evaluated);
  if (GoesOn(ok) && rules.dynamic_ref != nullptr) {
    ok &= Visit(DynamicTarget(rules), value, evaluated);
  }
  for (const SchemaNode* const schema : rules.all_of) {
    if (GoesOn(ok)) ok &= Visit(*schema, value, evaluated);
  }
  if (GoesOn(ok) && !rules.any_of.empty()) ok &= CheckAnyOf(node, value, evaluated);
  if (GoesOn(ok) && !rules.one_of.empty()) ok &= CheckOneOf(node, value, evaluated);
  if (GoesOn(ok) && rules.not_schema != nullptr) {
    const Mark mark = Now();
    const bool matches = Visit(*rules.not_schema, value, nullptr);
    ReturnTo(mark);
    if (matches) ok = Fail(node, "not", value);
  }
  if (GoesOn(ok) && rules.if_schema != nullptr) ok &= CheckIf(rules, value, evaluated);
  return ok;
}

bool Validator::CheckAnyOf(const SchemaNode& node, const Value& value, Evaluated* evaluated) {
  // All that match have something to say, if somebody listens.
  const bool one_is_enough = wanted_ == kNoAnnotations && evaluated == nullptr;
  bool any = false;
  for (const SchemaNode* const schema : node.logic->any_of) {
    any |= Try(*schema, value, evaluated);
    if (any && one_is_enough) break;
  }
  return any || Fail(node, "anyOf", value);
}

bool Validator::CheckOneOf(const SchemaNode& node, const Value& value, Evaluated* evaluated) {
  int matches = 0;
  for (const SchemaNode* const schema : node.logic->one_of) {
    if (Try(*schema, value, evaluated) && ++matches > 1) break;
  }
  return matches == 1 || Fail(node, "oneOf", value);
}

bool Validator::CheckIf(const LogicRules& rules, const Value& value, Evaluated* evaluated) {
  const SchemaNode* const then =
      Try(*rules.if_schema, value, evaluated) ? rules.then_schema : rules.else_schema;
  return then == nullptr || Visit(*then, value, evaluated);
}

// The outermost schema in the dynamic scope that has the anchor.
const SchemaNode& Validator::DynamicTarget(const LogicRules& rules) const {
  if (!rules.dynamic_anchor) return *rules.dynamic_ref;
  for (const SchemaResource* const resource : scope_) {
    const auto found = resource->dynamic_anchors.find(*rules.dynamic_anchor);
    if (found != resource->dynamic_anchors.end()) return *graph_.node_of.at(found->second);
  }
  return *rules.dynamic_ref;
}

}  // namespace fjord::doc
