// Avro schemas as data: parsed from the JSON in a file's header
// (Avro specification, "Schema Declaration").
//
// Attributes that Avro itself does not know but Iceberg needs are kept: field-id, element-id,
// key-id, value-id, logical types. Aliases and default values are not kept: the reader gives values
// in the writer's schema.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace fjord {

enum class AvroType : uint8_t {
  kNull,
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kBytes,
  kString,
  kFixed,
  kEnum,
  kArray,
  kMap,
  kRecord,
  kUnion,
};

struct AvroSchema;

struct AvroField {
  std::string name;
  std::optional<int32_t> field_id;
  const AvroSchema* schema = nullptr;
};

// One type. Members that do not belong to `type` are empty. Owned by an
// AvroSchemaTree; immutable after parsing.
struct AvroSchema {
  AvroType type = AvroType::kNull;
  std::string name;                         // record, enum, fixed: with its namespace
  std::string logical_type;                 // empty: none
  int32_t precision = 0;                    // logical type decimal
  int32_t scale = 0;                        // logical type decimal
  std::optional<bool> adjust_to_utc;        // Iceberg's "adjust-to-utc" on timestamps
  std::optional<int32_t> element_id;        // array
  std::optional<int32_t> key_id;            // map
  std::optional<int32_t> value_id;          // map
  size_t fixed_size = 0;                    // fixed
  std::vector<std::string> symbols;         // enum
  std::vector<AvroField> fields;            // record
  const AvroSchema* items = nullptr;        // array, and the values of a map
  std::vector<const AvroSchema*> branches;  // union
};

// A schema with everything that it refers to. May refer to itself (a record that holds its own
// kind). Immutable; any thread.
class AvroSchemaTree {
 public:
  // kDataLoss when the text is no schema, or is deeper or larger than anything
  // that is meant to be read.
  static absl::StatusOr<AvroSchemaTree> Parse(std::string_view json);

  const AvroSchema& root() const { return *root_; }

 private:
  friend class AvroSchemaParser;
  AvroSchemaTree() = default;

  std::vector<std::unique_ptr<AvroSchema>> nodes_;
  const AvroSchema* root_ = nullptr;
};

}  // namespace fjord
