#include "lake/lake_table.h"

#include <algorithm>
#include <map>

#include "absl/time/clock.h"
#include "base/digest.h"
#include "base/kill_point.h"
#include "base/log.h"
#include "base/status.h"
#include "base/strings.h"
#include "columnar/parquet_reader.h"
#include "io/object_store.h"
#include "lake/copy_writer.h"
#include "lake/delete_plan.h"
#include "lake/head.h"
#include "lake/live_files.h"
#include "lake/publisher.h"
#include "lake/staged_epoch.h"
#include "lake/table_fields.h"
#include "lake/table_index.h"

namespace fjord {

class LakeTable::Impl {
 public:
  Impl(const LakeEnvironment& environment, LakeTableSpec spec)
      : env_(environment), spec_(std::move(spec)) {}

  absl::Status Open();

  void ClearRows();
  absl::StatusOr<std::vector<RowLocation>> Locate(std::span<const Hash128> keys);
  absl::StatusOr<ColumnBatch> ReadRows(std::span<const RowLocation> places,
                                       std::span<const int> columns);
  absl::Status Append(const ColumnBatch& rows, std::span<const Hash128> keys);
  absl::Status EndPart();
  absl::StatusOr<SnapshotId> Publish(const Watermark& watermark);
  absl::Status BeginBase();
  std::unique_ptr<CopyWriter> NewCopyWriter() const;
  absl::StatusOr<SnapshotId> PublishBase(std::vector<CopiedFile> files, const Watermark& watermark);

  void BeginEpoch() {
    DiscardEpoch();
    epoch_ = std::make_unique<StagedEpoch>(env_.index_folder, fields_.seed);
  }
  // Files that were staged are named by nothing and go; what cannot be deleted is litter, not harm.
  void DiscardEpoch() {
    writer_.reset();
    if (epoch_ != nullptr) DeleteStaged(epoch_->files());
    epoch_.reset();
  }

  LakeEnvironment env_;
  LakeTableSpec spec_;
  TableFields fields_;
  TableHead head_;
  std::optional<Watermark> watermark_;
  std::vector<LiveDeleteFile> deletes_;
  std::unique_ptr<TableIndex> index_;      // null for append-only tables
  std::unique_ptr<IndexBuilder> builder_;  // of a first copy
  std::unique_ptr<StagedEpoch> epoch_;
  std::unique_ptr<CopyWriter> writer_;  // of the current part
  FileNumber writer_number_;
  uint32_t writer_rows_ = 0;
  uint32_t next_unindexed_number_ = 1;  // file numbers of append-only tables, within an epoch
  int64_t rows_ = 0;

  std::string NewDataLocation() const {
    return StrCat(head_.loaded.metadata.location, "/data/", RandomUuid(), ".parquet");
  }

 private:
  absl::StatusOr<LoadedTable> LoadOrCreate();
  absl::Status LoadHead(LoadedTable loaded);
  TableIndexOptions IndexOptions() const;
  absl::Status OpenIndex(const LiveFiles& files);
  absl::StatusOr<std::unique_ptr<TableIndex>> FindIndex(const LiveFiles& files);
  IndexState HeadState() const;
  void DeleteStaged(const std::vector<StagedFile>& files) {
    for (const StagedFile& file : files)
      env_.store->Delete(file.file.file_path).IgnoreError();  // because it is litter
  }

  // What the epoch does to the table, worked out against the index.
  struct EpochEffect {
    FileChanges changes;
    std::vector<PositionsByFile> delete_files;  // written, in the order of changes.added_deletes
    absl::flat_hash_set<std::string> gone_deletes;  // paths
    RegistryStep registry;
    int64_t rows_added = 0;
    int64_t rows_deleted = 0;
  };
  absl::StatusOr<EpochEffect> WorkOut();
  absl::StatusOr<PositionsByFile> LocateStale();
  absl::Status WriteDeletes(const DeletePlan& plan, EpochEffect& effect);
  std::string PathOf(FileNumber number) const;
  absl::Status Commit(EpochEffect effect, const OwnSnapshot& own, RedoHeader::Base base);
};

absl::StatusOr<LoadedTable> LakeTable::Impl::LoadOrCreate() {
  absl::StatusOr<LoadedTable> loaded = env_.catalog->LoadTable(spec_.ident);
  if (!absl::IsNotFound(loaded.status())) return loaded;
  RETURN_IF_ERROR(env_.catalog->CreateNamespace(spec_.ident.ns));
  absl::StatusOr<LoadedTable> created =
      env_.catalog->CreateTable(spec_.ident, CreationOf(spec_, {RandomU64(), RandomU64()}));
  // Created by ourselves with a lost answer, or by another process: what is there is judged like
  // any other table.
  if (created.ok()) return created;
  loaded = env_.catalog->LoadTable(spec_.ident);
  return absl::IsNotFound(loaded.status()) ? created : loaded;
}

absl::Status LakeTable::Impl::LoadHead(LoadedTable loaded) {
  head_ = {.loaded = std::move(loaded)};
  head_.snapshot = head_.loaded.metadata.current_snapshot_id;
  ASSIGN_OR_RETURN(fields_, MatchTable(spec_, head_.loaded.metadata));
  ASSIGN_OR_RETURN(const Lineage lineage, FindLineage(head_.loaded.metadata));
  if (lineage.rolled_back) {
    return absl::FailedPreconditionError(StrCat(
        spec_.display_name, ": lake table ", spec_.ident.ToString(),
        " was rolled back by somebody. Roll it forward, or drop it to have it copied again."));
  }
  if (head_.snapshot && !lineage.watermark) {
    return absl::FailedPreconditionError(
        StrCat(spec_.display_name, ": lake table ", spec_.ident.ToString(),
               " holds data that fjord did not write. Choose another target, or drop it."));
  }
  if (lineage.own_snapshot && lineage.source != spec_.source) {
    return absl::FailedPreconditionError(
        StrCat(spec_.display_name, ": lake table ", spec_.ident.ToString(),
               " is kept by another source (", lineage.source, ", ours is ", spec_.source,
               "). Choose another target, or drop it when that one is gone."));
  }
  if (!lineage.proven) {
    return absl::FailedPreconditionError(StrCat(
        spec_.display_name, ": other engines committed to lake table ", spec_.ident.ToString(),
        " and our last snapshot was expired, so what they did cannot be judged. Drop it to have it "
        "copied again."));
  }
  if (!spec_.accept_external_writes) {
    RETURN_IF_ERROR(
        CheckForeignSnapshots(*env_.store, head_.loaded.metadata, fields_.all, lineage.foreign));
  }
  watermark_ = lineage.watermark;
  ASSIGN_OR_RETURN(head_.manifests,
                   ReadLiveManifests(*env_.store, head_.loaded.metadata, head_.snapshot));
  return absl::OkStatus();
}

IndexState LakeTable::Impl::HeadState() const {
  IndexState state;
  if (head_.snapshot) state.snapshot = *head_.snapshot;
  if (watermark_) {
    state.timeline = watermark_->timeline;
    state.lsn = watermark_->lsn;
  }
  return state;
}

TableIndexOptions LakeTable::Impl::IndexOptions() const {
  return {.folder = env_.index_folder,
          .table_uuid = head_.loaded.metadata.table_uuid,
          .seed = fields_.seed,
          .key_fields = fields_.key,
          .display_name = spec_.display_name};
}

absl::StatusOr<std::unique_ptr<TableIndex>> LakeTable::Impl::FindIndex(const LiveFiles& files) {
  if (builder_ != nullptr) {
    absl::StatusOr<std::unique_ptr<TableIndex>> built =
        TableIndex::FinishBuild(IndexOptions(), std::move(builder_), files, HeadState());
    if (built.ok()) return built;
    LogWarning("the index of the copy does not fit its table and is made again",
               {{"table", spec_.display_name}, {"reason", Message(built.status())}});
  }
  return TableIndex::Open(*env_.store, IndexOptions(), files, HeadState());
}

absl::Status LakeTable::Impl::OpenIndex(const LiveFiles& files) {
  index_.reset();
  rows_ = 0;
  for (const auto& [path, file] : files.data) rows_ += file.live_rows();
  deletes_.clear();
  if (spec_.key.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(index_, FindIndex(files));
  for (const auto& [path, positions] : files.delete_files) {
    LiveDeleteFile live{.path = path};
    for (const auto& [data_path, rows] : positions) {
      if (const DataFileEntry* entry = index_->files().FindPath(data_path))
        live.positions[entry->number].AddMany(rows);
    }
    deletes_.push_back(std::move(live));
  }
  return absl::OkStatus();
}

absl::Status LakeTable::Impl::Open() {
  ASSIGN_OR_RETURN(LoadedTable loaded, LoadOrCreate());
  RETURN_IF_ERROR(LoadHead(std::move(loaded)));
  ASSIGN_OR_RETURN(const LiveFiles files, ReadLiveFiles(*env_.store, head_.manifests));
  return OpenIndex(files);
}

void LakeTable::Impl::ClearRows() {
  writer_.reset();
  DeleteStaged(epoch_->Clear());
}

absl::StatusOr<std::vector<RowLocation>> LakeTable::Impl::Locate(std::span<const Hash128> keys) {
  std::vector<RowLocation> places(keys.size());
  RETURN_IF_ERROR(epoch_->Find(keys, places));
  if (epoch_->cleared()) {
    for (RowLocation& place : places) {
      if (place == kRemovedRow) place = kNoRow;
    }
    return places;
  }
  std::vector<RowLocation> base(keys.size());
  index_->rows().Find(keys, base);
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] == kRemovedRow) {
      places[i] = kNoRow;
    } else if (!places[i].present()) {
      places[i] = base[i];
    }
  }
  return places;
}

std::string LakeTable::Impl::PathOf(FileNumber number) const {
  if (epoch_ != nullptr) {
    if (const StagedFile* staged = epoch_->FindFile(number)) return staged->file.file_path;
  }
  const DataFileEntry* entry = index_->files().Find(number);
  return entry == nullptr ? "" : entry->path;
}

absl::StatusOr<ColumnBatch> LakeTable::Impl::ReadRows(std::span<const RowLocation> places,
                                                      std::span<const int> columns) {
  std::vector<FileField> fields;
  ColumnBatch out;
  for (const int column : columns) {
    fields.push_back(fields_.all[static_cast<size_t>(column)]);
    out.columns.emplace_back(fields.back().type);
    for (size_t i = 0; i < places.size(); ++i) out.columns.back().AppendNull();
  }
  std::map<FileNumber, std::map<RowPosition, std::vector<size_t>>> wanted;
  for (size_t i = 0; i < places.size(); ++i)
    wanted[places[i].file][places[i].position].push_back(i);
  for (const auto& [number, by_position] : wanted) {
    const std::string path = PathOf(number);
    std::vector<RowPosition> positions;
    for (const auto& [position, indexes] : by_position) positions.push_back(position);
    ASSIGN_OR_RETURN(std::unique_ptr<ReadableObject> object, env_.store->Open(path));
    ASSIGN_OR_RETURN(const std::unique_ptr<ParquetReader> reader,
                     ParquetReader::Open(std::move(object)));
    absl::StatusOr<ColumnBatch> read = reader->ReadRows(positions, fields);
    if (!read.ok()) return Annotate(read.status(), path);
    size_t row = 0;
    for (const auto& [position, indexes] : by_position) {
      for (const size_t index : indexes) {
        for (size_t c = 0; c < fields.size(); ++c)
          SetValue(read->columns[c], row, out.columns[c], index, out.arena);
      }
      ++row;
    }
  }
  return out;
}

absl::Status LakeTable::Impl::Append(const ColumnBatch& rows, std::span<const Hash128> keys) {
  if (writer_ == nullptr) {
    writer_ = std::make_unique<CopyWriter>(env_.store, NewDataLocation(), fields_.all);
    writer_number_ =
        index_ == nullptr ? FileNumber(next_unindexed_number_++) : index_->files().Allocate();
    writer_rows_ = 0;
  }
  RETURN_IF_ERROR(writer_->Append(rows));
  for (const Hash128& key : keys) epoch_->Put(key, {writer_number_, RowPosition(writer_rows_++)});
  return absl::OkStatus();
}

absl::Status LakeTable::Impl::EndPart() {
  if (writer_ != nullptr) {
    ASSIGN_OR_RETURN(CopiedFile file, writer_->Finish());
    writer_.reset();
    if (file.rows() > 0) epoch_->AddFile({.number = writer_number_, .file = std::move(file.file)});
  }
  epoch_->EndPart();
  return absl::OkStatus();
}

// Rows of the table whose keys the epoch put or removed.
absl::StatusOr<PositionsByFile> LakeTable::Impl::LocateStale() {
  std::map<FileNumber, std::vector<RowPosition>> found;
  std::vector<Hash128> keys;
  std::vector<RowLocation> places;
  RETURN_IF_ERROR(epoch_->ForEach([&](std::span<const IndexChange> changes) -> absl::Status {
    keys.clear();
    for (const IndexChange& change : changes) keys.push_back(change.key);
    places.resize(keys.size());
    index_->rows().Find(keys, places);
    for (const RowLocation& place : places) {
      if (place.present()) found[place.file].push_back(place.position);
    }
    return absl::OkStatus();
  }));
  PositionsByFile stale;
  for (auto& [file, positions] : found) {
    std::sort(positions.begin(), positions.end());
    stale[file].AddMany(positions);
  }
  return stale;
}

absl::StatusOr<LakeTable::Impl::EpochEffect> LakeTable::Impl::WorkOut() {
  EpochEffect effect;
  PositionsByFile fresh;
  if (index_ != nullptr && !epoch_->cleared()) {
    ASSIGN_OR_RETURN(fresh, LocateStale());
  }
  effect.changes.clear = epoch_->cleared();
  if (epoch_->cleared()) {
    effect.registry.base = RegistryStep::Base::kClear;
    effect.rows_deleted = rows_;
    for (const LiveDeleteFile& live : deletes_) effect.gone_deletes.insert(live.path);
  }
  // A data file of which no row is left goes as a whole.
  absl::flat_hash_set<FileNumber> dropped;
  for (auto it = fresh.begin(); it != fresh.end();) {
    const DataFileEntry& entry = *index_->files().Find(it->first);
    effect.rows_deleted += static_cast<int64_t>(it->second.Cardinality());
    if (it->second.Cardinality() + entry.deleted.Cardinality() < entry.record_count) {
      effect.registry.deleted.push_back({.file = it->first, .positions = it->second});
      ++it;
      continue;
    }
    dropped.insert(it->first);
    effect.changes.removed.insert(entry.path);
    effect.registry.removed.push_back(it->first);
    effect.registry.forgotten.push_back(it->first);
    it = fresh.erase(it);
  }
  for (const StagedFile& staged : epoch_->files()) {
    const int64_t live =
        staged.file.record_count - static_cast<int64_t>(staged.deleted.Cardinality());
    if (live == 0) continue;
    effect.rows_added += live;
    effect.changes.added_data.push_back(staged.file);
    if (!staged.deleted.empty()) fresh[staged.number] = staged.deleted;
    effect.registry.added.push_back(
        {.number = staged.number,
         .path = staged.file.file_path,
         .record_count = static_cast<uint64_t>(staged.file.record_count),
         .sequence_number = SequenceNumber(head_.loaded.metadata.last_sequence_number.value + 1),
         .deleted = staged.deleted});
  }
  static const std::vector<LiveDeleteFile> kNone;
  const DeletePlan plan = PlanDeletes(epoch_->cleared() ? kNone : deletes_, fresh, dropped, {});
  RETURN_IF_ERROR(WriteDeletes(plan, effect));
  return effect;
}

absl::Status LakeTable::Impl::WriteDeletes(const DeletePlan& plan, EpochEffect& effect) {
  for (const std::string& path : plan.removed) {
    effect.changes.removed.insert(path);
    effect.gone_deletes.insert(path);
  }
  for (const PositionsByFile& positions : plan.written) {
    PositionsByPath by_path;
    for (const auto& [number, set] : positions) by_path[PathOf(number)] = set.ToVector();
    const std::string location =
        StrCat(head_.loaded.metadata.location, "/data/", RandomUuid(), "-deletes.parquet");
    ASSIGN_OR_RETURN(std::unique_ptr<WriteStream> stream, env_.store->Create(location));
    ASSIGN_OR_RETURN(const WrittenFile written, WritePositionDeletes(by_path, std::move(stream)));
    DataFile file = DescribeFile(written, location, FileContent::kPositionDeletes);
    if (by_path.size() == 1) {
      file.referenced_data_file = by_path.begin()->first;
    } else {
      // Bounds of several paths would say nothing true about one file.
      file.lower_bounds.clear();
      file.upper_bounds.clear();
    }
    effect.changes.added_deletes.push_back(std::move(file));
    effect.delete_files.push_back(positions);
  }
  return absl::OkStatus();
}

absl::StatusOr<SnapshotId> LakeTable::Impl::Publish(const Watermark& watermark) {
  RETURN_IF_ERROR(EndPart());
  RETURN_IF_ERROR(epoch_->Finish());
  ASSIGN_OR_RETURN(EpochEffect effect, WorkOut());
  KillPoint("after-data-written");
  const OwnSnapshot own{.base_lsn = watermark_ ? watermark_->lsn : Lsn(),
                        .watermark = watermark,
                        .source = spec_.source,
                        .operation = RandomUuid()};
  const RedoHeader::Base base =
      epoch_->cleared() ? RedoHeader::Base::kClear : RedoHeader::Base::kKeep;
  RETURN_IF_ERROR(Commit(std::move(effect), own, base));
  return *head_.snapshot;
}

absl::Status LakeTable::Impl::Commit(EpochEffect effect, const OwnSnapshot& own,
                                     RedoHeader::Base base) {
  const SnapshotId snapshot = NewSnapshotId(head_.loaded.metadata);
  CommitInput input{.base = &head_,
                    .changes = std::move(effect.changes),
                    .snapshot = snapshot,
                    .own = own,
                    .retention = spec_.retention,
                    .now_ms = absl::ToUnixMillis(absl::Now())};
  ASSIGN_OR_RETURN(PreparedCommit prepared, PrepareCommit(*env_.store, input));
  if (index_ != nullptr) {
    RETURN_IF_ERROR(index_->WriteRedo(
        base, {.snapshot = snapshot, .timeline = own.watermark.timeline, .lsn = own.watermark.lsn},
        effect.registry, [&](RedoWriter& redo) {
          return epoch_->ForEach([&](std::span<const IndexChange> changes) {
            std::vector<IndexChange> final_changes(changes.begin(), changes.end());
            for (IndexChange& change : final_changes) {
              if (change.location == kRemovedRow) change.location = kNoRow;
            }
            return redo.AddChanges(final_changes);
          });
        }));
  }
  absl::StatusOr<LoadedTable> committed =
      SendCommit(*env_.catalog, spec_.ident, prepared, env_.patience);
  // Once a commit was sent its files may be the table's, whatever the answer was: they must not be
  // taken for litter.
  const std::unique_ptr<StagedEpoch> epoch = std::move(epoch_);
  RETURN_IF_ERROR(committed.status());
  if (committed->metadata.current_snapshot_id != snapshot) {
    return absl::AbortedError(
        StrCat("somebody committed to ", spec_.ident.ToString(), " right after us"));
  }
  head_.loaded = *std::move(committed);
  head_.snapshot = snapshot;
  head_.manifests = std::move(prepared.manifests);
  watermark_ = own.watermark;
  rows_ += effect.rows_added - effect.rows_deleted;
  std::erase_if(deletes_, [&](const LiveDeleteFile& live) {
    return effect.gone_deletes.contains(live.path);
  });
  for (size_t i = 0; i < effect.delete_files.size(); ++i) {
    deletes_.push_back({.path = input.changes.added_deletes[i].file_path,
                        .positions = std::move(effect.delete_files[i])});
  }
  return index_ == nullptr ? absl::OkStatus() : index_->ApplyCommitted();
}

absl::Status LakeTable::Impl::BeginBase() {
  DiscardEpoch();
  builder_.reset();
  index_.reset();
  if (spec_.key.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(builder_, TableIndex::StartBuild(IndexOptions()));
  return absl::OkStatus();
}

std::unique_ptr<CopyWriter> LakeTable::Impl::NewCopyWriter() const {
  std::string location = NewDataLocation();
  std::unique_ptr<IndexedFile> indexed;
  if (builder_ != nullptr) {
    indexed = std::make_unique<IndexedFile>(*builder_, location, spec_.key);
  }
  return std::make_unique<CopyWriter>(env_.store, std::move(location), fields_.all,
                                      std::move(indexed));
}

absl::StatusOr<SnapshotId> LakeTable::Impl::PublishBase(std::vector<CopiedFile> files,
                                                        const Watermark& watermark) {
  DiscardEpoch();
  const SnapshotId snapshot = NewSnapshotId(head_.loaded.metadata);
  CommitInput input{
      .base = &head_,
      .snapshot = snapshot,
      .own = {.watermark = watermark, .source = spec_.source, .operation = RandomUuid()},
      .retention = spec_.retention,
      .now_ms = absl::ToUnixMillis(absl::Now())};
  input.changes.clear = head_.snapshot.has_value();
  for (CopiedFile& file : files) input.changes.added_data.push_back(std::move(file.file));
  ASSIGN_OR_RETURN(const PreparedCommit prepared, PrepareCommit(*env_.store, input));
  ASSIGN_OR_RETURN(LoadedTable committed,
                   SendCommit(*env_.catalog, spec_.ident, prepared, env_.patience));
  RETURN_IF_ERROR(LoadHead(std::move(committed)));
  ASSIGN_OR_RETURN(const LiveFiles live, ReadLiveFiles(*env_.store, head_.manifests));
  RETURN_IF_ERROR(OpenIndex(live));
  return snapshot;
}

LakeTable::LakeTable(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LakeTable::~LakeTable() = default;

absl::StatusOr<std::unique_ptr<LakeTable>> LakeTable::Open(const LakeEnvironment& environment,
                                                           LakeTableSpec spec) {
  auto impl = std::make_unique<Impl>(environment, std::move(spec));
  RETURN_IF_ERROR(impl->Open());
  return std::unique_ptr<LakeTable>(new LakeTable(std::move(impl)));
}

const std::optional<Watermark>& LakeTable::watermark() const { return impl_->watermark_; }
const std::string& LakeTable::table_uuid() const { return impl_->head_.loaded.metadata.table_uuid; }
const std::array<uint64_t, 2>& LakeTable::key_seed() const { return impl_->fields_.seed; }
int64_t LakeTable::rows() const { return impl_->rows_; }
void LakeTable::BeginEpoch() { impl_->BeginEpoch(); }
void LakeTable::DiscardEpoch() { impl_->DiscardEpoch(); }
void LakeTable::ClearRows() { impl_->ClearRows(); }
absl::StatusOr<std::vector<RowLocation>> LakeTable::Locate(std::span<const Hash128> keys) {
  return impl_->Locate(keys);
}
absl::StatusOr<ColumnBatch> LakeTable::ReadRows(std::span<const RowLocation> places,
                                                std::span<const int> columns) {
  return impl_->ReadRows(places, columns);
}
absl::Status LakeTable::Append(const ColumnBatch& rows, std::span<const Hash128> keys) {
  return impl_->Append(rows, keys);
}
void LakeTable::MarkStale(std::span<const RowLocation> places) {
  for (const RowLocation& place : places) impl_->epoch_->MarkStale(place);
}
void LakeTable::Remove(std::span<const Hash128> keys) {
  for (const Hash128& key : keys) impl_->epoch_->Remove(key);
}
absl::Status LakeTable::EndPart() { return impl_->EndPart(); }
absl::StatusOr<SnapshotId> LakeTable::Publish(const Watermark& watermark) {
  return impl_->Publish(watermark);
}
std::unique_ptr<CopyWriter> LakeTable::NewCopyWriter() const { return impl_->NewCopyWriter(); }
absl::Status LakeTable::BeginBase() { return impl_->BeginBase(); }
absl::StatusOr<SnapshotId> LakeTable::PublishBase(std::vector<CopiedFile> files,
                                                  const Watermark& watermark) {
  return impl_->PublishBase(std::move(files), watermark);
}
absl::Status LakeTable::Close() {
  return impl_->index_ == nullptr ? absl::OkStatus() : impl_->index_->Close();
}

}  // namespace fjord
