// Manifest lists: the Avro file that names the manifests of one snapshot
// (Iceberg specification, "Manifest Lists").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/ids.h"

namespace fjord {

enum class ManifestContent : int32_t { kData = 0, kDeletes = 1 };

// A manifest that is made by a commit has no sequence number before the catalog accepts the
// commit. In memory it has this one; EncodeManifestList replaces it with the commit's. It
// never gets into a file.
inline constexpr SequenceNumber kUnassignedSequenceNumber{-1};

// What the values of one partition field span over the files of a manifest (record r508).
struct FieldSummary {
  bool contains_null = false;
  std::optional<bool> contains_nan;
  std::optional<std::string> lower_bound;  // single-value bytes of the partition's result type
  std::optional<std::string> upper_bound;

  friend bool operator==(const FieldSummary&, const FieldSummary&) = default;
};

// One row of a manifest list (field ids 500 … 520).
struct ManifestFile {
  std::string manifest_path;
  int64_t manifest_length = 0;
  SpecId partition_spec_id;
  ManifestContent content = ManifestContent::kData;
  SequenceNumber sequence_number = kUnassignedSequenceNumber;
  // The least data sequence number of live entries.
  SequenceNumber min_sequence_number = kUnassignedSequenceNumber;
  SnapshotId added_snapshot_id;
  int32_t added_files_count = 0;
  int32_t existing_files_count = 0;
  int32_t deleted_files_count = 0;
  int64_t added_rows_count = 0;
  int64_t existing_rows_count = 0;
  int64_t deleted_rows_count = 0;
  std::vector<FieldSummary> partitions;  // one a field of the spec
  std::optional<std::string> key_metadata;
  std::optional<int64_t> first_row_id;  // format version 3

  bool HasLiveFiles() const { return added_files_count > 0 || existing_files_count > 0; }

  friend bool operator==(const ManifestFile&, const ManifestFile&) = default;
};

struct ManifestListContext {
  SnapshotId snapshot_id;
  std::optional<SnapshotId> parent_snapshot_id;
  SequenceNumber sequence_number;  // of the commit
  int format_version = 2;          // only 2 is written
};

// The bytes of the file. Manifests with an unassigned sequence number get the commit's; that is
// kInvalidArgument when another snapshot added them. An empty list is valid.
absl::StatusOr<std::string> EncodeManifestList(const ManifestListContext& context,
                                               absl::Span<const ManifestFile> manifests);

// Lists of format versions 1, 2 and 3, by any writer. Version 1 has no
// sequence numbers: they are 0.
absl::StatusOr<std::vector<ManifestFile>> DecodeManifestList(std::string_view bytes);

}  // namespace fjord
