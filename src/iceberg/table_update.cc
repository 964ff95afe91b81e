#include "iceberg/table_update.h"

#include <algorithm>
#include <functional>

#include "absl/container/flat_hash_set.h"
#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

Json Typed(std::string_view member, std::string_view name) {
  Json json = Json::MakeObject();
  json.Set(member, name);
  return json;
}

absl::Status Unmet(std::string_view what) { return absl::AbortedError(StrCat("requirement failed: ", what)); }

absl::Status CheckNumber(const Json& requirement, std::string_view member, int64_t actual) {
  ASSIGN_OR_RETURN(const int64_t expected, requirement.GetInt(member));
  if (expected != actual) return Unmet(StrCat(member, " is ", actual, ", not ", expected));
  return absl::OkStatus();
}

absl::Status CheckRef(const Json& requirement, const TableMetadata& table) {
  ASSIGN_OR_RETURN(const std::string ref, requirement.GetString("ref"));
  const Json* expected = requirement.Find("snapshot-id");
  const auto it = table.refs.find(ref);
  if (expected == nullptr || expected->is_null()) {
    return it == table.refs.end() ? absl::OkStatus() : Unmet(StrCat("branch or tag ", ref, " exists"));
  }
  if (!expected->is_int()) return absl::InvalidArgumentError("snapshot-id is not an integer");
  if (it == table.refs.end()) return Unmet(StrCat("branch or tag ", ref, " is missing"));
  if (it->second.snapshot_id.value != expected->as_int()) {
    return Unmet(StrCat("branch or tag ", ref, " is at ", it->second.snapshot_id.value, ", not ", expected->as_int()));
  }
  return absl::OkStatus();
}

absl::Status CheckRequirement(const Json& requirement, const TableMetadata* table) {
  ASSIGN_OR_RETURN(const std::string type, requirement.GetString("type"));
  if (type == "assert-create") return table == nullptr ? absl::OkStatus() : Unmet("the table exists");
  if (table == nullptr) return absl::NotFoundError("the table does not exist");
  if (type == "assert-table-uuid") {
    ASSIGN_OR_RETURN(const std::string uuid, requirement.GetString("uuid"));
    return uuid == table->table_uuid ? absl::OkStatus() : Unmet(StrCat("the table's uuid is ", table->table_uuid));
  }
  if (type == "assert-ref-snapshot-id") return CheckRef(requirement, *table);
  if (type == "assert-last-assigned-field-id") {
    return CheckNumber(requirement, "last-assigned-field-id", table->last_column_id);
  }
  if (type == "assert-current-schema-id") {
    return CheckNumber(requirement, "current-schema-id", table->current_schema_id.value);
  }
  if (type == "assert-last-assigned-partition-id") {
    return CheckNumber(requirement, "last-assigned-partition-id", table->last_partition_id);
  }
  if (type == "assert-default-spec-id") {
    return CheckNumber(requirement, "default-spec-id", table->default_spec_id.value);
  }
  if (type == "assert-default-sort-order-id") {
    return CheckNumber(requirement, "default-sort-order-id", table->default_sort_order_id);
  }
  return absl::InvalidArgumentError(StrCat("unknown requirement: ", type));
}

// Carries out updates one after the other.
class Applier {
 public:
  Applier(TableMetadata base, int64_t now_ms) : table_(std::move(base)), now_ms_(std::max(now_ms, table_.last_updated_ms)) {}

  absl::Status Apply(const Json& update) {
    ASSIGN_OR_RETURN(const std::string action, update.GetString("action"));
    if (action == "assign-uuid") return AssignUuid(update);
    if (action == "upgrade-format-version") return Upgrade(update);
    if (action == "add-schema") return AddSchema(update);
    if (action == "set-current-schema") return SetCurrentSchema(update);
    if (action == "add-spec") return AddSpec(update);
    if (action == "set-default-spec") return SetDefaultSpec(update);
    if (action == "add-sort-order") return AddSortOrder(update);
    if (action == "set-default-sort-order") return SetDefaultSortOrder(update);
    if (action == "add-snapshot") return AddSnapshot(update);
    if (action == "set-snapshot-ref") return SetRef(update);
    if (action == "remove-snapshots") return RemoveSnapshots(update);
    if (action == "remove-snapshot-ref") return RemoveRef(update);
    if (action == "set-location") return SetLocation(update);
    if (action == "set-properties") return SetProperties(update);
    if (action == "remove-properties") return RemoveProperties(update);
    if (action == "set-statistics") return SetStatistics(update, "statistics", "statistics");
    if (action == "set-partition-statistics") return SetStatistics(update, "partition-statistics", "partition-statistics");
    if (action == "remove-statistics") return RemoveStatistics(update, "statistics");
    if (action == "remove-partition-statistics") return RemoveStatistics(update, "partition-statistics");
    if (action == "remove-schemas") return RemoveSchemas(update);
    if (action == "remove-partition-specs") return RemoveSpecs(update);
    return absl::InvalidArgumentError(StrCat("unknown update: ", action));
  }

  TableMetadata Take() {
    table_.last_updated_ms = now_ms_;
    return std::move(table_);
  }

 private:
  absl::Status AssignUuid(const Json& update) {
    ASSIGN_OR_RETURN(const std::string uuid, update.GetString("uuid"));
    if (!table_.table_uuid.empty() && table_.table_uuid != uuid) return absl::InvalidArgumentError("the uuid is assigned already");
    table_.table_uuid = uuid;
    return absl::OkStatus();
  }

  absl::Status Upgrade(const Json& update) {
    ASSIGN_OR_RETURN(const int64_t version, update.GetInt("format-version"));
    if (version < table_.format_version || version > 3) {
      return absl::InvalidArgumentError(StrCat("cannot go from format version ", table_.format_version, " to ", version));
    }
    if (version == 3 && table_.other.Find("next-row-id") == nullptr) table_.other.Set("next-row-id", int64_t{0});
    table_.format_version = static_cast<int>(version);
    return absl::OkStatus();
  }

  absl::Status AddSchema(const Json& update) {
    ASSIGN_OR_RETURN(const Json* json, update.GetObject("schema"));
    ASSIGN_OR_RETURN(Schema schema, SchemaFromJson(*json));
    table_.last_column_id = std::max(table_.last_column_id, HighestFieldId(*json));
    int32_t highest = -1;
    for (const Schema& known : table_.schemas) {
      highest = std::max(highest, known.id.value);
      if (known.fields == schema.fields && known.identifier_fields == schema.identifier_fields) {
        last_schema_ = known.id;
        return absl::OkStatus();
      }
    }
    schema.id = SchemaId(highest + 1);
    last_schema_ = schema.id;
    table_.schemas.push_back(std::move(schema));
    return absl::OkStatus();
  }

  absl::Status SetCurrentSchema(const Json& update) {
    ASSIGN_OR_RETURN(const int64_t id, update.GetInt("schema-id"));
    if (id == -1 && !last_schema_) return absl::InvalidArgumentError("no schema was added in this commit");
    const SchemaId schema = id == -1 ? *last_schema_ : SchemaId(static_cast<int32_t>(id));
    if (table_.FindSchema(schema) == nullptr) return absl::InvalidArgumentError(StrCat("no schema ", schema.value));
    table_.current_schema_id = schema;
    return absl::OkStatus();
  }

  static int64_t IdOf(const Json& item, std::string_view member) {
    const Json* id = item.Find(member);
    return id != nullptr && id->is_int() ? id->as_int() : -1;
  }
  static int64_t HighestId(const Json& list, std::string_view member) {
    int64_t highest = -1;
    for (const Json& item : list.array()) highest = std::max(highest, IdOf(item, member));
    return highest;
  }
  static bool HasId(const Json& list, std::string_view member, int64_t id) {
    return std::any_of(list.array().begin(), list.array().end(), [&](const Json& item) { return IdOf(item, member) == id; });
  }

  absl::Status AddSpec(const Json& update) {
    ASSIGN_OR_RETURN(const Json* given, update.GetObject("spec"));
    ASSIGN_OR_RETURN(const Json* fields, given->GetArray("fields"));
    Json numbered = *fields;
    for (Json& field : numbered.array()) {
      if (field.Find("field-id") == nullptr) field.Set("field-id", int64_t{table_.last_partition_id + 1});
      table_.last_partition_id = std::max(table_.last_partition_id, static_cast<int32_t>(IdOf(field, "field-id")));
    }
    for (const Json& known : table_.partition_specs.array()) {
      if (const Json* same = known.Find("fields"); same != nullptr && *same == numbered) {
        last_spec_ = IdOf(known, "spec-id");
        return absl::OkStatus();
      }
    }
    Json spec = Json::MakeObject();
    last_spec_ = HighestId(table_.partition_specs, "spec-id") + 1;
    spec.Set("spec-id", *last_spec_);
    spec.Set("fields", std::move(numbered));
    table_.partition_specs.Push(std::move(spec));
    return absl::OkStatus();
  }

  absl::Status SetDefaultSpec(const Json& update) {
    ASSIGN_OR_RETURN(int64_t id, update.GetInt("spec-id"));
    if (id == -1 && last_spec_) id = *last_spec_;
    if (!HasId(table_.partition_specs, "spec-id", id)) return absl::InvalidArgumentError(StrCat("no partition spec ", id));
    table_.default_spec_id = SpecId(static_cast<int32_t>(id));
    return absl::OkStatus();
  }

  absl::Status AddSortOrder(const Json& update) {
    ASSIGN_OR_RETURN(const Json* given, update.GetObject("sort-order"));
    Json order = *given;
    const Json* fields = order.Find("fields");
    const bool unsorted = fields == nullptr || !fields->is_array() || fields->array().empty();
    last_order_ = unsorted ? 0 : std::max<int64_t>(0, HighestId(table_.sort_orders, "order-id")) + 1;
    if (HasId(table_.sort_orders, "order-id", *last_order_)) return absl::OkStatus();
    order.Set("order-id", *last_order_);
    table_.sort_orders.Push(std::move(order));
    return absl::OkStatus();
  }

  absl::Status SetDefaultSortOrder(const Json& update) {
    ASSIGN_OR_RETURN(int64_t id, update.GetInt("sort-order-id"));
    if (id == -1 && last_order_) id = *last_order_;
    if (!HasId(table_.sort_orders, "order-id", id)) return absl::InvalidArgumentError(StrCat("no sort order ", id));
    table_.default_sort_order_id = static_cast<int32_t>(id);
    return absl::OkStatus();
  }

  absl::Status AddSnapshot(const Json& update) {
    ASSIGN_OR_RETURN(const Json* json, update.GetObject("snapshot"));
    ASSIGN_OR_RETURN(Snapshot snapshot, SnapshotFromJson(*json));
    if (table_.FindSnapshot(snapshot.id) != nullptr) {
      return absl::InvalidArgumentError(StrCat("snapshot ", snapshot.id.value, " exists already"));
    }
    if (table_.format_version >= 2 && snapshot.parent_snapshot_id &&
        snapshot.sequence_number <= table_.last_sequence_number) {
      return absl::AbortedError(StrCat("requirement failed: sequence number ", snapshot.sequence_number.value,
                                       " is not above ", table_.last_sequence_number.value));
    }
    if (table_.format_version >= 3) RETURN_IF_ERROR(AdvanceRowIds(snapshot));
    table_.last_sequence_number = std::max(table_.last_sequence_number, snapshot.sequence_number);
    now_ms_ = std::max(now_ms_, snapshot.timestamp_ms);
    table_.snapshots.push_back(std::move(snapshot));
    return absl::OkStatus();
  }

  absl::Status AdvanceRowIds(const Snapshot& snapshot) {
    ASSIGN_OR_RETURN(const int64_t first, snapshot.other.GetInt("first-row-id"));
    ASSIGN_OR_RETURN(const int64_t added, snapshot.other.GetInt("added-rows"));
    const int64_t next = std::max<int64_t>(0, IdOf(table_.other, "next-row-id"));
    if (first < next) return absl::AbortedError(StrCat("requirement failed: first-row-id ", first, " is below ", next));
    table_.other.Set("next-row-id", first + added);
    return absl::OkStatus();
  }

  absl::Status SetRef(const Json& update) {
    ASSIGN_OR_RETURN(const std::string name, update.GetString("ref-name"));
    SnapshotRef ref;
    ASSIGN_OR_RETURN(ref.snapshot_id.value, update.GetInt("snapshot-id"));
    ASSIGN_OR_RETURN(ref.type, update.GetString("type", "branch"));
    if (table_.FindSnapshot(ref.snapshot_id) == nullptr) {
      return absl::InvalidArgumentError(StrCat("no snapshot ", ref.snapshot_id.value));
    }
    for (const char* age : {"min-snapshots-to-keep", "max-snapshot-age-ms", "max-ref-age-ms"}) {
      if (const Json* value = update.Find(age); value != nullptr && !value->is_null()) ref.other.Set(age, *value);
    }
    if (name == kMainBranch && table_.current_snapshot_id != ref.snapshot_id) {
      table_.current_snapshot_id = ref.snapshot_id;
      table_.snapshot_log.push_back({ref.snapshot_id, now_ms_});
    }
    table_.refs[name] = std::move(ref);
    return absl::OkStatus();
  }

  absl::Status RemoveRef(const Json& update) {
    ASSIGN_OR_RETURN(const std::string name, update.GetString("ref-name"));
    table_.refs.erase(name);
    if (name == kMainBranch) table_.current_snapshot_id.reset();
    return absl::OkStatus();
  }

  absl::Status RemoveSnapshots(const Json& update) {
    ASSIGN_OR_RETURN(const Json* ids, update.GetArray("snapshot-ids"));
    absl::flat_hash_set<int64_t> gone;
    for (const Json& id : ids->array()) {
      if (id.is_int()) gone.insert(id.as_int());
    }
    for (const auto& [name, ref] : table_.refs) {
      if (gone.contains(ref.snapshot_id.value)) {
        return absl::InvalidArgumentError(StrCat("snapshot ", ref.snapshot_id.value, " is the head of ", name));
      }
    }
    std::erase_if(table_.snapshots, [&](const Snapshot& snapshot) { return gone.contains(snapshot.id.value); });
    // The log must not name a snapshot that is gone before one that is there: all up to the last gone one go.
    size_t keep_from = 0;
    for (size_t i = 0; i < table_.snapshot_log.size(); ++i) {
      if (gone.contains(table_.snapshot_log[i].snapshot_id.value)) keep_from = i + 1;
    }
    table_.snapshot_log.erase(table_.snapshot_log.begin(), table_.snapshot_log.begin() + static_cast<std::ptrdiff_t>(keep_from));
    for (const char* member : {"statistics", "partition-statistics"}) {
      if (Json* list = table_.other.Find(member); list != nullptr && list->is_array()) {
        std::erase_if(list->array(), [&](const Json& item) { return gone.contains(IdOf(item, "snapshot-id")); });
      }
    }
    return absl::OkStatus();
  }

  absl::Status SetLocation(const Json& update) {
    ASSIGN_OR_RETURN(table_.location, update.GetString("location"));
    while (table_.location.ends_with('/')) table_.location.pop_back();
    return absl::OkStatus();
  }

  absl::Status SetProperties(const Json& update) {
    ASSIGN_OR_RETURN(const Json* updates, update.GetObject("updates"));
    for (const auto& [name, value] : updates->object()) {
      if (!value.is_string()) return absl::InvalidArgumentError(StrCat("property ", name, " is no text"));
      table_.properties[name] = value.as_string();
    }
    return absl::OkStatus();
  }

  absl::Status RemoveProperties(const Json& update) {
    ASSIGN_OR_RETURN(const Json* removals, update.GetArray("removals"));
    for (const Json& name : removals->array()) {
      if (name.is_string()) table_.properties.erase(name.as_string());
    }
    return absl::OkStatus();
  }

  absl::Status SetStatistics(const Json& update, std::string_view member, std::string_view list_name) {
    ASSIGN_OR_RETURN(const Json* statistics, update.GetObject(member));
    if (table_.other.Find(list_name) == nullptr) table_.other.Set(list_name, Json::MakeArray());
    Json& list = *table_.other.Find(list_name);
    const int64_t id = IdOf(*statistics, "snapshot-id");
    std::erase_if(list.array(), [&](const Json& item) { return IdOf(item, "snapshot-id") == id; });
    list.Push(*statistics);
    return absl::OkStatus();
  }

  absl::Status RemoveStatistics(const Json& update, std::string_view list_name) {
    ASSIGN_OR_RETURN(const int64_t id, update.GetInt("snapshot-id"));
    if (Json* list = table_.other.Find(list_name); list != nullptr && list->is_array()) {
      std::erase_if(list->array(), [&](const Json& item) { return IdOf(item, "snapshot-id") == id; });
    }
    return absl::OkStatus();
  }

  absl::Status RemoveSchemas(const Json& update) {
    ASSIGN_OR_RETURN(const Json* ids, update.GetArray("schema-ids"));
    for (const Json& id : ids->array()) {
      if (!id.is_int()) continue;
      if (id.as_int() == table_.current_schema_id.value) return absl::InvalidArgumentError("the current schema cannot be removed");
      std::erase_if(table_.schemas, [&](const Schema& schema) { return schema.id.value == id.as_int(); });
    }
    return absl::OkStatus();
  }

  absl::Status RemoveSpecs(const Json& update) {
    ASSIGN_OR_RETURN(const Json* ids, update.GetArray("spec-ids"));
    for (const Json& id : ids->array()) {
      if (!id.is_int()) continue;
      if (id.as_int() == table_.default_spec_id.value) return absl::InvalidArgumentError("the default spec cannot be removed");
      std::erase_if(table_.partition_specs.array(), [&](const Json& spec) { return IdOf(spec, "spec-id") == id.as_int(); });
    }
    return absl::OkStatus();
  }

  TableMetadata table_;
  int64_t now_ms_;
  std::optional<SchemaId> last_schema_;
  std::optional<int64_t> last_spec_;
  std::optional<int64_t> last_order_;
};

}  // namespace

Json AssertTableUuid(std::string_view uuid) {
  Json json = Typed("type", "assert-table-uuid");
  json.Set("uuid", uuid);
  return json;
}

Json AssertRefSnapshotId(std::string_view ref, std::optional<SnapshotId> snapshot) {
  Json json = Typed("type", "assert-ref-snapshot-id");
  json.Set("ref", ref);
  json.Set("snapshot-id", snapshot ? Json(snapshot->value) : Json());
  return json;
}

Json AssertCurrentSchemaId(SchemaId schema) {
  Json json = Typed("type", "assert-current-schema-id");
  json.Set("current-schema-id", int64_t{schema.value});
  return json;
}

Json AddSnapshotUpdate(const Snapshot& snapshot) {
  Json json = Typed("action", "add-snapshot");
  json.Set("snapshot", SnapshotToJson(snapshot));
  return json;
}

Json SetMainUpdate(SnapshotId snapshot) {
  Json json = Typed("action", "set-snapshot-ref");
  json.Set("ref-name", kMainBranch);
  json.Set("type", "branch");
  json.Set("snapshot-id", snapshot.value);
  return json;
}

Json SetPropertiesUpdate(const std::map<std::string, std::string>& properties) {
  Json json = Typed("action", "set-properties");
  Json updates = Json::MakeObject();
  for (const auto& [name, value] : properties) updates.Set(name, value);
  json.Set("updates", std::move(updates));
  return json;
}

Json RemoveSnapshotsUpdate(const std::vector<SnapshotId>& snapshots) {
  Json json = Typed("action", "remove-snapshots");
  Json ids = Json::MakeArray();
  for (const SnapshotId id : snapshots) ids.Push(id.value);
  json.Set("snapshot-ids", std::move(ids));
  return json;
}

absl::Status CheckRequirements(const Json& requirements, const TableMetadata* table) {
  if (!requirements.is_array()) return absl::InvalidArgumentError("requirements are no array");
  for (const Json& requirement : requirements.array()) RETURN_IF_ERROR(CheckRequirement(requirement, table));
  return absl::OkStatus();
}

absl::StatusOr<TableMetadata> ApplyUpdates(const TableMetadata& base, const Json& updates, int64_t now_ms) {
  if (!updates.is_array()) return absl::InvalidArgumentError("updates are no array");
  Applier applier(base, now_ms);
  for (const Json& update : updates.array()) RETURN_IF_ERROR(applier.Apply(update));
  return applier.Take();
}

absl::StatusOr<TableMetadata> MakeTable(const NewTable& table, int64_t now_ms) {
  TableMetadata metadata;
  metadata.properties = table.properties;
  if (const auto it = metadata.properties.find("format-version"); it != metadata.properties.end()) {
    const std::optional<int> version = ParseInt<int>(it->second);
    if (!version || *version < 1 || *version > 3) {
      return absl::InvalidArgumentError(StrCat("format-version '", it->second, "' is not known"));
    }
    metadata.format_version = std::max(2, *version);
    metadata.properties.erase(it);
  }
  metadata.table_uuid = RandomUuid();
  metadata.location = table.location;
  metadata.last_updated_ms = now_ms;
  Json fresh = AssignFreshIds(table.schema, &metadata.last_column_id);
  fresh.Set("schema-id", int64_t{0});
  ASSIGN_OR_RETURN(Schema schema, SchemaFromJson(fresh));
  metadata.schemas.push_back(std::move(schema));
  Json spec = Json::MakeObject();
  spec.Set("spec-id", int64_t{0});
  spec.Set("fields", Json::MakeArray());
  if (const Json* fields = table.partition_spec.Find("fields"); fields != nullptr && fields->is_array()) {
    Json numbered = *fields;
    for (Json& field : numbered.array()) field.Set("field-id", int64_t{++metadata.last_partition_id});
    spec.Set("fields", std::move(numbered));
  }
  metadata.partition_specs.Push(std::move(spec));
  Json order = Json::MakeObject();
  order.Set("order-id", int64_t{0});
  order.Set("fields", Json::MakeArray());
  if (const Json* fields = table.sort_order.Find("fields");
      fields != nullptr && fields->is_array() && !fields->array().empty()) {
    order.Set("order-id", int64_t{1});
    order.Set("fields", *fields);
    metadata.default_sort_order_id = 1;
  }
  metadata.sort_orders.Push(std::move(order));
  if (metadata.format_version >= 3) metadata.other.Set("next-row-id", int64_t{0});
  return metadata;
}

}  // namespace fjord
