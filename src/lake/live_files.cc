#include "lake/live_files.h"

#include "absl/numeric/int128.h"
#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"
#include "columnar/parquet_reader.h"
#include "io/object_store.h"
#include "lake/head.h"

namespace fjord {
namespace {

// Delete files apply to data files that are not newer (specification, "Scan Planning").
void ApplyDeletes(const PositionsByPath& positions, SequenceNumber sequence, LiveFiles& files,
                  PositionsByPath& applied) {
  for (const auto& [path, rows] : positions) {
    const auto it = files.data.find(path);
    if (it == files.data.end() || it->second.sequence_number > sequence) continue;
    it->second.deleted.AddMany(rows);
    applied[path] = rows;
  }
}

// The rows that a snapshot has and another lacks, as an order-free fingerprint.
struct Fingerprint {
  absl::uint128 sum = 0;
  int64_t rows = 0;
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

// Null and empty differ: presence goes in before the value.
void AppendRow(const ColumnBatch& batch, size_t row, std::string& out) {
  for (size_t i = 0; i < batch.columns.size(); ++i) {
    out.push_back(static_cast<char>(batch.columns[i].valid[row]));
    if (batch.columns[i].valid[row] != 0) AppendKeyBytes(batch, row, {static_cast<int>(i)}, out);
  }
}

absl::Status AddRows(ObjectStore& store, const std::string& path,
                     const std::vector<FileField>& fields, const PositionSet& skip,
                     Fingerprint& print) {
  // One process compares with itself, so the seed may be anything that strangers do not know.
  static const std::array<uint64_t, 2> seed = {RandomU64(), RandomU64()};
  std::string bytes;
  return VisitLiveRows(
      store, path, fields, skip,
      [&](const ColumnBatch& batch, uint64_t, const std::vector<uint32_t>& rows) -> absl::Status {
        for (const uint32_t row : rows) {
          bytes.clear();
          AppendRow(batch, row, bytes);
          const Hash128 hash = SipHash128(seed, bytes);
          print.sum += absl::MakeUint128(hash.high, hash.low);
          ++print.rows;
        }
        return absl::OkStatus();
      });
}

absl::StatusOr<LiveFiles> FilesOf(ObjectStore& store, const TableMetadata& metadata,
                                  SnapshotId snapshot) {
  ASSIGN_OR_RETURN(const std::vector<LiveManifest> manifests,
                   ReadLiveManifests(store, metadata, snapshot));
  return ReadLiveFiles(store, manifests);
}

absl::Status CheckForeign(ObjectStore& store, const TableMetadata& metadata,
                          const std::vector<FileField>& fields, const Snapshot& snapshot) {
  const std::string name = StrCat("snapshot ", snapshot.id.value, " of ", metadata.location,
                                  ", which another engine committed");
  if (!snapshot.parent_snapshot_id ||
      metadata.FindSnapshot(*snapshot.parent_snapshot_id) == nullptr) {
    return absl::FailedPreconditionError(
        StrCat(name,
               ", cannot be judged: what it stands on was expired. Drop the table to "
               "have it copied again."));
  }
  ASSIGN_OR_RETURN(const LiveFiles before, FilesOf(store, metadata, *snapshot.parent_snapshot_id));
  ASSIGN_OR_RETURN(const LiveFiles after, FilesOf(store, metadata, snapshot.id));
  Fingerprint gone;
  Fingerprint come;
  for (const auto& [path, file] : before.data) {
    const auto it = after.data.find(path);
    // A file whose deletes changed counts whole on both sides.
    if (it != after.data.end() && it->second.deleted == file.deleted) continue;
    RETURN_IF_ERROR(AddRows(store, path, fields, file.deleted, gone));
  }
  for (const auto& [path, file] : after.data) {
    const auto it = before.data.find(path);
    if (it != before.data.end() && it->second.deleted == file.deleted) continue;
    RETURN_IF_ERROR(AddRows(store, path, fields, file.deleted, come));
  }
  if (gone == come) return absl::OkStatus();
  return absl::FailedPreconditionError(
      StrCat(name, ", changed rows (", gone.rows, " went, ", come.rows,
             " came). This table is kept by fjord alone: roll it back "
             "or drop it to have it copied again, or set externalWrites: accept."));
}

}  // namespace

absl::StatusOr<LiveFiles> ReadLiveFiles(ObjectStore& store,
                                        const std::vector<LiveManifest>& manifests) {
  LiveFiles files;
  for (const LiveManifest& manifest : manifests) {
    if (manifest.file.content != ManifestContent::kData) continue;
    for (const ManifestEntry& entry : manifest.entries) {
      files.data[entry.file.file_path] = {
          entry.file, entry.sequence_number.value_or(SequenceNumber(0)), {}};
    }
  }
  for (const LiveManifest& manifest : manifests) {
    if (manifest.file.content != ManifestContent::kDeletes) continue;
    for (const ManifestEntry& entry : manifest.entries) {
      const std::string& path = entry.file.file_path;
      if (entry.file.content != FileContent::kPositionDeletes ||
          entry.file.file_format == "PUFFIN") {
        return absl::FailedPreconditionError(StrCat(
            "delete file ", path,
            " of another engine is of a kind that is not supported yet. Rewrite the table's data "
            "files with that engine, or drop the table to have it copied again."));
      }
      ASSIGN_OR_RETURN(std::unique_ptr<ReadableObject> object, store.Open(path));
      absl::StatusOr<PositionsByPath> positions = ReadPositionDeletes(std::move(object));
      if (!positions.ok()) return Annotate(positions.status(), path);
      ApplyDeletes(*positions, entry.sequence_number.value_or(SequenceNumber(0)), files,
                   files.delete_files[path]);
    }
  }
  return files;
}

absl::Status VisitLiveRows(
    ObjectStore& store, const std::string& path, const std::vector<FileField>& fields,
    const PositionSet& skip,
    absl::FunctionRef<absl::Status(const ColumnBatch&, uint64_t, const std::vector<uint32_t>&)>
        visit) {
  ASSIGN_OR_RETURN(std::unique_ptr<ReadableObject> object, store.Open(path));
  absl::StatusOr<std::unique_ptr<ParquetReader>> reader = ParquetReader::Open(std::move(object));
  if (!reader.ok()) return Annotate(reader.status(), path);
  const bool whole = skip.empty();
  std::vector<uint32_t> rows;
  const absl::Status status = (*reader)->ReadColumns(
      fields, [&](const ColumnBatch& batch, uint64_t first_row) -> absl::Status {
        rows.clear();
        for (uint32_t i = 0; i < batch.rows(); ++i) {
          if (whole || !skip.Contains(RowPosition(static_cast<uint32_t>(first_row) + i)))
            rows.push_back(i);
        }
        return visit(batch, first_row, rows);
      });
  return Annotate(status, path);
}

absl::Status CheckForeignSnapshots(ObjectStore& store, const TableMetadata& metadata,
                                   const std::vector<FileField>& fields,
                                   const std::vector<SnapshotId>& snapshots) {
  for (const SnapshotId id : snapshots) {
    const Snapshot* snapshot = metadata.FindSnapshot(id);
    if (snapshot != nullptr) RETURN_IF_ERROR(CheckForeign(store, metadata, fields, *snapshot));
  }
  return absl::OkStatus();
}

}  // namespace fjord
