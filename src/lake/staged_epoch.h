// The staged, uncommitted work of one epoch: new data files, and what happens to each key.
//
// An epoch has parts. The keys of the newest part are in a vector; when a second part begins they
// move to a scratch map of the row index's kind, in a nameless file, so that a huge transaction
// does not need memory by its rows. Confined to the table's thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/digest.h"
#include "iceberg/data_file.h"
#include "lake/position_set.h"
#include "lake/row_index.h"

namespace fjord {

// A data file that this epoch wrote.
struct StagedFile {
  FileNumber number;
  DataFile file;
  PositionSet deleted;  // rows that a later part of the same epoch removed again
};

// The location of a key that the epoch removed. No data file has this number.
inline constexpr RowLocation kRemovedRow{FileNumber(UINT32_MAX), RowPosition(0)};

class StagedEpoch {
 public:
  // `folder`: for the scratch map.
  StagedEpoch(std::string folder, std::array<uint64_t, 2> seed)
      : folder_(std::move(folder)), seed_(seed) {}

  // What the epoch says about keys: a location, kRemovedRow, or kNoRow when it says nothing.
  absl::Status Find(std::span<const Hash128> keys, std::span<RowLocation> out);

  // The final word of this part about a key; once a part and key.
  void Put(const Hash128& key, RowLocation location) { part_.push_back({key, location}); }
  void Remove(const Hash128& key) { part_.push_back({key, kRemovedRow}); }
  // The row at a place that Find gave is no longer the key's. Places of the table need no word:
  // publication locates them.
  void MarkStale(RowLocation place);
  void EndPart() { part_ended_ = true; }
  // No part comes any more.
  absl::Status Finish();
  void AddFile(StagedFile file) { files_.push_back(std::move(file)); }
  // TRUNCATE: forgets everything; the staged files are given back, to be deleted.
  std::vector<StagedFile> Clear();

  bool cleared() const { return cleared_; }
  const std::vector<StagedFile>& files() const { return files_; }
  const StagedFile* FindFile(FileNumber number) const;
  // Each key once, with its final location or kRemovedRow, in batches. Stops at an error.
  absl::Status ForEach(absl::FunctionRef<absl::Status(std::span<const IndexChange>)> visit) const;

 private:
  absl::Status MoveToScratch();

  const std::string folder_;
  const std::array<uint64_t, 2> seed_;
  std::vector<IndexChange> part_;  // of the newest part, each key once
  bool part_ended_ = false;
  std::unique_ptr<RowIndex> scratch_;  // of the parts before
  std::vector<StagedFile> files_;
  bool cleared_ = false;
};

}  // namespace fjord
