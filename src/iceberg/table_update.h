// Requirements and updates of a commit (Iceberg REST specification, "CommitTableRequest").
//
// Both are kept in their JSON form: that is what travels to a REST catalog, and what the embedded
// one applies. Pure.
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
#include "iceberg/metadata.h"

namespace fjord {

struct CommitRequest {
  Json requirements = Json::MakeArray();
  Json updates = Json::MakeArray();
};

// Requirements.
Json AssertCreate();
Json AssertTableUuid(std::string_view uuid);
// Nothing: the branch must not exist.
Json AssertRefSnapshotId(std::string_view ref, std::optional<SnapshotId> snapshot);
Json AssertCurrentSchemaId(SchemaId schema);

// Updates.
Json AddSnapshotUpdate(const Snapshot& snapshot);
Json SetMainUpdate(SnapshotId snapshot);
Json SetPropertiesUpdate(const std::map<std::string, std::string>& properties);
Json RemoveSnapshotsUpdate(const std::vector<SnapshotId>& snapshots);

// kAborted names the requirement that does not hold; kInvalidArgument: of no known type; kNotFound:
// a requirement on a table that does not exist. `table` null: it does not exist.
absl::Status CheckRequirements(const Json& requirements, const TableMetadata* table);

// The metadata after the updates. `now_ms` becomes last-updated-ms, but never goes back.
// kInvalidArgument names an update that is unknown or cannot be applied; kAborted: the table has
// moved on (sequence number, first row id, a branch or tag on a snapshot that is removed).
absl::StatusOr<TableMetadata> ApplyUpdates(const TableMetadata& base, const Json& updates,
                                           int64_t now_ms);

// What a new table is made of.
struct NewTable {
  Json schema;  // ids are assigned anew
  std::string location;
  Json partition_spec;  // null: unpartitioned; source ids are those of `schema`
  Json sort_order;      // null: unsorted; source ids are those of `schema`
  std::map<std::string, std::string> properties;  // "format-version" among them is taken out
};
absl::StatusOr<TableMetadata> MakeTable(const NewTable& table, int64_t now_ms);

// The table that a commit with assert-create makes. `location` holds unless an update sets another.
absl::StatusOr<TableMetadata> MakeTableFromUpdates(const Json& updates, std::string location,
                                                   int64_t now_ms);

}  // namespace fjord
