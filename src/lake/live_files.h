// The data files of a snapshot and which of their rows are deleted, read from its
// manifests and delete files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "base/column.h"
#include "columnar/field.h"
#include "columnar/position_delete_file.h"
#include "iceberg/metadata.h"
#include "lake/position_set.h"
#include "lake/snapshot_plan.h"

namespace fjord {

class ObjectStore;

struct LiveDataFile {
  DataFile file;
  SequenceNumber sequence_number;
  PositionSet deleted;
  int64_t live_rows() const {
    return file.record_count - static_cast<int64_t>(deleted.Cardinality());
  }
};

struct LiveFiles {
  std::map<std::string, LiveDataFile> data;  // by path
  // By path of the delete file; only positions of live data files.
  std::map<std::string, PositionsByPath> delete_files;
};

// kFailedPrecondition: equality deletes or deletion vectors, which others wrote
// and we do not take (yet).
absl::StatusOr<LiveFiles> ReadLiveFiles(ObjectStore& store,
                                        const std::vector<LiveManifest>& manifests);

// Visits the rows of a data file that `skip` does not name, in batches; `rows` are the
// indexes into the batch.
absl::Status VisitLiveRows(
    ObjectStore& store, const std::string& path, const std::vector<FileField>& fields,
    const PositionSet& skip,
    absl::FunctionRef<absl::Status(const ColumnBatch& batch, uint64_t first_row,
                                   const std::vector<uint32_t>& rows)>
        visit);

// Are snapshots that others committed physical: the same rows in other files? Compares the multiset
// of full-row hashes of what each removed and added. kFailedPrecondition names the first one that
// is not, or cannot be judged.
absl::Status CheckForeignSnapshots(ObjectStore& store, const TableMetadata& metadata,
                                   const std::vector<FileField>& fields,
                                   const std::vector<SnapshotId>& snapshots);

}  // namespace fjord
