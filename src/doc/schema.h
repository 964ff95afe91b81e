// JSON Schema: compiled once, then used by any number of Validators.
//
// Dialects by `$schema`: 2020-12 (also without one), 2019-09, draft-07. `$ref` reaches the schema
// itself and those that were given beside it; nothing is fetched. Beside the keywords of the
// dialect, `reduce`, `redact`, `secret` and the like are annotations (doc/strategy.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "doc/strategy.h"
#include "doc/value.h"

namespace fjord::doc {

enum class FormatUse { kAssert, kAnnotateOnly };

struct SchemaOptions {
  FormatUse format = FormatUse::kAssert;
  // Other schemas by their URI, without fragment. Borrowed during Compile only.
  std::map<std::string, Value> others;
};

// What one schema object says about the values that it validates.
struct SchemaAnnotations {
  const Strategy* reduce = nullptr;  // equal strategies of one Schema have one address
  std::optional<Redaction> redact;
  bool secret = false;  // `secret` or `airbyte_secret`
  const Value* default_value = nullptr;
  // The schema object: title, description, examples, format, x-… are looked up by name.
  const Value* source = nullptr;
};

// Kinds of annotations, to be collected or not. Bits.
enum AnnotationKinds : uint8_t {
  kNoAnnotations = 0,
  kReduceAnnotations = 1,
  kRedactAnnotations = 2,
  kDefaultAnnotations = 4,
  kOtherAnnotations = 8,  // secret, title, description, examples, format, x-…, …
  kAllAnnotations = 15,
};

struct SchemaNode;  // doc/schema_node.h
struct SchemaGraph;

// Immutable; usable from several threads.
class Schema {
 public:
  // `uri` is what relative references start from. kInvalidArgument names the place in the schema.
  // Shares nothing with `schema` and `options`.
  static absl::StatusOr<Schema> Compile(const Value& schema, std::string_view uri,
                                        const SchemaOptions& options);

  Schema(Schema&&) noexcept;
  Schema& operator=(Schema&&) noexcept;
  ~Schema();

  const SchemaGraph& graph() const { return *graph_; }

 private:
  explicit Schema(std::unique_ptr<const SchemaGraph> graph);

  std::unique_ptr<const SchemaGraph> graph_;
};

}  // namespace fjord::doc
