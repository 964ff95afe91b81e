// Manifests: the Avro file that lists data files, or delete files, of one partition
// spec (Iceberg specification, "Manifests").
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/ids.h"
#include "iceberg/data_file.h"
#include "iceberg/manifest_list.h"

namespace fjord {

enum class EntryStatus : int32_t { kExisting = 0, kAdded = 1, kDeleted = 2 };

struct ManifestEntry {
  EntryStatus status = EntryStatus::kAdded;
  // The snapshot that added the file or, for kDeleted, that deleted it. Absent (kAdded only): the
  // one that makes the manifest.
  std::optional<SnapshotId> snapshot_id;
  // Data sequence number and file sequence number. Absent (kAdded only): the
  // manifest's, once that is known.
  std::optional<SequenceNumber> sequence_number;
  std::optional<SequenceNumber> file_sequence_number;
  DataFile file;

  friend bool operator==(const ManifestEntry&, const ManifestEntry&) = default;
};

// What a manifest says about its table, apart from the entries.
struct ManifestContext {
  SnapshotId snapshot_id;   // of the commit that makes this manifest
  std::string schema_json;  // the table's schema with its "schema-id"
  SchemaId schema_id;
  std::string partition_spec_json = "[]";  // the array of the spec's fields, not the spec
  SpecId partition_spec_id;
  ManifestContent content = ManifestContent::kData;
  int format_version = 2;  // only 2 is written
};

struct EncodedManifest {
  std::string bytes;
  // The row for the manifest list, complete but for manifest_path, which the caller sets. Its
  // sequence numbers are unassigned where the entries inherit them.
  ManifestFile file;
};

// The bytes of a manifest. The result does not depend on the commit attempt and is used again by
// every retry. kInvalidArgument, with the file's path, for entries that readers would refuse:
// kExisting or kDeleted without sequence numbers, a file of the other content kind, negative sizes,
// a partitioned spec (not yet).
absl::StatusOr<EncodedManifest> EncodeManifest(const ManifestContext& context,
                                               absl::Span<const ManifestEntry> entries);

// Manifests of format versions 1, 2 and 3, by any writer, with what the entries inherit from
// `manifest` filled in: every entry has its snapshot id and both sequence numbers, if the manifest
// itself has them. kDataLoss when the bytes are wrong.
absl::StatusOr<std::vector<ManifestEntry>> DecodeManifest(std::string_view bytes,
                                                          const ManifestFile& manifest);

}  // namespace fjord
