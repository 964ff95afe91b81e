#include "iceberg/metadata.h"

#include <algorithm>
#include <set>

#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr int64_t kFirstPartitionFieldId = 1000;

const std::set<std::string, std::less<>>& KnownMembers() {
  static const auto* known = new std::set<std::string, std::less<>>{"format-version",
                                                                    "table-uuid",
                                                                    "location",
                                                                    "last-sequence-number",
                                                                    "last-updated-ms",
                                                                    "last-column-id",
                                                                    "schema",
                                                                    "schemas",
                                                                    "current-schema-id",
                                                                    "partition-spec",
                                                                    "partition-specs",
                                                                    "default-spec-id",
                                                                    "last-partition-id",
                                                                    "sort-orders",
                                                                    "default-sort-order-id",
                                                                    "properties",
                                                                    "current-snapshot-id",
                                                                    "snapshots",
                                                                    "snapshot-log",
                                                                    "metadata-log",
                                                                    "refs"};
  return *known;
}

absl::Status ReadSchemas(const Json& json, TableMetadata& metadata) {
  ASSIGN_OR_RETURN(const int64_t current, json.GetInt("current-schema-id", 0));
  metadata.current_schema_id = SchemaId(static_cast<int32_t>(current));
  if (const Json* schemas = json.Find("schemas"); schemas != nullptr && schemas->is_array()) {
    for (const Json& item : schemas->array()) {
      ASSIGN_OR_RETURN(Schema schema, SchemaFromJson(item));
      metadata.schemas.push_back(std::move(schema));
    }
  } else {
    ASSIGN_OR_RETURN(const Json* single, json.GetObject("schema"));
    ASSIGN_OR_RETURN(Schema schema, SchemaFromJson(*single));
    metadata.current_schema_id = schema.id;
    metadata.schemas.push_back(std::move(schema));
  }
  if (metadata.FindSchema(metadata.current_schema_id) == nullptr) {
    return absl::InvalidArgumentError("the table metadata lacks its current schema");
  }
  return absl::OkStatus();
}

// Version 1 may have the fields of its one spec only, without numbers.
Json SpecOfVersion1(const Json& fields) {
  Json spec = Json::MakeObject();
  spec.Set("spec-id", int64_t{0});
  Json numbered = fields.is_array() ? fields : Json::MakeArray();
  int64_t next = kFirstPartitionFieldId;
  for (Json& field : numbered.array()) {
    if (field.is_object() && field.Find("field-id") == nullptr) field.Set("field-id", next);
    ++next;
  }
  spec.Set("fields", std::move(numbered));
  return spec;
}

int64_t HighestPartitionFieldId(const Json& specs) {
  int64_t highest = kFirstPartitionFieldId - 1;
  for (const Json& spec : specs.array()) {
    const Json* fields = spec.Find("fields");
    if (fields == nullptr || !fields->is_array()) continue;
    for (const Json& field : fields->array()) {
      if (const Json* id = field.Find("field-id"); id != nullptr && id->is_int()) {
        highest = std::max(highest, id->as_int());
      }
    }
  }
  return highest;
}

absl::Status ReadSpecs(const Json& json, TableMetadata& metadata) {
  if (const Json* specs = json.Find("partition-specs"); specs != nullptr && specs->is_array()) {
    metadata.partition_specs = *specs;
  } else if (const Json* fields = json.Find("partition-spec")) {
    metadata.partition_specs.Push(SpecOfVersion1(*fields));
  }
  ASSIGN_OR_RETURN(const int64_t spec_id, json.GetInt("default-spec-id", 0));
  metadata.default_spec_id = SpecId(static_cast<int32_t>(spec_id));
  ASSIGN_OR_RETURN(
      const int64_t last,
      json.GetInt("last-partition-id", HighestPartitionFieldId(metadata.partition_specs)));
  metadata.last_partition_id = static_cast<int32_t>(last);
  if (const Json* orders = json.Find("sort-orders"); orders != nullptr && orders->is_array()) {
    metadata.sort_orders = *orders;
  }
  if (metadata.sort_orders.array().empty()) {
    Json unsorted = Json::MakeObject();
    unsorted.Set("order-id", int64_t{0});
    unsorted.Set("fields", Json::MakeArray());
    metadata.sort_orders.Push(std::move(unsorted));
  }
  ASSIGN_OR_RETURN(const int64_t order, json.GetInt("default-sort-order-id", 0));
  metadata.default_sort_order_id = static_cast<int32_t>(order);
  return absl::OkStatus();
}

absl::Status ReadSnapshots(const Json& json, TableMetadata& metadata) {
  if (const Json* snapshots = json.Find("snapshots");
      snapshots != nullptr && snapshots->is_array()) {
    for (const Json& item : snapshots->array()) {
      ASSIGN_OR_RETURN(Snapshot snapshot, SnapshotFromJson(item));
      metadata.snapshots.push_back(std::move(snapshot));
    }
  }
  ASSIGN_OR_RETURN(const int64_t current, json.GetInt("current-snapshot-id", -1));
  if (current != -1) metadata.current_snapshot_id = SnapshotId(current);
  if (const Json* log = json.Find("snapshot-log"); log != nullptr && log->is_array()) {
    for (const Json& item : log->array()) {
      ASSIGN_OR_RETURN(const int64_t id, item.GetInt("snapshot-id"));
      ASSIGN_OR_RETURN(const int64_t time, item.GetInt("timestamp-ms"));
      metadata.snapshot_log.push_back({SnapshotId(id), time});
    }
  }
  if (const Json* log = json.Find("metadata-log"); log != nullptr && log->is_array()) {
    for (const Json& item : log->array()) {
      ASSIGN_OR_RETURN(std::string file, item.GetString("metadata-file"));
      ASSIGN_OR_RETURN(const int64_t time, item.GetInt("timestamp-ms"));
      metadata.metadata_log.push_back({std::move(file), time});
    }
  }
  return absl::OkStatus();
}

absl::Status ReadRefs(const Json& json, TableMetadata& metadata) {
  if (const Json* refs = json.Find("refs"); refs != nullptr && refs->is_object()) {
    for (const auto& [name, item] : refs->object()) {
      SnapshotRef ref;
      ASSIGN_OR_RETURN(ref.snapshot_id.value, item.GetInt("snapshot-id"));
      ASSIGN_OR_RETURN(ref.type, item.GetString("type", "branch"));
      for (const auto& [member, value] : item.object()) {
        if (member != "snapshot-id" && member != "type") ref.other.Set(member, value);
      }
      metadata.refs[name] = std::move(ref);
    }
  }
  if (metadata.current_snapshot_id && !metadata.refs.contains(kMainBranch)) {
    metadata.refs[kMainBranch] = {*metadata.current_snapshot_id, "branch"};
  }
  return absl::OkStatus();
}

Json TextMembers(const std::map<std::string, std::string>& members) {
  Json::Object object;
  object.reserve(members.size());
  for (const auto& [name, value] : members) object.emplace_back(name, value);
  return Json(std::move(object));
}

// Null when there is no such spec.
Json FieldsOfDefaultSpec(const TableMetadata& metadata) {
  for (const Json& spec : metadata.partition_specs.array()) {
    const Json* id = spec.Find("spec-id");
    const Json* fields = spec.Find("fields");
    if (id != nullptr && *id == Json(int64_t{metadata.default_spec_id.value}) && fields != nullptr)
      return *fields;
  }
  return Json();
}

Json RefsToJson(const TableMetadata& metadata) {
  Json refs = Json::MakeObject();
  for (const auto& [name, ref] : metadata.refs) {
    Json item = Json::MakeObject();
    item.Set("snapshot-id", ref.snapshot_id.value);
    item.Set("type", ref.type);
    for (const auto& [member, value] : ref.other.object()) item.Set(member, value);
    refs.Set(name, std::move(item));
  }
  return refs;
}

}  // namespace

const Schema* TableMetadata::FindSchema(SchemaId id) const {
  for (const Schema& schema : schemas) {
    if (schema.id == id) return &schema;
  }
  return nullptr;
}

const Schema& TableMetadata::CurrentSchema() const { return *FindSchema(current_schema_id); }

const Snapshot* TableMetadata::FindSnapshot(SnapshotId id) const {
  // New snapshots are at the end, and asked for most.
  for (auto it = snapshots.rbegin(); it != snapshots.rend(); ++it) {
    if (it->id == id) return &*it;
  }
  return nullptr;
}

bool TableMetadata::IsUnpartitioned() const {
  const Json fields = FieldsOfDefaultSpec(*this);
  return fields.is_array() && fields.array().empty();
}

absl::StatusOr<Snapshot> SnapshotFromJson(const Json& json) {
  Snapshot snapshot;
  ASSIGN_OR_RETURN(snapshot.id.value, json.GetInt("snapshot-id"));
  ASSIGN_OR_RETURN(const int64_t parent, json.GetInt("parent-snapshot-id", -1));
  if (parent != -1) snapshot.parent_snapshot_id = SnapshotId(parent);
  ASSIGN_OR_RETURN(snapshot.sequence_number.value, json.GetInt("sequence-number", 0));
  ASSIGN_OR_RETURN(snapshot.timestamp_ms, json.GetInt("timestamp-ms"));
  ASSIGN_OR_RETURN(snapshot.manifest_list, json.GetString("manifest-list", ""));
  if (const Json* summary = json.Find("summary"); summary != nullptr && summary->is_object()) {
    for (const auto& [name, value] : summary->object()) {
      if (!value.is_null())
        snapshot.summary[name] = value.is_string() ? value.as_string() : value.Dump();
    }
  }
  if (const Json* id = json.Find("schema-id"); id != nullptr && id->is_int()) {
    snapshot.schema_id = SchemaId(static_cast<int32_t>(id->as_int()));
  }
  static const std::set<std::string, std::less<>> known = {
      "snapshot-id", "parent-snapshot-id", "sequence-number", "timestamp-ms", "manifest-list",
      "summary",     "schema-id"};
  for (const auto& [name, value] : json.object()) {
    if (!known.contains(name)) snapshot.other.Set(name, value);
  }
  return snapshot;
}

Json SnapshotToJson(const Snapshot& snapshot) {
  Json json = Json::MakeObject();
  json.Set("snapshot-id", snapshot.id.value);
  // Left out, not null, when there is none: the Java library fails on null.
  if (snapshot.parent_snapshot_id)
    json.Set("parent-snapshot-id", snapshot.parent_snapshot_id->value);
  // Snapshots of version 1 have none.
  if (snapshot.sequence_number.value != 0)
    json.Set("sequence-number", snapshot.sequence_number.value);
  json.Set("timestamp-ms", snapshot.timestamp_ms);
  if (!snapshot.summary.empty()) json.Set("summary", TextMembers(snapshot.summary));
  if (!snapshot.manifest_list.empty()) json.Set("manifest-list", snapshot.manifest_list);
  if (snapshot.schema_id) json.Set("schema-id", int64_t{snapshot.schema_id->value});
  for (const auto& [name, value] : snapshot.other.object()) json.Set(name, value);
  return json;
}

absl::StatusOr<TableMetadata> MetadataFromJson(const Json& json) {
  TableMetadata metadata;
  ASSIGN_OR_RETURN(const int64_t version, json.GetInt("format-version"));
  if (version < 1 || version > 3) {
    return absl::UnimplementedError(
        StrCat("table format version ", version, " is not known; 1 to 3 are"));
  }
  metadata.format_version = static_cast<int>(version);
  ASSIGN_OR_RETURN(metadata.table_uuid, json.GetString("table-uuid", ""));
  ASSIGN_OR_RETURN(metadata.location, json.GetString("location"));
  while (metadata.location.ends_with('/')) metadata.location.pop_back();
  ASSIGN_OR_RETURN(metadata.last_sequence_number.value, json.GetInt("last-sequence-number", 0));
  ASSIGN_OR_RETURN(metadata.last_updated_ms, json.GetInt("last-updated-ms", 0));
  ASSIGN_OR_RETURN(const int64_t last_column, json.GetInt("last-column-id"));
  metadata.last_column_id = static_cast<int32_t>(last_column);
  RETURN_IF_ERROR(ReadSchemas(json, metadata));
  RETURN_IF_ERROR(ReadSpecs(json, metadata));
  if (const Json* properties = json.Find("properties");
      properties != nullptr && properties->is_object()) {
    for (const auto& [name, value] : properties->object()) {
      // Some writers put numbers and booleans; the specification knows text only.
      if (!value.is_null())
        metadata.properties[name] = value.is_string() ? value.as_string() : value.Dump();
    }
  }
  RETURN_IF_ERROR(ReadSnapshots(json, metadata));
  RETURN_IF_ERROR(ReadRefs(json, metadata));
  for (const auto& [name, value] : json.object()) {
    if (!KnownMembers().contains(name)) metadata.other.Set(name, value);
  }
  return metadata;
}

Json MetadataToJson(const TableMetadata& metadata) {
  Json json = Json::MakeObject();
  json.Set("format-version", int64_t{metadata.format_version});
  if (!metadata.table_uuid.empty()) json.Set("table-uuid", metadata.table_uuid);
  json.Set("location", metadata.location);
  if (metadata.format_version >= 2)
    json.Set("last-sequence-number", metadata.last_sequence_number.value);
  json.Set("last-updated-ms", metadata.last_updated_ms);
  json.Set("last-column-id", int64_t{metadata.last_column_id});
  json.Set("current-schema-id", int64_t{metadata.current_schema_id.value});
  if (metadata.format_version == 1) {
    json.Set("schema", SchemaToJson(metadata.CurrentSchema()));
    json.Set("partition-spec", FieldsOfDefaultSpec(metadata));
  }
  Json schemas = Json::MakeArray();
  for (const Schema& schema : metadata.schemas) schemas.Push(SchemaToJson(schema));
  json.Set("schemas", std::move(schemas));
  json.Set("default-spec-id", int64_t{metadata.default_spec_id.value});
  json.Set("partition-specs", metadata.partition_specs);
  json.Set("last-partition-id", int64_t{metadata.last_partition_id});
  json.Set("default-sort-order-id", int64_t{metadata.default_sort_order_id});
  json.Set("sort-orders", metadata.sort_orders);
  json.Set("properties", TextMembers(metadata.properties));
  if (metadata.current_snapshot_id)
    json.Set("current-snapshot-id", metadata.current_snapshot_id->value);
  json.Set("refs", RefsToJson(metadata));
  Json snapshots = Json::MakeArray();
  for (const Snapshot& snapshot : metadata.snapshots) snapshots.Push(SnapshotToJson(snapshot));
  json.Set("snapshots", std::move(snapshots));
  Json snapshot_log = Json::MakeArray();
  for (const SnapshotLogEntry& entry : metadata.snapshot_log) {
    Json item = Json::MakeObject();
    item.Set("snapshot-id", entry.snapshot_id.value);
    item.Set("timestamp-ms", entry.timestamp_ms);
    snapshot_log.Push(std::move(item));
  }
  json.Set("snapshot-log", std::move(snapshot_log));
  Json metadata_log = Json::MakeArray();
  for (const MetadataLogEntry& entry : metadata.metadata_log) {
    Json item = Json::MakeObject();
    item.Set("timestamp-ms", entry.timestamp_ms);
    item.Set("metadata-file", entry.metadata_file);
    metadata_log.Push(std::move(item));
  }
  json.Set("metadata-log", std::move(metadata_log));
  for (const auto& [name, value] : metadata.other.object()) json.Set(name, value);
  return json;
}

SnapshotId NewSnapshotId(const TableMetadata& metadata) {
  while (true) {
    const SnapshotId id(static_cast<int64_t>(RandomU64() & INT64_MAX));
    if (id.value != 0 && metadata.FindSnapshot(id) == nullptr) return id;
  }
}

}  // namespace fjord
