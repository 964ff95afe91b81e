#include "lake/delete_plan.h"

#include <algorithm>

namespace fjord {
namespace {

uint64_t Count(const PositionsByFile& positions) {
  uint64_t count = 0;
  for (const auto& [file, set] : positions) count += set.Cardinality();
  return count;
}

// The live delete files by what becomes of them.
class Planner {
 public:
  Planner(const std::vector<LiveDeleteFile>& live, const absl::flat_hash_set<FileNumber>& dropped,
          const DeletePlanLimits& limits)
      : live_(live), dropped_(dropped), limits_(limits), removed_(live.size(), false) {
    for (size_t i = 0; i < live.size(); ++i) {
      const bool idle = std::all_of(live[i].positions.begin(), live[i].positions.end(),
                                    [&](const auto& item) { return dropped.contains(item.first); });
      if (idle) removed_[i] = true;
      if (live[i].scoped() && !idle) scoped_.emplace(live[i].positions.begin()->first, i);
    }
  }

  DeletePlan Plan(const PositionsByFile& fresh) {
    PositionsByFile loose;
    for (const auto& [file, positions] : fresh) {
      if (fresh.size() <= limits_.scoped_files_max && MayRewrite(file, positions.Cardinality())) {
        plan_.written.push_back(Rewritten(file, positions));
      } else {
        loose.emplace(file, positions);
      }
    }
    if (!loose.empty()) {
      MergeLoose(loose);
      plan_.written.push_back(std::move(loose));
    }
    for (size_t i = 0; i < live_.size(); ++i) {
      if (removed_[i]) plan_.removed.push_back(live_[i].path);
    }
    return std::move(plan_);
  }

 private:
  uint64_t OldCount(FileNumber file) const {
    uint64_t count = 0;
    for (auto [it, end] = scoped_.equal_range(file); it != end; ++it)
      count += Count(live_[it->second].positions);
    return count;
  }

  bool MayRewrite(FileNumber file, uint64_t fresh) const {
    const uint64_t old = OldCount(file);
    return old <= limits_.rewrite_free_positions || old <= fresh * limits_.rewrite_factor_max;
  }

  PositionsByFile Rewritten(FileNumber file, const PositionSet& fresh) {
    PositionSet all = fresh;
    for (auto [it, end] = scoped_.equal_range(file); it != end; ++it) {
      all.Union(live_[it->second].positions.begin()->second);
      removed_[it->second] = true;
    }
    PositionsByFile written;
    written.emplace(file, std::move(all));
    return written;
  }

  // Takes in loose files, and scoped ones of the same data files, smallest first, that are not
  // larger than what has been gathered. Scoped files of other data files stay scoped.
  void MergeLoose(PositionsByFile& loose) {
    std::vector<std::pair<uint64_t, size_t>> candidates;
    for (size_t i = 0; i < live_.size(); ++i) {
      if (removed_[i]) continue;
      if (live_[i].scoped() && !loose.contains(live_[i].positions.begin()->first)) continue;
      candidates.emplace_back(Count(live_[i].positions), i);
    }
    std::sort(candidates.begin(), candidates.end());
    uint64_t gathered = Count(loose);
    for (const auto& [count, index] : candidates) {
      if (count > gathered) return;
      gathered += count;
      removed_[index] = true;
      for (const auto& [file, positions] : live_[index].positions) {
        if (!dropped_.contains(file)) loose[file].Union(positions);
      }
    }
  }

  const std::vector<LiveDeleteFile>& live_;
  const absl::flat_hash_set<FileNumber>& dropped_;
  const DeletePlanLimits& limits_;
  std::vector<bool> removed_;
  std::multimap<FileNumber, size_t> scoped_;
  DeletePlan plan_;
};

}  // namespace

DeletePlan PlanDeletes(const std::vector<LiveDeleteFile>& live, const PositionsByFile& fresh,
                       const absl::flat_hash_set<FileNumber>& dropped,
                       const DeletePlanLimits& limits) {
  return Planner(live, dropped, limits).Plan(fresh);
}

}  // namespace fjord
