// MakeTable: the first metadata of a table.
#include <algorithm>
#include <utility>

#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"
#include "iceberg/table_update.h"

namespace fjord {
namespace {

constexpr int kFormatVersionDefault = 2;
constexpr char kFormatVersion[] = "format-version";

// Version 1 is read, never made.
absl::StatusOr<int> TakeFormatVersion(std::map<std::string, std::string>& properties) {
  const auto it = properties.find(kFormatVersion);
  if (it == properties.end()) return kFormatVersionDefault;
  const std::optional<int> version = ParseInt<int>(it->second);
  if (!version || *version < 1 || *version > 3) {
    return absl::InvalidArgumentError(
        StrCat("format-version '", it->second, "' is not known; 1 to 3 are"));
  }
  properties.erase(it);
  return std::max(kFormatVersionDefault, *version);
}

// The fields of a partition spec or sort order with the new ids of their source columns.
absl::StatusOr<Json> RenamedFields(const Json& given, const FreshSchema& fresh) {
  const Json* fields = given.Find("fields");
  if (fields == nullptr || fields->is_null()) return Json::MakeArray();
  if (!fields->is_array())
    return absl::InvalidArgumentError("JSON member 'fields' is not an array");
  Json renamed = *fields;
  for (Json& field : renamed.array()) {
    RETURN_IF_ERROR(field.GetString("transform").status());
    std::vector<Json*> ids;
    if (Json* id = field.Find("source-id")) ids.push_back(id);
    if (Json* several = field.Find("source-ids"); several != nullptr && several->is_array()) {
      for (Json& id : several->array()) ids.push_back(&id);
    }
    for (Json* id : ids) {
      const auto it = id->is_int() ? fresh.new_ids.find(id->as_int()) : fresh.new_ids.end();
      if (it == fresh.new_ids.end()) {
        return absl::InvalidArgumentError(
            StrCat("source column ", id->Dump(), " is not in the schema"));
      }
      *id = Json(it->second);
    }
  }
  return renamed;
}

absl::Status SetSpec(const Json& given, const FreshSchema& fresh, TableMetadata& metadata) {
  ASSIGN_OR_RETURN(Json fields, RenamedFields(given, fresh));
  for (Json& field : fields.array()) field.Set("field-id", int64_t{++metadata.last_partition_id});
  Json spec = Json::MakeObject();
  spec.Set("spec-id", int64_t{0});
  spec.Set("fields", std::move(fields));
  metadata.partition_specs.Push(std::move(spec));
  return absl::OkStatus();
}

absl::Status SetSortOrder(const Json& given, const FreshSchema& fresh, TableMetadata& metadata) {
  ASSIGN_OR_RETURN(Json fields, RenamedFields(given, fresh));
  metadata.default_sort_order_id = fields.array().empty() ? 0 : 1;  // 0 is the unsorted order's
  Json order = Json::MakeObject();
  order.Set("order-id", int64_t{metadata.default_sort_order_id});
  order.Set("fields", std::move(fields));
  metadata.sort_orders.Push(std::move(order));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TableMetadata> MakeTable(const NewTable& table, int64_t now_ms) {
  TableMetadata metadata;
  metadata.properties = table.properties;
  ASSIGN_OR_RETURN(metadata.format_version, TakeFormatVersion(metadata.properties));
  metadata.table_uuid = RandomUuid();
  metadata.location = table.location;
  while (metadata.location.ends_with('/')) metadata.location.pop_back();
  metadata.last_updated_ms = now_ms;
  FreshSchema fresh = AssignFreshIds(table.schema);
  RETURN_IF_ERROR(CheckSchema(fresh.schema, metadata.format_version));
  metadata.last_column_id = fresh.last_id;
  fresh.schema.Set("schema-id", int64_t{0});
  ASSIGN_OR_RETURN(Schema schema, SchemaFromJson(fresh.schema));
  metadata.schemas.push_back(std::move(schema));
  RETURN_IF_ERROR(SetSpec(table.partition_spec, fresh, metadata));
  RETURN_IF_ERROR(SetSortOrder(table.sort_order, fresh, metadata));
  if (metadata.format_version >= 3) metadata.other.Set("next-row-id", int64_t{0});
  return metadata;
}

}  // namespace fjord
