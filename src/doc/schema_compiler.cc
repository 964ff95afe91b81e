#include "doc/schema_compiler.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "doc/number.h"
#include "doc/serialize.h"
#include "doc/uri.h"

namespace fjord::doc {

absl::Status SchemaCompiler::Run(const Value& schema, std::string_view uri) {
  ASSIGN_OR_RETURN(const Value* root, index_.AddDocument(schema, uri));
  graph_.root = NodeFor(root);
  RETURN_IF_ERROR(CompileWaiting());
  if (!graph_.has_dynamic_scope) return absl::OkStatus();
  // A dynamic reference may go to any of these; new resources may come while they are compiled.
  for (const SchemaResource& resource : graph_.resources) {
    for (const auto& [name, schema] : resource.dynamic_anchors) NodeFor(schema);
    RETURN_IF_ERROR(CompileWaiting());
  }
  return absl::OkStatus();
}

absl::Status SchemaCompiler::CompileWaiting() {
  while (!waiting_.empty()) {
    SchemaNode* const node = waiting_.back();
    waiting_.pop_back();
    const absl::Status status = CompileNode(node);
    if (!status.ok()) return Annotate(status, StrCat("schema ", node->location));
  }
  return absl::OkStatus();
}

const SchemaNode* SchemaCompiler::NodeFor(const Value* schema) {
  SchemaNode*& known = graph_.node_of[schema];
  if (known != nullptr) return known;
  const SchemaPlace& place = index_.PlaceOf(schema);
  known = &graph_.nodes.emplace_back();
  known->source = schema;
  known->resource = place.resource;
  known->location = StrCat(place.resource->uri, "#", place.pointer);
  waiting_.push_back(known);
  return known;
}

absl::Status SchemaCompiler::CompileNode(SchemaNode* node) {
  node_ = node;
  place_ = index_.PlaceOf(node->source);
  node->annotations.source = node->source;
  const Value& schema = *node->source;
  if (schema.is_bool()) {
    node->never = !schema.as_bool();
    return absl::OkStatus();
  }
  if (!schema.is_object()) {
    return absl::InvalidArgumentError(
        StrCat("a schema is an object, true or false, not ", KindName(schema.kind())));
  }
  return CompileObject(schema);
}

absl::Status SchemaCompiler::CompileObject(const Value& schema) {
  const Value* const ref = schema.Find("$ref");
  if (place_.dialect == Dialect::kDraft7 && ref != nullptr) return CompileKeyword("$ref", *ref);
  for (const Member& member : schema.members()) {
    const absl::Status status = CompileKeyword(member.name.text(), member.value);
    if (!status.ok()) return Annotate(status, StrCat("\"", member.name.text(), "\""));
  }
  Finish();
  return absl::OkStatus();
}

// What says nothing without its neighbour.
void SchemaCompiler::Finish() {
  FinishContains();
  if (node_->logic != nullptr && node_->logic->if_schema == nullptr) {
    node_->logic->then_schema = nullptr;
    node_->logic->else_schema = nullptr;
  }
  if (node_->objects != nullptr) {
    auto& properties = node_->objects->properties;
    std::sort(properties.begin(), properties.end(),
              [](const PropertyRule& a, const PropertyRule& b) { return a.name < b.name; });
  }
}

void SchemaCompiler::FinishContains() {
  if (node_->arrays == nullptr) return;
  node_->arrays->contains_evaluates = place_.dialect == Dialect::k2020;
}

absl::StatusOr<const SchemaNode*> SchemaCompiler::Subschema(const Value& value) {
  if (!value.is_object() && !value.is_bool()) {
    return absl::InvalidArgumentError(
        StrCat("a schema is an object, true or false, not ", KindName(value.kind())));
  }
  return NodeFor(&value);
}

absl::StatusOr<std::vector<const SchemaNode*>> SchemaCompiler::SubschemaList(const Value& value) {
  std::vector<const SchemaNode*> nodes;
  if (!value.is_array() || value.size() == 0) {
    return absl::InvalidArgumentError("expected a list of schemas");
  }
  for (const Value& item : value.items()) {
    ASSIGN_OR_RETURN(const SchemaNode* node, Subschema(item));
    nodes.push_back(node);
  }
  return nodes;
}

absl::Status SchemaCompiler::Applicator(const Value& value, const SchemaNode** place) {
  ASSIGN_OR_RETURN(*place, Subschema(value));
  return absl::OkStatus();
}

absl::Status SchemaCompiler::ApplicatorList(const Value& value,
                                            std::vector<const SchemaNode*>* place) {
  ASSIGN_OR_RETURN(*place, SubschemaList(value));
  return absl::OkStatus();
}

absl::Status SchemaCompiler::Ref(const Value& value) {
  if (!value.is_string()) return absl::InvalidArgumentError("expected a URI reference");
  ASSIGN_OR_RETURN(const Value* target, index_.Resolve(value.text(), place_));
  return Applicator(*target, &logic().ref);
}

absl::Status SchemaCompiler::DynamicRef(const Value& value) {
  if (!value.is_string()) return absl::InvalidArgumentError("expected a URI reference");
  ASSIGN_OR_RETURN(const Value* target, index_.Resolve(value.text(), place_));
  RETURN_IF_ERROR(Applicator(*target, &logic().dynamic_ref));
  // Only a reference that ends at a dynamic anchor looks further.
  const std::string_view fragment = SplitFragment(value.text()).fragment;
  const auto& anchors = index_.PlaceOf(target).resource->dynamic_anchors;
  const auto anchor = anchors.find(fragment);
  if (anchor == anchors.end() || anchor->second != target) return absl::OkStatus();
  logic().dynamic_anchor = std::string(fragment);
  graph_.has_dynamic_scope = true;
  return absl::OkStatus();
}

absl::Status SchemaCompiler::RecursiveRef(const Value& value) {
  if (!value.is_string() || value.text() != "#")
    return absl::InvalidArgumentError("expected \"#\"");
  const SchemaResource& resource = *place_.resource;
  RETURN_IF_ERROR(Applicator(*resource.root, &logic().dynamic_ref));
  const auto anchor = resource.dynamic_anchors.find("");
  if (anchor == resource.dynamic_anchors.end()) return absl::OkStatus();
  logic().dynamic_anchor = "";
  graph_.has_dynamic_scope = true;
  return absl::OkStatus();
}

absl::Status SchemaCompiler::Reduce(const Value& value) {
  ASSIGN_OR_RETURN(Strategy strategy, ParseStrategy(value));
  auto& known = graph_.strategies;
  auto found = std::find(known.begin(), known.end(), strategy);
  if (found == known.end()) found = known.insert(known.end(), std::move(strategy));
  node_->annotations.reduce = &*found;
  node_->annotation_kinds |= kReduceAnnotations;
  return absl::OkStatus();
}

absl::Status SchemaCompiler::Redact(const Value& value) {
  ASSIGN_OR_RETURN(node_->annotations.redact, ParseRedaction(value));
  node_->annotation_kinds |= kRedactAnnotations;
  return absl::OkStatus();
}

absl::Status SchemaCompiler::Secret(const Value& value) {
  if (!value.is_bool()) return absl::InvalidArgumentError("expected true or false");
  node_->annotations.secret |= value.as_bool();
  return Other(value);
}

absl::Status SchemaCompiler::Default(const Value& value) {
  node_->annotations.default_value = &value;
  node_->annotation_kinds |= kDefaultAnnotations;
  return absl::OkStatus();
}

absl::Status SchemaCompiler::Other(const Value&) {
  node_->annotation_kinds |= kOtherAnnotations;
  return absl::OkStatus();
}

Schema::Schema(std::unique_ptr<const SchemaGraph> graph) : graph_(std::move(graph)) {}
Schema::Schema(Schema&&) noexcept = default;
Schema& Schema::operator=(Schema&&) noexcept = default;
Schema::~Schema() = default;

absl::StatusOr<Schema> Schema::Compile(const Value& schema, std::string_view uri,
                                       const SchemaOptions& options) {
  auto graph = std::make_unique<SchemaGraph>();
  RETURN_IF_ERROR(SchemaCompiler(*graph, options).Run(schema, uri));
  return Schema(std::move(graph));
}

}  // namespace fjord::doc
