// Table schemas (Iceberg specification, "Schemas and Data Types" and
// "Appendix C: JSON serialization").
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/column.h"
#include "base/ids.h"
#include "base/json.h"

namespace fjord {

struct SchemaField {
  FieldId id;
  std::string name;
  bool required = false;
  Json type;  // as it stands in the metadata: a string, or an object for nested types
  std::optional<ColumnType> primitive;  // of the types that we read and write
  Json other = Json::MakeObject();      // doc, defaults and what we do not know, kept as it is
  friend bool operator==(const SchemaField&, const SchemaField&) = default;
};

struct Schema {
  SchemaId id;
  std::vector<FieldId> identifier_fields;
  std::vector<SchemaField> fields;
  friend bool operator==(const Schema&, const Schema&) = default;
};

// "long", "decimal(9, 2)" and "decimal(9,2)"; nothing for types that we do not write.
std::optional<ColumnType> ParseTypeName(std::string_view name);

Json SchemaToJson(const Schema& schema);
absl::StatusOr<Schema> SchemaFromJson(const Json& json);

// The highest field id that a schema uses, nested ones included.
int32_t HighestFieldId(const Json& schema);

struct FreshSchema {
  Json schema;
  int32_t last_id = 0;
  std::map<int64_t, int64_t> new_ids;  // old id -> new id, of struct fields
};
// The same schema with ids from 1 on, in the order of the fields, children after their level (as
// the Java library does).
FreshSchema AssignFreshIds(const Json& schema);

// kInvalidArgument says which rule of the specification a schema breaks: ids and names used once,
// types that the format version has, identifier fields that are required and comparable, no
// defaults before version 3.
absl::Status CheckSchema(const Json& schema, int format_version);

}  // namespace fjord
