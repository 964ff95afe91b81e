// One step (publication) of a table's index as a file, so that a kill leaves either the old state
// or a redo that leads to the new one (docs/formats/redo.md).
//
//   RedoWriter … Finish()  ->  catalog commit  ->  ApplyRedo()  ->  RemoveRedo()
//
// After a start: ReadRedoHeader. `child` == the index's snapshot: applied, remove it. `parent` ==
// the index's snapshot and the child is in the ancestry of the table's head: ApplyRedo. Not
// committed: remove it. Anything else: rebuild.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lake/file_registry.h"
#include "lake/row_index.h"

namespace fjord {

struct RedoHeader {
  enum class Base : uint8_t {
    kKeep,   // changes apply to what is there
    kClear,  // the index is emptied first (TRUNCATE)
  };
  std::string table_uuid;
  SnapshotId parent;
  IndexState child;  // what the index belongs to afterwards
  Base base = Base::kKeep;

  friend bool operator==(const RedoHeader&, const RedoHeader&) = default;
};

// Writes `path`.tmp and gives it its name in Finish, so a file under `path` is always complete.
// Nothing is synced. Confined to one thread. After an error, or without Finish, the destructor
// removes what was written.
class RedoWriter {
 public:
  static absl::StatusOr<std::unique_ptr<RedoWriter>> Create(const std::string& path,
                                                            const RedoHeader& header);
  ~RedoWriter();
  RedoWriter(const RedoWriter&) = delete;
  RedoWriter& operator=(const RedoWriter&) = delete;

  // Exactly once, before the changes.
  absl::Status AddFiles(const RegistryStep& step);
  // Any number of times; of changes of one key the last wins.
  absl::Status AddChanges(std::span<const IndexChange> changes);
  absl::Status Finish();

 private:
  RedoWriter(std::string path, std::FILE* out) : path_(std::move(path)), out_(out) {}
  absl::Status WriteRecord(std::string_view payload);

  std::string path_;
  std::FILE* out_;
  std::string record_;
  uint64_t changes_ = 0;
};

// kNotFound: no file. kDataLoss: damaged.
absl::StatusOr<RedoHeader> ReadRedoHeader(const std::string& path);

enum class RedoOutcome { kApplied, kWasApplied };
// Precondition: the child is committed. kFailedPrecondition when index or registry are at neither
// parent nor child, or of another table. After kResourceExhausted (disk full) the index is
// interrupted: call again when there is space, or rebuild.
absl::StatusOr<RedoOutcome> ApplyRedo(const std::string& path, RowIndex& index,
                                      FileRegistry& registry);

// No error when there is none.
absl::Status RemoveRedo(const std::string& path);

}  // namespace fjord
