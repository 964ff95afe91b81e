// One Iceberg table that we own: its head, its row index, and the publication of epochs.
//
// An epoch is: BeginEpoch, then any number of parts (Locate, ReadRows, MarkStale, Append, Remove,
// EndPart; each key at most once in Append or Remove of a part), then Publish. Nothing is visible
// to readers before Publish, and an epoch that is given up with DiscardEpoch leaves only files that
// nothing names. Confined to one thread at a time (the table's strand). The lake is the truth:
// after an error of anything but Publish, DiscardEpoch and go on; after one of Publish drop the
// object and Open it again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/column.h"
#include "base/digest.h"
#include "base/ids.h"
#include "catalog/catalog.h"
#include "lake/commit_patience.h"
#include "lake/retention.h"
#include "lake/row_index.h"
#include "lake/watermark.h"

namespace fjord {

class ObjectStore;

struct LakeColumn {
  std::string name;
  ColumnType type;
  bool required = false;
  friend bool operator==(const LakeColumn&, const LakeColumn&) = default;
};

// What the table has to be.
struct LakeTableSpec {
  TableIdent ident;
  std::string display_name;  // of the source, for messages: "public.orders"
  std::vector<LakeColumn> columns;
  std::vector<int> key;  // indexes into `columns`; empty: append-only, no row index
  std::string source;    // fjord.source of its snapshots
  RetentionPolicy retention;
  bool accept_external_writes = false;
};

// What it needs; everything outlives it.
struct LakeEnvironment {
  Catalog* catalog = nullptr;
  ObjectStore* store = nullptr;
  std::string index_folder;  // of this replication, on local disk; a cache
  CommitPatience patience;
};

// A data file that a first copy wrote, not yet part of the table.
struct CopiedFile;
class CopyWriter;

class LakeTable {
 public:
  // Loads the table, or creates it, and brings its row index to the head. kFailedPrecondition: a
  // person must act (another schema, foreign writes); the message says what.
  static absl::StatusOr<std::unique_ptr<LakeTable>> Open(const LakeEnvironment& environment,
                                                         LakeTableSpec spec);
  ~LakeTable();

  // How far the table is; nothing before its base.
  const std::optional<Watermark>& watermark() const;
  const std::string& table_uuid() const;
  const std::array<uint64_t, 2>& key_seed() const;
  // Live rows by the registry (or the summary's totals, for an append-only table).
  int64_t rows() const;

  void BeginEpoch();
  void DiscardEpoch();
  // TRUNCATE: everything before this point of the epoch, staged rows too, is gone.
  void ClearRows();
  // Where the rows of these keys are: staged rows of earlier parts first, then
  // the table's. kNoRow: nowhere.
  absl::StatusOr<std::vector<RowLocation>> Locate(std::span<const Hash128> keys);
  // The values of some columns at these places (present ones, any order, duplicates
  // allowed), in that order.
  absl::StatusOr<ColumnBatch> ReadRows(std::span<const RowLocation> places,
                                       std::span<const int> columns);
  // Stages rows; `keys` empty for an append-only table.
  absl::Status Append(const ColumnBatch& rows, std::span<const Hash128> keys);
  // The rows at these places, which Locate gave in this part, are replaced or removed.
  void MarkStale(std::span<const RowLocation> places);
  // Keys that have no row any more.
  void Remove(std::span<const Hash128> keys);
  // Closes the part's data file; later parts may locate and read its rows.
  absl::Status EndPart();
  // One commit; the table then holds everything up to `watermark`. Without staged work an empty
  // snapshot carries it. After kAborted (the head moved: another engine's commit, or another
  // process with our name) and kUnknown (no clear answer) drop the object and Open it again: the
  // table itself then says how far it is.
  absl::StatusOr<SnapshotId> Publish(const Watermark& watermark);

  // First copy (lake/copy_writer.h): the index is given up and a new one begun. Until PublishBase
  // the table can do nothing else.
  absl::Status BeginBase();
  // Writers work in parallel, one thread each, and are gone before PublishBase.
  std::unique_ptr<CopyWriter> NewCopyWriter() const;
  // The base: one snapshot that replaces whatever the table held by `files`.
  absl::StatusOr<SnapshotId> PublishBase(std::vector<CopiedFile> files, const Watermark& watermark);

  // Syncs and closes the index.
  absl::Status Close();

 private:
  class Impl;
  explicit LakeTable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fjord
