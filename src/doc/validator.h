// Documents against a schema: are they valid, what do the schemas that they satisfy say about which
// place, and if they are not valid, why.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "doc/schema.h"
#include "doc/schema_node.h"
#include "doc/value.h"

namespace fjord::doc {

class Evaluated;

// `place` is a part of the document, known by its address.
struct Annotation {
  const Value* place;
  const SchemaAnnotations* annotations;
};

struct SchemaError {
  std::string instance_path;  // a JSON pointer
  std::string schema_path;    // URI and JSON pointer of the keyword
  std::string message;
};

// Confined to one thread; the schema outlives it.
class Validator {
 public:
  static constexpr size_t kErrorsMax = 50;
  // Of schemas inside of each other, references included: more is a schema that goes round in
  // circles.
  static constexpr int kDepthMax = 2000;

  // `wanted` are bits of AnnotationKinds. Fewer are faster.
  Validator(const Schema& schema, uint8_t wanted) : graph_(schema.graph()), wanted_(wanted) {}

  bool Validate(const Value& document);

  // Of the last document, if it was valid: those that have one of the wanted kinds.
  std::span<const Annotation> annotations() const { return annotations_; }

  // All that is wrong with a document; empty when it is valid. Slow.
  std::vector<SchemaError> Explain(const Value& document);

  // Validate, with the first error as kInvalidArgument.
  absl::Status Check(const Value& document);

 private:
  struct Failure {
    const SchemaNode* node;
    std::string_view keyword;
    const Value* place;
  };
  struct Mark {
    size_t annotations;
    size_t failures;
  };

  bool Visit(const SchemaNode& node, const Value& value, Evaluated* evaluated);
  bool VisitRules(const SchemaNode& node, const Value& value, Evaluated* evaluated);
  bool VisitUnevaluated(const SchemaNode& node, const Value& value, Evaluated* outer);
  bool CheckUnevaluated(const SchemaNode& node, const Value& value, const Evaluated& seen);

  bool CheckValue(const SchemaNode& node, const Value& value);
  bool CheckNumber(const SchemaNode& node, const Value& value);
  bool CheckString(const SchemaNode& node, const Value& value);
  bool CheckArray(const SchemaNode& node, const Value& value, Evaluated* evaluated);
  bool CheckItems(const ArrayRules& rules, const Value& value, Evaluated* evaluated);
  bool CheckContains(const SchemaNode& node, const Value& value, Evaluated* evaluated);
  bool CheckObject(const SchemaNode& node, const Value& value, Evaluated* evaluated);
  bool CheckMembers(const SchemaNode& node, const Value& value, Evaluated* evaluated);
  bool CheckUnnamed(const ObjectRules& rules, const Member& member, bool* known);
  bool CheckNames(const SchemaNode& node, const Value& value);
  bool CheckDependencies(const SchemaNode& node, const Value& value, Evaluated* evaluated);
  bool CheckLogic(const SchemaNode& node, const Value& value, Evaluated* evaluated);
  bool CheckAnyOf(const SchemaNode& node, const Value& value, Evaluated* evaluated);
  bool CheckOneOf(const SchemaNode& node, const Value& value, Evaluated* evaluated);
  bool CheckIf(const LogicRules& rules, const Value& value, Evaluated* evaluated);
  const SchemaNode& DynamicTarget(const LogicRules& rules) const;

  // A subschema that may fail: what it said is forgotten then.
  bool Try(const SchemaNode& node, const Value& value, Evaluated* evaluated);

  // Whether a keyword has to be looked at, given what came before.
  bool GoesOn(bool ok) const { return ok || explaining_; }
  bool Fail(const SchemaNode& node, std::string_view keyword, const Value& place);
  Mark Now() const { return {annotations_.size(), failures_.size()}; }
  void ReturnTo(const Mark& mark);
  SchemaError Describe(const Value& document, const Failure& failure) const;

  const SchemaGraph& graph_;
  uint8_t wanted_;
  bool explaining_ = false;
  int depth_ = 0;
  bool gave_up_ = false;  // deeper than kDepthMax: nothing is looked at any more
  std::vector<Annotation> annotations_;
  std::vector<Failure> failures_;
  std::vector<const SchemaResource*> scope_;  // only when a reference needs it
};

}  // namespace fjord::doc
