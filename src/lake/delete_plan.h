// Which delete files the next snapshot has (format version 2). Pure.
//
// A delete file is *scoped* when all its positions are of one data file; other engines' rewrites
// accept only those. While an epoch touches few data files each gets one scoped file, old positions
// and new ones together, in place of the one before. When it touches many, or old positions
// outweigh new ones by far, the new positions go into one *loose* file over several data files;
// loose files merge like a binary counter, so there is a handful of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/ids.h"
#include "lake/position_set.h"

namespace fjord {

using PositionsByFile = std::map<FileNumber, PositionSet>;

// A live delete file of the head.
struct LiveDeleteFile {
  std::string path;
  PositionsByFile positions;
  bool scoped() const { return positions.size() == 1; }
};

struct DeletePlanLimits {
  size_t scoped_files_max = 8;       // touched data files beyond which new positions go loose
  uint64_t rewrite_factor_max = 32;  // old positions per new one that a scoped rewrite may carry …
  uint64_t rewrite_free_positions = 100'000;  // … beyond this many that are always carried
};

struct DeletePlan {
  std::vector<PositionsByFile> written;  // one delete file each
  // Paths of delete files that are replaced or have nothing left to delete.
  std::vector<std::string> removed;
};

// `fresh`: positions that this epoch deletes; none in a file of `dropped`. `dropped`: data files
// that leave the table.
DeletePlan PlanDeletes(const std::vector<LiveDeleteFile>& live, const PositionsByFile& fresh,
                       const absl::flat_hash_set<FileNumber>& dropped,
                       const DeletePlanLimits& limits);

}  // namespace fjord
