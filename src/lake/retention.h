// Which snapshots a table keeps. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "base/ids.h"

namespace fjord {

struct RetentionPolicy {
  absl::Duration keep = absl::Hours(1);
  int64_t at_least = 20;
  int64_t at_most = 200;
};

struct RetainedSnapshot {
  SnapshotId id;
  int64_t timestamp_ms = 0;
};

// The snapshots to drop. `lineage`: the ancestry of main, newest first; its head always stays, and
// the newest `at_least`. Older than `keep` goes; beyond `at_most` the ones that stay are spread
// evenly over `keep`.
std::vector<SnapshotId> SnapshotsToDrop(const std::vector<RetainedSnapshot>& lineage,
                                        const RetentionPolicy& policy, int64_t now_ms);

}  // namespace fjord
