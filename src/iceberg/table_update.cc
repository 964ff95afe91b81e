#include "iceberg/table_update.h"

#include <utility>

#include "absl/strings/match.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

Json Typed(std::string_view member, std::string_view name) {
  Json json = Json::MakeObject();
  json.Set(member, name);
  return json;
}

absl::Status Unmet(std::string_view what) {
  return absl::AbortedError(StrCat("requirement failed: ", what));
}

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
    return it == table.refs.end() ? absl::OkStatus()
                                  : Unmet(StrCat("branch or tag ", ref, " exists"));
  }
  if (!expected->is_int()) return absl::InvalidArgumentError("snapshot-id is not an integer");
  if (it == table.refs.end()) return Unmet(StrCat("branch or tag ", ref, " is missing"));
  if (it->second.snapshot_id.value != expected->as_int()) {
    return Unmet(StrCat("branch or tag ", ref, " is at ", it->second.snapshot_id.value, ", not ",
                        expected->as_int()));
  }
  return absl::OkStatus();
}

absl::Status CheckRequirement(const Json& requirement, const TableMetadata* table) {
  ASSIGN_OR_RETURN(const std::string type, requirement.GetString("type"));
  if (type == "assert-create")
    return table == nullptr ? absl::OkStatus() : Unmet("the table exists");
  if (table == nullptr) return absl::NotFoundError("the table does not exist");
  if (type == "assert-table-uuid") {
    ASSIGN_OR_RETURN(const std::string uuid, requirement.GetString("uuid"));
    return absl::EqualsIgnoreCase(uuid, table->table_uuid)
               ? absl::OkStatus()
               : Unmet(StrCat("the table's uuid is ", table->table_uuid));
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

}  // namespace

Json AssertCreate() { return Typed("type", "assert-create"); }

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
  for (const Json& requirement : requirements.array())
    RETURN_IF_ERROR(CheckRequirement(requirement, table));
  return absl::OkStatus();
}

}  // namespace fjord
