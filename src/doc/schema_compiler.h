// Internal to schemas: from schema objects to nodes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "doc/schema_index.h"
#include "doc/schema_node.h"

namespace fjord::doc {

class SchemaCompiler {
 public:
  SchemaCompiler(SchemaGraph& graph, const SchemaOptions& options)
      : graph_(graph), options_(options), index_(graph, options) {}

  absl::Status Run(const Value& schema, std::string_view uri);

  struct KeywordRow;

 private:
  friend struct KeywordTable;

  // The node of a schema; compiled before Run ends.
  const SchemaNode* NodeFor(const Value* schema);
  absl::Status CompileWaiting();
  absl::Status CompileNode(SchemaNode* node);
  absl::Status CompileKeyword(std::string_view keyword, const Value& value);
  absl::Status CompileObject(const Value& schema);
  void Finish();
  void FinishContains();

  absl::StatusOr<const SchemaNode*> Subschema(const Value& value);
  absl::StatusOr<std::vector<const SchemaNode*>> SubschemaList(const Value& value);
  absl::Status Number(const Value& value, const Value* NumberRules::* bound);
  template <class Rules>
  absl::Status Size(const Value& value, Rules& rules, uint64_t Rules::* bound);
  absl::Status Applicator(const Value& value, const SchemaNode** place);
  absl::Status ApplicatorList(const Value& value, std::vector<const SchemaNode*>* place);

  NumberRules& numbers() { return Made(node_->numbers); }
  StringRules& strings() { return Made(node_->strings); }
  ArrayRules& arrays() { return Made(node_->arrays); }
  ObjectRules& objects() { return Made(node_->objects); }
  LogicRules& logic() { return Made(node_->logic); }
  template <class Rules>
  static Rules& Made(std::unique_ptr<Rules>& rules) {
    if (rules == nullptr) rules = std::make_unique<Rules>();
    return *rules;
  }
  PropertyRule& Property(std::string_view name);
  Dependency& DependencyOf(std::string_view name);

  // One for each keyword, with its value.
  absl::Status Type(const Value& value);
  absl::Status Enum(const Value& value);
  absl::Status Const(const Value& value);
  absl::Status MultipleOf(const Value& value);
  absl::Status PatternKeyword(const Value& value);
  absl::Status Format(const Value& value);
  absl::Status UniqueItems(const Value& value);
  absl::Status Items(const Value& value);
  absl::Status PrefixItems(const Value& value);
  absl::Status AdditionalItems(const Value& value);
  absl::Status Required(const Value& value);
  absl::Status Properties(const Value& value);
  absl::Status PatternProperties(const Value& value);
  absl::Status Dependencies(const Value& value);
  absl::Status Ref(const Value& value);
  absl::Status DynamicRef(const Value& value);
  absl::Status RecursiveRef(const Value& value);
  absl::Status Reduce(const Value& value);
  absl::Status Redact(const Value& value);
  absl::Status Secret(const Value& value);
  absl::Status Default(const Value& value);
  absl::Status Other(const Value& value);

  SchemaGraph& graph_;
  const SchemaOptions& options_;
  SchemaIndex index_;
  std::vector<SchemaNode*> waiting_;
  // Of the schema object that is being compiled.
  SchemaNode* node_ = nullptr;
  SchemaPlace place_;
};

}  // namespace fjord::doc
