#include "doc/schema_index.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "doc/pointer.h"
#include "doc/uri.h"

namespace fjord::doc {
namespace {

enum class Holds { kNothing, kSchema, kList, kMap };

// What a keyword's value has of schemas. A list where a schema could be, and the other way round,
// depends on the dialect; whoever compiles the keyword says what is wrong.
Holds WhatHolds(std::string_view keyword, const Value& value) {
  constexpr std::string_view kMaps[] = {
      "$defs",     "definitions", "dependencies", "dependentSchemas", "patternProperties",
      "properties"};
  constexpr std::string_view kOthers[] = {"additionalItems",
                                          "additionalProperties",
                                          "allOf",
                                          "anyOf",
                                          "contains",
                                          "contentSchema",
                                          "else",
                                          "if",
                                          "items",
                                          "not",
                                          "oneOf",
                                          "prefixItems",
                                          "propertyNames",
                                          "then",
                                          "unevaluatedItems",
                                          "unevaluatedProperties"};
  if (std::find(std::begin(kMaps), std::end(kMaps), keyword) != std::end(kMaps)) {
    return value.is_object() ? Holds::kMap : Holds::kNothing;
  }
  if (std::find(std::begin(kOthers), std::end(kOthers), keyword) == std::end(kOthers)) {
    return Holds::kNothing;
  }
  return value.is_array() ? Holds::kList : Holds::kSchema;
}

std::optional<Dialect> DialectOf(std::string_view schema_uri) {
  const std::string_view uri = SplitFragment(schema_uri).resource;
  if (uri == "https://json-schema.org/draft/2020-12/schema") return Dialect::k2020;
  if (uri == "https://json-schema.org/draft/2019-09/schema") return Dialect::k2019;
  if (uri == "http://json-schema.org/draft-07/schema") return Dialect::kDraft7;
  return std::nullopt;
}

std::string_view TextOf(const Value& schema, std::string_view keyword) {
  const Value* const value = schema.Find(keyword);
  return value != nullptr && value->is_string() ? value->text() : std::string_view();
}

SchemaPlace Below(const SchemaPlace& place, std::string_view token) {
  SchemaPlace below = place;
  AppendPointerToken(token, &below.pointer);
  return below;
}

}  // namespace

absl::StatusOr<const Value*> SchemaIndex::AddDocument(const Value& document, std::string_view uri) {
  graph_.documents.push_back(DeepCopy(document, graph_.arena));
  const Value* const root = &graph_.documents.back();
  graph_.resources.push_back({.uri = std::string(SplitFragment(uri).resource), .root = root});
  SchemaResource* const resource = &graph_.resources.back();
  resources_.emplace(resource->uri, resource);
  RETURN_IF_ERROR(Walk(*root, {.resource = resource}));
  return root;
}

absl::Status SchemaIndex::Walk(const Value& schema, SchemaPlace place) {
  if (schema.is_object()) RETURN_IF_ERROR(ReadIdentity(schema, &place));
  if (!places_.emplace(&schema, place).second || !schema.is_object()) return absl::OkStatus();
  for (const Member& member : schema.members()) {
    RETURN_IF_ERROR(
        WalkKeyword(member.name.text(), member.value, Below(place, member.name.text())));
  }
  return absl::OkStatus();
}

absl::Status SchemaIndex::WalkKeyword(std::string_view keyword, const Value& value,
                                      const SchemaPlace& place) {
  switch (WhatHolds(keyword, value)) {
    case Holds::kNothing: return absl::OkStatus();
    case Holds::kSchema: return Walk(value, place);
    case Holds::kList:
      for (size_t i = 0; i < value.size(); ++i) {
        RETURN_IF_ERROR(Walk(value.items()[i], Below(place, StrCat(i))));
      }
      return absl::OkStatus();
    case Holds::kMap:
      for (const Member& member : value.members()) {
        // `dependencies` may hold lists of names.
        if (member.value.is_array()) continue;
        RETURN_IF_ERROR(Walk(member.value, Below(place, member.name.text())));
      }
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status SchemaIndex::BeginResource(const Value& schema, std::string_view id,
                                        SchemaPlace* place) {
  const std::string uri = ResolveUri(place->resource->uri, id);
  const std::string plain(SplitFragment(uri).resource);
  if (place->resource->root == &schema) {
    // The root of a document: known by where it came from, and by its own name.
    place->resource->uri = plain;
  } else {
    graph_.resources.push_back({.uri = plain, .root = &schema});
    place->resource = &graph_.resources.back();
  }
  place->pointer.clear();
  if (!resources_.emplace(place->resource->uri, place->resource).second &&
      resources_[place->resource->uri]->root != &schema) {
    return absl::InvalidArgumentError(
        StrCat("\"$id\": two schemas have the URI ", place->resource->uri));
  }
  return absl::OkStatus();
}

absl::Status SchemaIndex::ReadIdentity(const Value& schema, SchemaPlace* place) {
  if (const std::string_view uri = TextOf(schema, "$schema"); !uri.empty()) {
    if (const std::optional<Dialect> dialect = DialectOf(uri)) place->dialect = *dialect;
  }
  // In draft-07 what stands beside a reference says nothing.
  if (place->dialect == Dialect::kDraft7 && schema.Find("$ref") != nullptr) return absl::OkStatus();
  if (const std::string_view id = TextOf(schema, "$id"); !id.empty()) {
    const SplitUri parts = SplitFragment(id);
    if (!parts.resource.empty()) RETURN_IF_ERROR(BeginResource(schema, id, place));
    if (place->dialect == Dialect::kDraft7 && !parts.fragment.empty()) {
      place->resource->anchors.emplace(parts.fragment, &schema);
    }
  }
  if (place->dialect == Dialect::kDraft7) return absl::OkStatus();
  if (const std::string_view anchor = TextOf(schema, "$anchor"); !anchor.empty()) {
    place->resource->anchors.emplace(anchor, &schema);
  }
  if (const std::string_view anchor = TextOf(schema, "$dynamicAnchor"); !anchor.empty()) {
    place->resource->anchors.emplace(anchor, &schema);
    place->resource->dynamic_anchors.emplace(anchor, &schema);
  }
  const Value* const recursive = schema.Find("$recursiveAnchor");
  if (recursive != nullptr && recursive->is_bool() && recursive->as_bool()) {
    place->resource->dynamic_anchors.emplace("", &schema);
  }
  return absl::OkStatus();
}

absl::StatusOr<SchemaResource*> SchemaIndex::FindResource(std::string_view uri) {
  if (const auto found = resources_.find(uri); found != resources_.end()) return found->second;
  const auto other = options_.others.find(std::string(uri));
  if (other == options_.others.end()) {
    return absl::InvalidArgumentError(StrCat("there is no schema ", uri));
  }
  ASSIGN_OR_RETURN(const Value* root, AddDocument(other->second, uri));
  return PlaceOf(root).resource;
}

absl::StatusOr<const Value*> SchemaIndex::FollowPointer(const SchemaResource& resource,
                                                        std::string_view text) {
  ASSIGN_OR_RETURN(const Pointer pointer, Pointer::Parse(text));
  const Value* const found = pointer.Find(*resource.root);
  if (found == nullptr) {
    return absl::InvalidArgumentError(StrCat("there is nothing at ", resource.uri, "#", text));
  }
  if (places_.contains(found)) return found;
  // A place that no keyword names: it belongs to the nearest schema around it.
  SchemaPlace place = PlaceOf(resource.root);
  const Value* at = resource.root;
  for (const std::string& token : pointer.tokens()) {
    std::string step;
    AppendPointerToken(token, &step);
    at = Pointer::Parse(step)->Find(*at);
    place.pointer += step;
    if (const auto known = places_.find(at); known != places_.end()) place = known->second;
  }
  RETURN_IF_ERROR(Walk(*found, place));
  return found;
}

absl::StatusOr<const Value*> SchemaIndex::Resolve(std::string_view reference,
                                                  const SchemaPlace& from) {
  const std::string uri = ResolveUri(from.resource->uri, reference);
  const SplitUri parts = SplitFragment(uri);
  ASSIGN_OR_RETURN(const SchemaResource* resource, FindResource(parts.resource));
  const std::optional<std::string> fragment = PercentDecode(parts.fragment);
  if (!fragment) return absl::InvalidArgumentError(StrCat(uri, " has a wrong % in its fragment"));
  if (fragment->empty()) return resource->root;
  if (fragment->front() == '/') return FollowPointer(*resource, *fragment);
  const auto anchor = resource->anchors.find(*fragment);
  if (anchor == resource->anchors.end()) {
    return absl::InvalidArgumentError(
        StrCat("the schema ", resource->uri, " has no anchor \"", *fragment, "\""));
  }
  return anchor->second;
}

}  // namespace fjord::doc
