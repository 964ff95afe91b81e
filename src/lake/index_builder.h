// Builds the row index of a table from nothing: while a first copy writes its files, or by reading
// the keys of the files that are there.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "base/column.h"
#include "columnar/field.h"
#include "lake/file_registry.h"
#include "lake/live_files.h"
#include "lake/row_index.h"

namespace fjord {

struct IndexIdentity {
  std::string path;  // of the index; its registry lies beside it
  std::string registry_path;
  std::string table_uuid;
  std::array<uint64_t, 2> seed{};
  std::string display_name;  // of the table, for messages
};

struct BuiltIndex {
  std::unique_ptr<RowIndex> index;
  std::unique_ptr<FileRegistry> registry;
};

// Files are indexed side by side (IndexedFile); one thread at a time changes the index.
class IndexBuilder {
 public:
  // Replaces what is at the paths. Until Finish an index that is opened there asks for a rebuild.
  static absl::StatusOr<std::unique_ptr<IndexBuilder>> Create(IndexIdentity identity);

  // The index at `head`, if it holds each live row of `files` and nothing else; kInternal if not.
  // Precondition: no IndexedFile is left.
  absl::StatusOr<BuiltIndex> Finish(const LiveFiles& files, const IndexState& head) &&;

 private:
  friend class IndexedFile;
  explicit IndexBuilder(IndexIdentity identity) : identity_(std::move(identity)) {}
  FileNumber Begin(const std::string& path);
  void GiveUp(const std::string& path, FileNumber number);
  absl::Status Apply(const std::string& path, std::span<const IndexChange> changes);

  const IndexIdentity identity_;
  std::mutex mutex_;  // guards the rest
  std::unique_ptr<RowIndex> index_;
  std::unique_ptr<FileRegistry> registry_;
  std::map<std::string, FileNumber> numbers_;  // by path
  absl::flat_hash_set<FileNumber> given_up_;
  std::vector<RowLocation> previous_;  // of the changes that are being applied
};

// The rows of one data file on their way into the index. Confined to one thread. Without Finish its
// rows may be indexed again in another file.
class IndexedFile {
 public:
  // `key`: the key's columns among those of the batches.
  IndexedFile(IndexBuilder& builder, std::string path, std::vector<int> key);
  ~IndexedFile();
  IndexedFile(const IndexedFile&) = delete;
  IndexedFile& operator=(const IndexedFile&) = delete;

  // A row of a batch, and where in the file it is. kFailedPrecondition: two rows of one key.
  absl::Status Add(const ColumnBatch& batch, size_t row, RowPosition position);
  absl::Status Finish();

 private:
  IndexBuilder& builder_;
  const std::string path_;
  const std::vector<int> key_;
  const FileNumber number_;
  std::vector<IndexChange> changes_;
  std::string bytes_;  // of one key
  bool finished_ = false;
};

}  // namespace fjord
