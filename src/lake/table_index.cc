#include "lake/table_index.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <thread>

#include "absl/time/clock.h"
#include "base/kill_point.h"
#include "base/log.h"
#include "base/status.h"

namespace fjord {
namespace {

constexpr char kIndexSuffix[] = ".rows";
constexpr char kRegistrySuffix[] = ".files";
constexpr char kRedoSuffix[] = ".redo";
constexpr size_t kKeyReadersMax = 4;
constexpr uint64_t kRowsWorthALine = 100'000;  // a smaller index is rebuilt in no time

bool SameFiles(const FileRegistry& registry, const LiveFiles& files) {
  size_t live = 0;
  for (const auto& [number, entry] : registry.files()) {
    if (!entry.live) continue;
    ++live;
    const auto it = files.data.find(entry.path);
    if (it == files.data.end() || !(it->second.deleted == entry.deleted)) return false;
  }
  return live == files.data.size();
}

// Reads the keys of data files, side by side. The first error ends it.
class KeyReaders {
 public:
  KeyReaders(ObjectStore& store, const std::vector<FileField>& key_fields, const LiveFiles& files,
             IndexBuilder& builder)
      : store_(store), key_fields_(key_fields), builder_(builder) {
    for (size_t i = 0; i < key_fields.size(); ++i) key_.push_back(static_cast<int>(i));
    for (const auto& [path, file] : files.data) files_.push_back(&file);
  }

  absl::Status Run() {
    const size_t cores = std::max(1u, std::thread::hardware_concurrency());
    const size_t count = std::min({files_.size(), cores, kKeyReadersMax});
    std::vector<std::thread> threads;
    for (size_t i = 1; i < count; ++i) threads.emplace_back([this] { Work(); });
    Work();
    for (std::thread& thread : threads) thread.join();
    return status_;
  }

 private:
  void Work() {
    while (const LiveDataFile* file = Next()) {
      const absl::Status status = Read(*file);
      const std::lock_guard lock(mutex_);
      if (status_.ok()) status_ = status;
    }
  }

  const LiveDataFile* Next() {
    const std::lock_guard lock(mutex_);
    return status_.ok() && next_ < files_.size() ? files_[next_++] : nullptr;
  }

  absl::Status Read(const LiveDataFile& file) {
    IndexedFile indexed(builder_, file.file.file_path, key_);
    RETURN_IF_ERROR(VisitLiveRows(store_, file.file.file_path, key_fields_, file.deleted,
                                  [&](const ColumnBatch& batch, uint64_t first_row,
                                      const std::vector<uint32_t>& rows) -> absl::Status {
                                    for (const uint32_t row : rows) {
                                      const RowPosition position(static_cast<uint32_t>(first_row) +
                                                                 row);
                                      RETURN_IF_ERROR(indexed.Add(batch, row, position));
                                    }
                                    return absl::OkStatus();
                                  }));
    return indexed.Finish();
  }

  ObjectStore& store_;
  const std::vector<FileField>& key_fields_;
  IndexBuilder& builder_;
  std::vector<int> key_;
  std::vector<const LiveDataFile*> files_;
  std::mutex mutex_;  // guards the rest
  size_t next_ = 0;   // of files_
  absl::Status status_;
};

absl::Status MakeFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return absl::OkStatus();
  return absl::FailedPreconditionError(StrCat("cannot make ", folder, ": ", error.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TableIndex>> TableIndex::Open(ObjectStore& store,
                                                             TableIndexOptions options,
                                                             const LiveFiles& files,
                                                             const IndexState& head) {
  RETURN_IF_ERROR(MakeFolder(options.folder));
  auto table = std::unique_ptr<TableIndex>(new TableIndex(std::move(options)));
  const absl::Status existing = table->OpenExisting(files, head);
  if (existing.ok()) return table;
  if (absl::IsUnavailable(existing)) return existing;  // another process has it
  LogDebug("the row index is rebuilt",
           {{"table", table->options_.display_name}, {"reason", Message(existing)}});
  RETURN_IF_ERROR(table->Rebuild(store, files, head));
  return table;
}

absl::Status TableIndex::OpenExisting(const LiveFiles& files, const IndexState& head) {
  ASSIGN_OR_RETURN(index_, RowIndex::Open(Path(kIndexSuffix)));
  if (index_->table_uuid() != options_.table_uuid || index_->seed() != options_.seed) {
    return absl::FailedPreconditionError("it belongs to another table");
  }
  ASSIGN_OR_RETURN(registry_, FileRegistry::Open(Path(kRegistrySuffix), index_->state().snapshot));
  const absl::StatusOr<RedoHeader> redo = ReadRedoHeader(Path(kRedoSuffix));
  if (redo.ok() && redo->child.snapshot == head.snapshot &&
      redo->table_uuid == options_.table_uuid) {
    RETURN_IF_ERROR(ApplyRedo(Path(kRedoSuffix), *index_, *registry_).status());
  }
  DropRedo();
  if (index_->interrupted_step())
    return absl::FailedPreconditionError("a step was interrupted and its redo does not fit");
  if (index_->state().snapshot != head.snapshot)
    return absl::FailedPreconditionError("it is of another snapshot");
  if (!SameFiles(*registry_, files))
    return absl::FailedPreconditionError("its files are not the table's");
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<IndexBuilder>> TableIndex::StartBuild(
    const TableIndexOptions& options) {
  RETURN_IF_ERROR(MakeFolder(options.folder));
  const std::string place = StrCat(options.folder, "/", options.table_uuid);
  RemoveRedo(StrCat(place, kRedoSuffix)).IgnoreError();
  return IndexBuilder::Create({.path = StrCat(place, kIndexSuffix),
                               .registry_path = StrCat(place, kRegistrySuffix),
                               .table_uuid = options.table_uuid,
                               .seed = options.seed,
                               .display_name = options.display_name});
}

absl::StatusOr<std::unique_ptr<TableIndex>> TableIndex::FinishBuild(
    TableIndexOptions options, std::unique_ptr<IndexBuilder> builder, const LiveFiles& files,
    const IndexState& head) {
  auto table = std::unique_ptr<TableIndex>(new TableIndex(std::move(options)));
  RETURN_IF_ERROR(table->Take(std::move(builder), files, head));
  return table;
}

absl::Status TableIndex::Take(std::unique_ptr<IndexBuilder> builder, const LiveFiles& files,
                              const IndexState& head) {
  ASSIGN_OR_RETURN(BuiltIndex built, std::move(*builder).Finish(files, head));
  index_ = std::move(built.index);
  registry_ = std::move(built.registry);
  return absl::OkStatus();
}

absl::Status TableIndex::Rebuild(ObjectStore& store, const LiveFiles& files,
                                 const IndexState& head) {
  const absl::Time started = absl::Now();
  index_.reset();
  registry_.reset();
  ASSIGN_OR_RETURN(std::unique_ptr<IndexBuilder> builder, StartBuild(options_));
  RETURN_IF_ERROR(KeyReaders(store, options_.key_fields, files, *builder).Run());
  RETURN_IF_ERROR(Take(std::move(builder), files, head));
  if (index_->size() > kRowsWorthALine) {
    LogInfo("row index rebuilt from the lake",
            {{"table", options_.display_name},
             {"rows", index_->size()},
             {"seconds", absl::ToDoubleSeconds(absl::Now() - started)}});
  }
  return absl::OkStatus();
}

absl::Status TableIndex::WriteRedo(RedoHeader::Base base, const IndexState& child,
                                   const RegistryStep& step,
                                   absl::FunctionRef<absl::Status(RedoWriter&)> write_changes) {
  ASSIGN_OR_RETURN(const std::unique_ptr<RedoWriter> redo,
                   RedoWriter::Create(Path(kRedoSuffix), {.table_uuid = options_.table_uuid,
                                                          .parent = index_->state().snapshot,
                                                          .child = child,
                                                          .base = base}));
  RETURN_IF_ERROR(redo->AddFiles(step));
  RETURN_IF_ERROR(write_changes(*redo));
  return redo->Finish();
}

absl::Status TableIndex::ApplyCommitted() {
  KillPoint("after-redo");
  RETURN_IF_ERROR(ApplyRedo(Path(kRedoSuffix), *index_, *registry_).status());
  KillPoint("after-apply");
  DropRedo();
  return absl::OkStatus();
}

void TableIndex::DropRedo() {
  // A redo that does not fit is recognised by its header.
  RemoveRedo(Path(kRedoSuffix)).IgnoreError();
}

}  // namespace fjord
