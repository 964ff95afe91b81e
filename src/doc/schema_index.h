// Internal to schemas: which URI, anchor or pointer is which schema.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "doc/schema_node.h"

namespace fjord::doc {

enum class Dialect { kDraft7, k2019, k2020 };

// Where a schema object is, and what its words mean there.
struct SchemaPlace {
  SchemaResource* resource = nullptr;
  Dialect dialect = Dialect::k2020;
  std::string pointer;  // from the resource's root
};

// Fills the resources of a graph, and takes other schemas in when a reference goes there.
class SchemaIndex {
 public:
  SchemaIndex(SchemaGraph& graph, const SchemaOptions& options)
      : graph_(graph), options_(options) {}

  // Copies the document into the graph.
  absl::StatusOr<const Value*> AddDocument(const Value& document, std::string_view uri);

  // Precondition: the value was walked over.
  const SchemaPlace& PlaceOf(const Value* schema) const { return places_.at(schema); }

  // Where `reference`, written inside of `from`, goes to.
  absl::StatusOr<const Value*> Resolve(std::string_view reference, const SchemaPlace& from);

  // The resource that a reference's URI names.
  absl::StatusOr<SchemaResource*> FindResource(std::string_view uri);

 private:
  absl::Status Walk(const Value& schema, SchemaPlace place);
  absl::Status WalkKeyword(std::string_view keyword, const Value& value, const SchemaPlace& place);
  absl::Status ReadIdentity(const Value& schema, SchemaPlace* place);
  absl::Status BeginResource(const Value& schema, std::string_view id, SchemaPlace* place);
  absl::StatusOr<const Value*> FollowPointer(const SchemaResource& resource,
                                             std::string_view pointer);

  SchemaGraph& graph_;
  const SchemaOptions& options_;
  std::map<const Value*, SchemaPlace> places_;
  std::map<std::string, SchemaResource*, std::less<>> resources_;
};

}  // namespace fjord::doc
