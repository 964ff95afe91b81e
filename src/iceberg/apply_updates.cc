// ApplyUpdates and MakeTableFromUpdates: the updates of a commit, carried out one after the other.
#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"
#include "iceberg/table_update.h"

namespace fjord {
namespace {

constexpr char kNextRowId[] = "next-row-id";

// An integer member, or -1.
int64_t IdOf(const Json& item, std::string_view member) {
  const Json* id = item.Find(member);
  return id != nullptr && id->is_int() ? id->as_int() : -1;
}

int64_t HighestId(const Json& list, std::string_view member) {
  int64_t highest = -1;
  for (const Json& item : list.array()) highest = std::max(highest, IdOf(item, member));
  return highest;
}

bool HasId(const Json& list, std::string_view member, int64_t id) {
  return std::any_of(list.array().begin(), list.array().end(),
                     [&](const Json& item) { return IdOf(item, member) == id; });
}

bool SameMember(const Json& a, const Json& b, std::string_view member) {
  const Json* x = a.Find(member);
  const Json* y = b.Find(member);
  return x == nullptr || y == nullptr ? x == y : *x == *y;
}

// The same derivation from the same column, whatever it is called.
bool SamePartitionField(const Json& a, const Json& b) {
  return SameMember(a, b, "source-id") && SameMember(a, b, "source-ids") &&
         SameMember(a, b, "transform");
}

bool SameSpec(const Json& a, const Json& b) {
  return std::equal(a.array().begin(), a.array().end(), b.array().begin(), b.array().end(),
                    [](const Json& x, const Json& y) {
                      return SamePartitionField(x, y) && SameMember(x, y, "name");
                    });
}

enum class Origin { kExistingTable, kNewTable };

class Applier {
 public:
  Applier(TableMetadata base, Origin origin, int64_t now_ms)
      : table_(std::move(base)),
        origin_(origin),
        base_updated_ms_(table_.last_updated_ms),
        base_head_(table_.current_snapshot_id),
        now_ms_(std::max(now_ms, table_.last_updated_ms)) {}

  absl::Status Apply(const Json& update) {
    using Method = absl::Status (Applier::*)(const Json&);
    static const auto* methods = new std::map<std::string, Method, std::less<>>{
        {"assign-uuid", &Applier::AssignUuid},
        {"upgrade-format-version", &Applier::Upgrade},
        {"add-schema", &Applier::AddSchema},
        {"set-current-schema", &Applier::SetCurrentSchema},
        {"add-spec", &Applier::AddSpec},
        {"set-default-spec", &Applier::SetDefaultSpec},
        {"add-sort-order", &Applier::AddSortOrder},
        {"set-default-sort-order", &Applier::SetDefaultSortOrder},
        {"add-snapshot", &Applier::AddSnapshot},
        {"set-snapshot-ref", &Applier::SetRef},
        {"remove-snapshots", &Applier::RemoveSnapshots},
        {"remove-snapshot-ref", &Applier::RemoveRef},
        {"set-location", &Applier::SetLocation},
        {"set-properties", &Applier::SetProperties},
        {"remove-properties", &Applier::RemoveProperties},
        {"set-statistics", &Applier::SetStatistics},
        {"remove-statistics", &Applier::RemoveStatistics},
        {"set-partition-statistics", &Applier::SetPartitionStatistics},
        {"remove-partition-statistics", &Applier::RemovePartitionStatistics},
        {"remove-schemas", &Applier::RemoveSchemas},
        {"remove-partition-specs", &Applier::RemoveSpecs},
        {"add-encryption-key", &Applier::AddEncryptionKey},
        {"remove-encryption-key", &Applier::RemoveEncryptionKey}};
    ASSIGN_OR_RETURN(const std::string action, update.GetString("action"));
    const auto it = methods->find(action);
    if (it == methods->end()) return absl::InvalidArgumentError(StrCat("unknown update: ", action));
    return Annotate((this->*it->second)(update), action);
  }

  TableMetadata Take() {
    LogNewHead();
    table_.last_updated_ms = now_ms_;
    return std::move(table_);
  }

 private:
  absl::Status AssignUuid(const Json& update) {
    ASSIGN_OR_RETURN(const std::string uuid, update.GetString("uuid"));
    if (!table_.table_uuid.empty() && table_.table_uuid != uuid) {
      return absl::InvalidArgumentError(StrCat("the table has the uuid ", table_.table_uuid));
    }
    table_.table_uuid = uuid;
    return absl::OkStatus();
  }

  absl::Status Upgrade(const Json& update) {
    ASSIGN_OR_RETURN(const int64_t version, update.GetInt("format-version"));
    // New tables have version 2 at least.
    if (origin_ == Origin::kNewTable && version == 1) return absl::OkStatus();
    if (version < table_.format_version || version > 3) {
      return absl::InvalidArgumentError(
          StrCat("cannot go from format version ", table_.format_version, " to ", version));
    }
    if (version == 3 && table_.other.Find(kNextRowId) == nullptr) {
      table_.other.Set(kNextRowId, int64_t{0});
    }
    table_.format_version = static_cast<int>(version);
    return absl::OkStatus();
  }

  absl::Status AddSchema(const Json& update) {
    ASSIGN_OR_RETURN(const Json* json, update.GetObject("schema"));
    RETURN_IF_ERROR(CheckSchema(*json, table_.format_version));
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
    if (id == -1 && !last_schema_) {
      return absl::InvalidArgumentError("no schema was added in this commit");
    }
    const SchemaId schema = id == -1 ? *last_schema_ : SchemaId(static_cast<int32_t>(id));
    if (table_.FindSchema(schema) == nullptr) {
      return absl::InvalidArgumentError(StrCat("no schema ", schema.value));
    }
    table_.current_schema_id = schema;
    return absl::OkStatus();
  }

  // The number of a partition field that an earlier spec has too.
  std::optional<int64_t> KnownPartitionField(const Json& field) const {
    for (const Json& spec : table_.partition_specs.array()) {
      const Json* fields = spec.Find("fields");
      if (fields == nullptr || !fields->is_array()) continue;
      for (const Json& known : fields->array()) {
        if (SamePartitionField(known, field) && IdOf(known, "field-id") >= 0) {
          return IdOf(known, "field-id");
        }
      }
    }
    return std::nullopt;
  }

  absl::Status AddSpec(const Json& update) {
    ASSIGN_OR_RETURN(const Json* given, update.GetObject("spec"));
    ASSIGN_OR_RETURN(const Json* fields, given->GetArray("fields"));
    for (const Json& known : table_.partition_specs.array()) {
      const Json* same = known.Find("fields");
      if (same == nullptr || !same->is_array() || !SameSpec(*same, *fields)) continue;
      last_spec_ = IdOf(known, "spec-id");
      return absl::OkStatus();
    }
    Json numbered = *fields;
    for (Json& field : numbered.array()) {
      RETURN_IF_ERROR(field.GetString("name").status());
      RETURN_IF_ERROR(field.GetString("transform").status());
      if (IdOf(field, "field-id") < 0) {
        field.Set("field-id",
                  KnownPartitionField(field).value_or(int64_t{table_.last_partition_id} + 1));
      }
      table_.last_partition_id =
          std::max(table_.last_partition_id, static_cast<int32_t>(IdOf(field, "field-id")));
    }
    last_spec_ = HighestId(table_.partition_specs, "spec-id") + 1;
    Json spec = Json::MakeObject();
    spec.Set("spec-id", *last_spec_);
    spec.Set("fields", std::move(numbered));
    table_.partition_specs.Push(std::move(spec));
    return absl::OkStatus();
  }

  absl::Status SetDefaultSpec(const Json& update) {
    ASSIGN_OR_RETURN(int64_t id, update.GetInt("spec-id"));
    if (id == -1 && last_spec_) id = *last_spec_;
    if (!HasId(table_.partition_specs, "spec-id", id)) {
      return absl::InvalidArgumentError(StrCat("no partition spec ", id));
    }
    table_.default_spec_id = SpecId(static_cast<int32_t>(id));
    return absl::OkStatus();
  }

  absl::Status AddSortOrder(const Json& update) {
    ASSIGN_OR_RETURN(const Json* given, update.GetObject("sort-order"));
    ASSIGN_OR_RETURN(const Json* fields, given->GetArray("fields"));
    for (const Json& known : table_.sort_orders.array()) {
      if (const Json* same = known.Find("fields"); same == nullptr || *same != *fields) continue;
      last_order_ = IdOf(known, "order-id");
      return absl::OkStatus();
    }
    // Number 0 is the unsorted order's.
    last_order_ = fields->array().empty()
                      ? 0
                      : std::max<int64_t>(0, HighestId(table_.sort_orders, "order-id")) + 1;
    Json order = *given;
    order.Set("order-id", *last_order_);
    table_.sort_orders.Push(std::move(order));
    return absl::OkStatus();
  }

  absl::Status SetDefaultSortOrder(const Json& update) {
    ASSIGN_OR_RETURN(int64_t id, update.GetInt("sort-order-id"));
    if (id == -1 && last_order_) id = *last_order_;
    if (!HasId(table_.sort_orders, "order-id", id)) {
      return absl::InvalidArgumentError(StrCat("no sort order ", id));
    }
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
      return absl::AbortedError(StrCat("requirement failed: sequence number ",
                                       snapshot.sequence_number.value, " is not above ",
                                       table_.last_sequence_number.value));
    }
    if (table_.format_version >= 3) RETURN_IF_ERROR(AdvanceRowIds(snapshot));
    table_.last_sequence_number = std::max(table_.last_sequence_number, snapshot.sequence_number);
    now_ms_ = std::max(now_ms_, snapshot.timestamp_ms);
    added_.insert(snapshot.id.value);
    table_.snapshots.push_back(std::move(snapshot));
    return absl::OkStatus();
  }

  absl::Status AdvanceRowIds(const Snapshot& snapshot) {
    ASSIGN_OR_RETURN(const int64_t first, snapshot.other.GetInt("first-row-id"));
    ASSIGN_OR_RETURN(const int64_t added, snapshot.other.GetInt("added-rows"));
    if (added < 0) return absl::InvalidArgumentError("added-rows is negative");
    const int64_t next = std::max<int64_t>(0, IdOf(table_.other, kNextRowId));
    if (first < next) {
      return absl::AbortedError(
          StrCat("requirement failed: first-row-id ", first, " is below ", next));
    }
    table_.other.Set(kNextRowId, first + added);
    return absl::OkStatus();
  }

  absl::Status SetRef(const Json& update) {
    ASSIGN_OR_RETURN(const std::string name, update.GetString("ref-name"));
    SnapshotRef ref;
    ASSIGN_OR_RETURN(ref.snapshot_id.value, update.GetInt("snapshot-id"));
    ASSIGN_OR_RETURN(ref.type, update.GetString("type", "branch"));
    if (ref.type != "branch" && (ref.type != "tag" || name == kMainBranch)) {
      return absl::InvalidArgumentError(StrCat("reference ", name, " cannot be a ", ref.type));
    }
    if (table_.FindSnapshot(ref.snapshot_id) == nullptr) {
      return absl::InvalidArgumentError(StrCat("no snapshot ", ref.snapshot_id.value));
    }
    for (const char* age : {"min-snapshots-to-keep", "max-snapshot-age-ms", "max-ref-age-ms"}) {
      if (const Json* value = update.Find(age); value != nullptr && !value->is_null()) {
        ref.other.Set(age, *value);
      }
    }
    if (name == kMainBranch) table_.current_snapshot_id = ref.snapshot_id;
    table_.refs[name] = std::move(ref);
    return absl::OkStatus();
  }

  // A head that the commit only passed through is not logged. Times in the log never go back.
  void LogNewHead() {
    if (!table_.current_snapshot_id || table_.current_snapshot_id == base_head_) return;
    const SnapshotId head = *table_.current_snapshot_id;
    int64_t time = now_ms_;
    if (added_.contains(head.value)) {
      time = std::max(table_.FindSnapshot(head)->timestamp_ms, base_updated_ms_);
    }
    if (!table_.snapshot_log.empty()) {
      time = std::max(time, table_.snapshot_log.back().timestamp_ms);
    }
    now_ms_ = std::max(now_ms_, time);
    table_.snapshot_log.push_back({head, time});
  }

  absl::Status RemoveRef(const Json& update) {
    ASSIGN_OR_RETURN(const std::string name, update.GetString("ref-name"));
    table_.refs.erase(name);
    if (name == kMainBranch) {
      table_.current_snapshot_id.reset();
      table_.snapshot_log.clear();
    }
    return absl::OkStatus();
  }

  absl::Status RemoveSnapshots(const Json& update) {
    ASSIGN_OR_RETURN(const Json* ids, update.GetArray("snapshot-ids"));
    absl::flat_hash_set<int64_t> gone;
    for (const Json& id : ids->array()) {
      if (id.is_int()) gone.insert(id.as_int());
    }
    for (const auto& [name, ref] : table_.refs) {
      if (!gone.contains(ref.snapshot_id.value)) continue;
      const std::string why = StrCat("snapshot ", ref.snapshot_id.value, " is the head of ", name);
      if (name == kMainBranch) return absl::InvalidArgumentError(why);
      // A tag or branch that was made since the committer looked: it has to look again.
      return absl::AbortedError(why);
    }
    std::erase_if(table_.snapshots,
                  [&](const Snapshot& snapshot) { return gone.contains(snapshot.id.value); });
    // The log must not name a snapshot that is gone before one that is there: all up to the last
    // gone one go.
    auto& log = table_.snapshot_log;
    const auto last_gone = std::find_if(log.rbegin(), log.rend(), [&](const SnapshotLogEntry& e) {
      return gone.contains(e.snapshot_id.value);
    });
    log.erase(log.begin(), last_gone.base());
    for (const char* member : {"statistics", "partition-statistics"}) {
      if (Json* list = table_.other.Find(member); list != nullptr && list->is_array()) {
        std::erase_if(list->array(),
                      [&](const Json& item) { return gone.contains(IdOf(item, "snapshot-id")); });
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
    const Json* updates = update.Find("updates");
    if (updates == nullptr) updates = update.Find("updated");  // the name in early catalogs
    if (updates == nullptr || !updates->is_object()) {
      return absl::InvalidArgumentError("JSON member 'updates' is not an object");
    }
    for (const auto& [name, value] : updates->object()) {
      if (!value.is_string()) {
        return absl::InvalidArgumentError(StrCat("property ", name, " is no text"));
      }
      table_.properties[name] = value.as_string();
    }
    return absl::OkStatus();
  }

  absl::Status RemoveProperties(const Json& update) {
    const Json* removals = update.Find("removals");
    if (removals == nullptr) removals = update.Find("removed");  // the name in early catalogs
    if (removals == nullptr || !removals->is_array()) {
      return absl::InvalidArgumentError("JSON member 'removals' is not an array");
    }
    for (const Json& name : removals->array()) {
      if (name.is_string()) table_.properties.erase(name.as_string());
    }
    return absl::OkStatus();
  }

  // Replaces the item of a list in `other` whose `key` member is the same as `item`'s.
  void PutByKey(std::string_view list_name, std::string_view key, const Json& item) {
    EraseByKey(list_name, key, item.Find(key) == nullptr ? Json() : *item.Find(key));
    if (table_.other.Find(list_name) == nullptr) table_.other.Set(list_name, Json::MakeArray());
    table_.other.Find(list_name)->Push(item);
  }
  void EraseByKey(std::string_view list_name, std::string_view key, const Json& value) {
    Json* list = table_.other.Find(list_name);
    if (list == nullptr || !list->is_array()) return;
    std::erase_if(list->array(), [&](const Json& item) {
      const Json* found = item.Find(key);
      return found != nullptr && *found == value;
    });
  }

  absl::Status SetStatistics(const Json& update) {
    ASSIGN_OR_RETURN(const Json* statistics, update.GetObject("statistics"));
    PutByKey("statistics", "snapshot-id", *statistics);
    return absl::OkStatus();
  }
  absl::Status SetPartitionStatistics(const Json& update) {
    ASSIGN_OR_RETURN(const Json* statistics, update.GetObject("partition-statistics"));
    PutByKey("partition-statistics", "snapshot-id", *statistics);
    return absl::OkStatus();
  }
  absl::Status RemoveStatistics(const Json& update) {
    ASSIGN_OR_RETURN(const int64_t id, update.GetInt("snapshot-id"));
    EraseByKey("statistics", "snapshot-id", id);
    return absl::OkStatus();
  }
  absl::Status RemovePartitionStatistics(const Json& update) {
    ASSIGN_OR_RETURN(const int64_t id, update.GetInt("snapshot-id"));
    EraseByKey("partition-statistics", "snapshot-id", id);
    return absl::OkStatus();
  }

  absl::Status AddEncryptionKey(const Json& update) {
    ASSIGN_OR_RETURN(const Json* key, update.GetObject("encryption-key"));
    RETURN_IF_ERROR(key->GetString("key-id").status());
    PutByKey("encryption-keys", "key-id", *key);
    return absl::OkStatus();
  }
  absl::Status RemoveEncryptionKey(const Json& update) {
    ASSIGN_OR_RETURN(const std::string id, update.GetString("key-id"));
    EraseByKey("encryption-keys", "key-id", id);
    return absl::OkStatus();
  }

  absl::Status RemoveSchemas(const Json& update) {
    ASSIGN_OR_RETURN(const Json* ids, update.GetArray("schema-ids"));
    for (const Json& id : ids->array()) {
      if (!id.is_int()) continue;
      if (id.as_int() == table_.current_schema_id.value) {
        return absl::InvalidArgumentError("the current schema cannot be removed");
      }
      std::erase_if(table_.schemas,
                    [&](const Schema& schema) { return schema.id.value == id.as_int(); });
    }
    return absl::OkStatus();
  }

  absl::Status RemoveSpecs(const Json& update) {
    ASSIGN_OR_RETURN(const Json* ids, update.GetArray("spec-ids"));
    for (const Json& id : ids->array()) {
      if (!id.is_int()) continue;
      if (id.as_int() == table_.default_spec_id.value) {
        return absl::InvalidArgumentError("the default partition spec cannot be removed");
      }
      std::erase_if(table_.partition_specs.array(),
                    [&](const Json& spec) { return IdOf(spec, "spec-id") == id.as_int(); });
    }
    return absl::OkStatus();
  }

  TableMetadata table_;
  const Origin origin_;
  const int64_t base_updated_ms_;
  const std::optional<SnapshotId> base_head_;
  int64_t now_ms_;
  absl::flat_hash_set<int64_t> added_;  // snapshots
  std::optional<SchemaId> last_schema_;
  std::optional<int64_t> last_spec_;
  std::optional<int64_t> last_order_;
};

absl::StatusOr<TableMetadata> ApplyAll(Applier applier, const Json& updates) {
  if (!updates.is_array()) return absl::InvalidArgumentError("updates are no array");
  for (const Json& update : updates.array()) RETURN_IF_ERROR(applier.Apply(update));
  return applier.Take();
}

Json NumberedWithoutFields(std::string_view member) {
  Json json = Json::MakeObject();
  json.Set(member, int64_t{0});
  json.Set("fields", Json::MakeArray());
  return json;
}

}  // namespace

absl::StatusOr<TableMetadata> ApplyUpdates(const TableMetadata& base, const Json& updates,
                                           int64_t now_ms) {
  return ApplyAll(Applier(base, Origin::kExistingTable, now_ms), updates);
}

absl::StatusOr<TableMetadata> MakeTableFromUpdates(const Json& updates, std::string location,
                                                   int64_t now_ms) {
  TableMetadata empty;
  empty.location = std::move(location);
  empty.current_schema_id = SchemaId(-1);
  ASSIGN_OR_RETURN(TableMetadata table,
                   ApplyAll(Applier(std::move(empty), Origin::kNewTable, now_ms), updates));
  if (table.FindSchema(table.current_schema_id) == nullptr) {
    return absl::InvalidArgumentError("the updates give the new table no current schema");
  }
  if (table.table_uuid.empty()) table.table_uuid = RandomUuid();
  if (table.partition_specs.array().empty()) {
    table.partition_specs.Push(NumberedWithoutFields("spec-id"));
  }
  if (table.sort_orders.array().empty()) {
    table.sort_orders.Push(NumberedWithoutFields("order-id"));
  }
  table.properties.erase("format-version");
  return table;
}

}  // namespace fjord
