// The row index of a table together with its file registry, kept at the table's head.
//
// Open brings both to a snapshot: as they are, by a redo that a kill left, or by reading the keys
// of the lake. Confined to the table's thread.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "base/strings.h"
#include "columnar/field.h"
#include "lake/file_registry.h"
#include "lake/index_builder.h"
#include "lake/live_files.h"
#include "lake/redo.h"
#include "lake/row_index.h"
#include "lake/watermark.h"

namespace fjord {

struct TableIndexOptions {
  std::string folder;
  std::string table_uuid;
  std::array<uint64_t, 2> seed{};
  std::vector<FileField> key_fields;
  std::string display_name;  // for messages
};

class TableIndex {
 public:
  // At `head` (-1: no snapshot), whose files are `files`. kFailedPrecondition: two rows of one key.
  static absl::StatusOr<std::unique_ptr<TableIndex>> Open(ObjectStore& store,
                                                          TableIndexOptions options,
                                                          const LiveFiles& files,
                                                          const IndexState& head);

  // An index for files that are still being written: FinishBuild makes it the table's when `head`
  // has exactly these. kInternal: it does not fit; Open then reads the keys.
  static absl::StatusOr<std::unique_ptr<IndexBuilder>> StartBuild(const TableIndexOptions& options);
  static absl::StatusOr<std::unique_ptr<TableIndex>> FinishBuild(
      TableIndexOptions options, std::unique_ptr<IndexBuilder> builder, const LiveFiles& files,
      const IndexState& head);

  RowIndex& rows() { return *index_; }
  FileRegistry& files() { return *registry_; }

  // Written before the commit, so that a kill right after it costs a redo, not a rebuild.
  absl::Status WriteRedo(RedoHeader::Base base, const IndexState& child, const RegistryStep& step,
                         absl::FunctionRef<absl::Status(RedoWriter&)> write_changes);
  // The commit is in.
  absl::Status ApplyCommitted();
  void DropRedo();
  absl::Status Close() { return index_->Close(); }

 private:
  TableIndex(TableIndexOptions options) : options_(std::move(options)) {}
  std::string Path(std::string_view suffix) const {
    return StrCat(options_.folder, "/", options_.table_uuid, suffix);
  }
  absl::Status OpenExisting(const LiveFiles& files, const IndexState& head);
  absl::Status Take(std::unique_ptr<IndexBuilder> builder, const LiveFiles& files,
                    const IndexState& head);
  absl::Status Rebuild(ObjectStore& store, const LiveFiles& files, const IndexState& head);

  const TableIndexOptions options_;
  std::unique_ptr<RowIndex> index_;
  std::unique_ptr<FileRegistry> registry_;
};

}  // namespace fjord
