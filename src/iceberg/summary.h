// The summary of a snapshot: what it added and removed, and the totals after it (Iceberg
// specification, "Optional Snapshot Summary Fields").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "iceberg/data_file.h"

namespace fjord {

// Ordered, so that what we write is the same bytes each time.
using SnapshotSummary = std::map<std::string, std::string>;

enum class SnapshotOperation { kAppend, kDelete, kOverwrite, kReplace };
// "append", "delete", "overwrite", "replace".
const char* OperationName(SnapshotOperation operation);

// Counts the files that one snapshot adds and removes. A plain value.
class SummaryDelta {
 public:
  void Add(const DataFile& file);
  void Remove(const DataFile& file);

  // kAppend when only data files were added, or nothing changed; kDelete when only delete files
  // were added or data files removed; else kOverwrite. (kReplace is for the caller who knows that
  // the rows are the same.)
  SnapshotOperation Operation() const;

 private:
  struct Side {
    int64_t data_files = 0;
    int64_t delete_files = 0;
    int64_t position_delete_files = 0;
    int64_t equality_delete_files = 0;
    int64_t deletion_vectors = 0;
    int64_t records = 0;
    int64_t files_size = 0;
    int64_t position_deletes = 0;
    int64_t equality_deletes = 0;

    void Count(const DataFile& file);
  };
  friend SnapshotSummary BuildSummary(SnapshotOperation operation, const SummaryDelta& delta,
                                      const SnapshotSummary* parent, SnapshotSummary extra);

  Side added_;
  Side removed_;
  std::set<std::vector<std::optional<std::string>>> partitions_;
};

// The whole summary with "operation". Only deltas that are not zero are written. A total is the
// parent's plus the delta; when `parent` lacks it, or it is no number, the total is left out.
// `parent` null: the first snapshot, totals start at 0. `extra` is added as it is.
SnapshotSummary BuildSummary(SnapshotOperation operation, const SummaryDelta& delta,
                             const SnapshotSummary* parent, SnapshotSummary extra);

}  // namespace fjord
