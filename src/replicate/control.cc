#include "replicate/control.h"

#include "absl/time/clock.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/status.h"
#include "base/strings.h"
#include "iceberg/manifest_list.h"
#include "io/object_store.h"

namespace fjord {
namespace {

constexpr char kNamespace[] = "fjord_control";
constexpr char kRecordKey[] = "fjord.control";
constexpr char kOperationKey[] = "fjord.operation";
constexpr size_t kSnapshotsKept = 2;

TableIdent Ident(const std::string& replication) { return {{kNamespace}, replication}; }

Json TableToJson(const ControlTable& table) {
  Json json = Json::MakeObject();
  json.Set("oid", int64_t{table.oid.value});
  json.Set("table-uuid", table.table_uuid);
  json.Set("membership-oid", int64_t{table.membership_oid.value});
  json.Set("membership-xmin", int64_t{table.membership_xmin.value});
  json.Set("state", table.state);
  if (!table.reason.empty()) json.Set("reason", table.reason);
  json.Set("covered-since", FormatLsn(table.covered_since));
  json.Set("watermark", FormatLsn(table.watermark));
  json.Set("publication-oid", int64_t{table.publication.oid.value});
  json.Set("publication-xmin", int64_t{table.publication.xmin.value});
  json.Set("columns", table.definition.columns);
  json.Set("column-rows", table.definition.column_rows);
  json.Set("relfilenode", int64_t{table.definition.relfilenode});
  json.Set("key", table.definition.key);
  return json;
}

absl::StatusOr<ControlTable> TableFromJson(const Json& json) {
  ControlTable table;
  ASSIGN_OR_RETURN(const int64_t oid, json.GetInt("oid"));
  table.oid = Oid(static_cast<uint32_t>(oid));
  ASSIGN_OR_RETURN(table.table_uuid, json.GetString("table-uuid"));
  ASSIGN_OR_RETURN(const int64_t membership_oid, json.GetInt("membership-oid"));
  table.membership_oid = Oid(static_cast<uint32_t>(membership_oid));
  ASSIGN_OR_RETURN(const int64_t membership_xmin, json.GetInt("membership-xmin"));
  table.membership_xmin = Xid(static_cast<uint32_t>(membership_xmin));
  ASSIGN_OR_RETURN(table.state, json.GetString("state"));
  ASSIGN_OR_RETURN(table.reason, json.GetString("reason", ""));
  ASSIGN_OR_RETURN(const std::string covered, json.GetString("covered-since"));
  ASSIGN_OR_RETURN(table.covered_since, ParseLsn(covered));
  ASSIGN_OR_RETURN(const std::string watermark, json.GetString("watermark"));
  ASSIGN_OR_RETURN(table.watermark, ParseLsn(watermark));
  ASSIGN_OR_RETURN(const int64_t publication_oid, json.GetInt("publication-oid"));
  table.publication.oid = Oid(static_cast<uint32_t>(publication_oid));
  ASSIGN_OR_RETURN(const int64_t publication_xmin, json.GetInt("publication-xmin"));
  table.publication.xmin = Xid(static_cast<uint32_t>(publication_xmin));
  ASSIGN_OR_RETURN(table.definition.columns, json.GetString("columns"));
  ASSIGN_OR_RETURN(table.definition.column_rows, json.GetString("column-rows"));
  ASSIGN_OR_RETURN(const int64_t relfilenode, json.GetInt("relfilenode"));
  table.definition.relfilenode = static_cast<uint32_t>(relfilenode);
  ASSIGN_OR_RETURN(table.definition.key, json.GetString("key"));
  return table;
}

absl::StatusOr<std::optional<ControlRecord>> RecordOf(const TableMetadata& metadata) {
  if (!metadata.current_snapshot_id) return std::nullopt;
  const Snapshot* head = metadata.FindSnapshot(*metadata.current_snapshot_id);
  if (head == nullptr || !head->summary.contains(kRecordKey)) {
    return absl::DataLossError(
        StrCat("the control table ", metadata.location, " was written by somebody else"));
  }
  ASSIGN_OR_RETURN(ControlRecord record, ParseControlRecord(head->summary.at(kRecordKey)));
  return record;
}

}  // namespace

std::string FormatControlRecord(const ControlRecord& record) {
  Json json = Json::MakeObject();
  json.Set("generation", record.generation);
  json.Set("system-identifier", record.system_identifier);
  json.Set("database", record.database);
  json.Set("slot", record.slot);
  json.Set("timeline", int64_t{record.timeline.value});
  json.Set("position", FormatLsn(record.position));
  Json tables = Json::MakeObject();
  for (const auto& [name, table] : record.tables) tables.Set(name, TableToJson(table));
  json.Set("tables", std::move(tables));
  return json.Dump();
}

absl::StatusOr<ControlRecord> ParseControlRecord(std::string_view text) {
  ASSIGN_OR_RETURN(const Json json, Json::Parse(text));
  ControlRecord record;
  ASSIGN_OR_RETURN(record.generation, json.GetInt("generation"));
  ASSIGN_OR_RETURN(record.system_identifier, json.GetString("system-identifier"));
  ASSIGN_OR_RETURN(record.database, json.GetString("database"));
  ASSIGN_OR_RETURN(record.slot, json.GetString("slot"));
  ASSIGN_OR_RETURN(const int64_t timeline, json.GetInt("timeline"));
  record.timeline = TimelineId(static_cast<uint32_t>(timeline));
  ASSIGN_OR_RETURN(const std::string position, json.GetString("position"));
  ASSIGN_OR_RETURN(record.position, ParseLsn(position));
  ASSIGN_OR_RETURN(const Json* tables, json.GetObject("tables"));
  for (const auto& [name, item] : tables->object()) {
    ASSIGN_OR_RETURN(record.tables[name], TableFromJson(item));
  }
  return record;
}

absl::StatusOr<std::unique_ptr<ControlStore>> ControlStore::Open(Catalog* catalog,
                                                                 ObjectStore* store,
                                                                 const std::string& replication) {
  auto control =
      std::unique_ptr<ControlStore>(new ControlStore(catalog, store, Ident(replication)));
  absl::Status status = control->Load();
  if (!absl::IsNotFound(status)) {
    RETURN_IF_ERROR(status);
    return control;
  }
  RETURN_IF_ERROR(catalog->CreateNamespace(control->ident_.ns));
  Json field = Json::MakeObject();
  field.Set("id", int64_t{1});
  field.Set("name", "note");
  field.Set("required", false);
  field.Set("type", "string");
  Json fields = Json::MakeArray();
  fields.Push(std::move(field));
  Json schema = Json::MakeObject();
  schema.Set("type", "struct");
  schema.Set("schema-id", int64_t{0});
  schema.Set("fields", std::move(fields));
  const absl::Status created =
      catalog
          ->CreateTable(control->ident_,
                        {.schema = std::move(schema),
                         .properties = {{"format-version", "2"},
                                        {"write.metadata.delete-after-commit.enabled", "true"},
                                        {"write.metadata.previous-versions-max", "5"}}})
          .status();
  status = control->Load();
  if (!status.ok()) return created.ok() ? status : created;
  return control;
}

absl::Status ControlStore::Load() {
  ASSIGN_OR_RETURN(loaded_, catalog_->LoadTable(ident_));
  ASSIGN_OR_RETURN(record_, RecordOf(loaded_->metadata));
  return absl::OkStatus();
}

absl::Status ControlStore::Write(const ControlRecord& record) {
  const TableMetadata& metadata = loaded_->metadata;
  const SnapshotId id = NewSnapshotId(metadata);
  const std::string operation = RandomUuid();
  const SequenceNumber sequence(metadata.last_sequence_number.value + 1);
  Snapshot snapshot{.id = id,
                    .parent_snapshot_id = metadata.current_snapshot_id,
                    .sequence_number = sequence,
                    .schema_id = metadata.current_schema_id};
  snapshot.timestamp_ms = std::max(absl::ToUnixMillis(absl::Now()), metadata.last_updated_ms);
  snapshot.manifest_list =
      StrCat(metadata.location, "/metadata/snap-", id.value, "-0-", operation, ".avro");
  snapshot.summary = {{"operation", "append"},
                      {kOperationKey, operation},
                      {kRecordKey, FormatControlRecord(record)}};
  ASSIGN_OR_RETURN(const std::string list,
                   EncodeManifestList({.snapshot_id = id,
                                       .parent_snapshot_id = snapshot.parent_snapshot_id,
                                       .sequence_number = sequence},
                                      {}));
  RETURN_IF_ERROR(store_->Put(snapshot.manifest_list, list));
  CommitRequest request;
  request.requirements.Push(AssertTableUuid(metadata.table_uuid));
  request.requirements.Push(AssertRefSnapshotId(kMainBranch, metadata.current_snapshot_id));
  request.updates.Push(AddSnapshotUpdate(snapshot));
  request.updates.Push(SetMainUpdate(id));
  std::vector<SnapshotId> old;
  std::vector<std::string> old_lists;
  for (size_t i = 0; i + kSnapshotsKept <= metadata.snapshots.size(); ++i) {
    old.push_back(metadata.snapshots[i].id);
    old_lists.push_back(metadata.snapshots[i].manifest_list);
  }
  if (!old.empty()) request.updates.Push(RemoveSnapshotsUpdate(old));
  absl::StatusOr<LoadedTable> committed = catalog_->CommitTable(ident_, request);
  if (!committed.ok()) {
    const absl::Status answer = committed.status();
    const absl::Status looked = Load();
    if (!looked.ok())
      return absl::IsNotFound(looked) ? looked : absl::UnknownError(StrCat(Message(answer)));
    const Snapshot* head =
        loaded_->metadata.current_snapshot_id
            ? loaded_->metadata.FindSnapshot(*loaded_->metadata.current_snapshot_id)
            : nullptr;
    if (head != nullptr && head->id == id) return absl::OkStatus();
    if (record_ && record_->generation != record.generation &&
        record_->generation >= record.generation) {
      return absl::AbortedError(StrCat("another process has taken over replication ", ident_.name,
                                       " (generation ", record_->generation, ", ours is ",
                                       record.generation, ")"));
    }
    return absl::IsAborted(answer) ? absl::UnavailableError(StrCat(Message(answer))) : answer;
  }
  loaded_ = *std::move(committed);
  record_ = record;
  // Certainly in, and what was dropped is named by nothing any more.
  for (const std::string& location : old_lists)
    store_->Delete(location).IgnoreError();  // because it is only litter
  return absl::OkStatus();
}

absl::StatusOr<std::optional<ControlRecord>> ReadControlRecord(Catalog& catalog,
                                                               const std::string& replication) {
  absl::StatusOr<LoadedTable> loaded = catalog.LoadTable(Ident(replication));
  if (absl::IsNotFound(loaded.status())) return std::nullopt;
  RETURN_IF_ERROR(loaded.status());
  return RecordOf(loaded->metadata);
}

}  // namespace fjord
