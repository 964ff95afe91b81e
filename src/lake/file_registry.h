// The data files that a row index points to: number, path, counts, deleted positions.
//
// Small and in memory; on disk a log of steps beside the index (docs/formats/redo.md, "Registry
// log"), rewritten when it has grown to twice its content. A step is appended before the index
// takes it; the index's snapshot says how far the log counts.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "lake/position_set.h"

namespace fjord {

struct DataFileEntry {
  FileNumber number;  // from FileRegistry::Allocate
  std::string path;
  uint64_t record_count = 0;
  SequenceNumber sequence_number;
  SpecId spec_id;
  std::string partition;  // the partition tuple in the publisher's own encoding
  bool live = true;       // false: left the table, entries of the index may still point to it
  PositionSet deleted;

  uint64_t live_records() const { return live ? record_count - deleted.Cardinality() : 0; }
  friend bool operator==(const DataFileEntry&, const DataFileEntry&) = default;
};

// Rows of one file that a step deletes.
struct PositionsDeleted {
  FileNumber file;
  PositionSet positions;  // joined to those deleted before
};

// What one step changes. Idempotent. Applied in the order of the members.
struct RegistryStep {
  enum class Base : uint8_t {
    kKeep,   // change what is there
    kClear,  // forget all files first (TRUNCATE, rebuild)
  };
  Base base = Base::kKeep;
  std::vector<DataFileEntry> added;
  std::vector<PositionsDeleted> deleted;
  std::vector<FileNumber> removed;    // no longer live
  std::vector<FileNumber> forgotten;  // no entry of the index points to it any more
};

std::string EncodeRegistryStep(const RegistryStep& step);
absl::StatusOr<RegistryStep> DecodeRegistryStep(std::string_view bytes);

// Confined to one thread. After an error of Append the object holds what it held before; the log is
// repaired by the next Append or Open.
class FileRegistry {
 public:
  // A new, empty registry that belongs to `snapshot`, in place of whatever is at `path`.
  static absl::StatusOr<std::unique_ptr<FileRegistry>> Create(const std::string& path,
                                                              SnapshotId snapshot);
  // As of `snapshot` (the index's); a step after it, of a publication that was killed, is cut
  // off. kNotFound: no file. kDataLoss: damaged, or does not reach `snapshot`: rebuild
  // together with the index.
  static absl::StatusOr<std::unique_ptr<FileRegistry>> Open(const std::string& path,
                                                            SnapshotId snapshot);
  ~FileRegistry();
  FileRegistry(const FileRegistry&) = delete;
  FileRegistry& operator=(const FileRegistry&) = delete;

  // A number that no file of this table has had. Lost when no step with it is appended.
  FileNumber Allocate();

  // Precondition: the index is at snapshot(). kInvalidArgument when the step names a file that is
  // not there. Not synced.
  absl::Status Append(SnapshotId child, const RegistryStep& step);
  absl::Status Sync();

  const DataFileEntry* Find(FileNumber number) const;
  // A live file by path.
  const DataFileEntry* FindPath(std::string_view path) const;
  const std::map<FileNumber, DataFileEntry>& files() const { return files_; }
  SnapshotId snapshot() const { return snapshot_; }
  uint64_t live_records() const;

 private:
  FileRegistry(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  static absl::StatusOr<std::unique_ptr<FileRegistry>> OpenLog(const std::string& path, int flags);

  absl::Status CheckStep(const RegistryStep& step) const;
  void ApplyInMemory(SnapshotId child, const RegistryStep& step);
  absl::Status Load(std::string_view log, SnapshotId snapshot);
  absl::Status LoadRecord(std::string_view payload);
  absl::Status Rewrite();
  RegistryStep Whole() const;
  std::string EncodeRecord(SnapshotId snapshot, const RegistryStep& step) const;

  std::string path_;
  int fd_;
  uint64_t log_bytes_ = 0;    // end of the last good record
  uint64_t whole_bytes_ = 0;  // size of the log just after it was rewritten
  SnapshotId snapshot_{-1};
  uint32_t next_number_ = 1;
  std::map<FileNumber, DataFileEntry> files_;
  std::map<std::string, FileNumber, std::less<>> live_paths_;
};

}  // namespace fjord
