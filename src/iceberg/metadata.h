// Table metadata (Iceberg specification, "Table Metadata Fields"): versions 1
// to 3, read and written.
//
// What we do not interpret is kept as it is and written back. A value; planning code works on
// copies of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "base/json.h"
#include "iceberg/schema.h"
#include "iceberg/summary.h"

namespace fjord {

struct Snapshot {
  SnapshotId id;
  std::optional<SnapshotId> parent_snapshot_id;
  SequenceNumber sequence_number;  // 0 in version 1
  int64_t timestamp_ms = 0;
  std::string manifest_list;
  SnapshotSummary summary;  // with "operation"
  std::optional<SchemaId> schema_id;
  Json other = Json::MakeObject();
  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

struct SnapshotRef {
  SnapshotId snapshot_id;
  std::string type;                 // "branch" or "tag"
  Json other = Json::MakeObject();  // ages
  friend bool operator==(const SnapshotRef&, const SnapshotRef&) = default;
};

struct SnapshotLogEntry {
  SnapshotId snapshot_id;
  int64_t timestamp_ms = 0;
  friend bool operator==(const SnapshotLogEntry&, const SnapshotLogEntry&) = default;
};

struct MetadataLogEntry {
  std::string metadata_file;
  int64_t timestamp_ms = 0;
  friend bool operator==(const MetadataLogEntry&, const MetadataLogEntry&) = default;
};

inline constexpr char kMainBranch[] = "main";

struct TableMetadata {
  int format_version = 2;
  std::string table_uuid;
  std::string location;  // without a slash at the end
  SequenceNumber last_sequence_number;
  int64_t last_updated_ms = 0;
  int32_t last_column_id = 0;
  std::vector<Schema> schemas;
  SchemaId current_schema_id;
  Json partition_specs = Json::MakeArray();
  SpecId default_spec_id;
  int32_t last_partition_id = 999;
  Json sort_orders = Json::MakeArray();
  int32_t default_sort_order_id = 0;
  std::map<std::string, std::string> properties;
  std::optional<SnapshotId> current_snapshot_id;  // -1 and null in the file read as absent
  std::vector<Snapshot> snapshots;
  std::vector<SnapshotLogEntry> snapshot_log;
  std::vector<MetadataLogEntry> metadata_log;
  std::map<std::string, SnapshotRef> refs;  // "main" too
  Json other = Json::MakeObject();          // statistics, next-row-id, …

  const Schema* FindSchema(SchemaId id) const;
  const Schema& CurrentSchema() const;  // precondition: read by us, so it is there
  const Snapshot* FindSnapshot(SnapshotId id) const;
  // True when the default spec has no fields.
  bool IsUnpartitioned() const;

  friend bool operator==(const TableMetadata&, const TableMetadata&) = default;
};

// kInvalidArgument when it is no table metadata; kUnimplemented for versions above 3.
absl::StatusOr<TableMetadata> MetadataFromJson(const Json& json);
Json MetadataToJson(const TableMetadata& metadata);
Json SnapshotToJson(const Snapshot& snapshot);
absl::StatusOr<Snapshot> SnapshotFromJson(const Json& json);

// A random positive id that the table does not have.
SnapshotId NewSnapshotId(const TableMetadata& metadata);

}  // namespace fjord
