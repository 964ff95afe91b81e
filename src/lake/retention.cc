#include "lake/retention.h"

#include <algorithm>

namespace fjord {

std::vector<SnapshotId> SnapshotsToDrop(const std::vector<RetainedSnapshot>& lineage,
                                        const RetentionPolicy& policy, int64_t now_ms) {
  std::vector<SnapshotId> dropped;
  const size_t least = static_cast<size_t>(std::max<int64_t>(1, policy.at_least));
  const int64_t oldest_ms = now_ms - absl::ToInt64Milliseconds(policy.keep);
  std::vector<RetainedSnapshot> kept;
  for (size_t i = 0; i < lineage.size(); ++i) {
    if (i >= least && lineage[i].timestamp_ms < oldest_ms) {
      dropped.push_back(lineage[i].id);
    } else {
      kept.push_back(lineage[i]);
    }
  }
  // Thinning: while there are too many, the one whose going leaves the smallest hole in time goes.
  // One a commit is the normal case, so the search is linear in `at_most`.
  const size_t most = std::max(least, static_cast<size_t>(std::max<int64_t>(1, policy.at_most)));
  while (kept.size() > most) {
    size_t best = 0;
    int64_t best_hole = INT64_MAX;
    for (size_t i = least; i < kept.size(); ++i) {
      const int64_t newer = kept[i - 1].timestamp_ms;
      const int64_t older = i + 1 < kept.size() ? kept[i + 1].timestamp_ms : oldest_ms;
      if (newer - older < best_hole) {
        best_hole = newer - older;
        best = i;
      }
    }
    if (best == 0) break;
    dropped.push_back(kept[best].id);
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(best));
  }
  return dropped;
}

}  // namespace fjord
