#include "lake/table_index.h"

#include <filesystem>

#include "absl/time/clock.h"
#include "base/kill_point.h"
#include "base/log.h"
#include "base/status.h"

namespace fjord {
namespace {

constexpr char kIndexSuffix[] = ".rows";
constexpr char kRegistrySuffix[] = ".files";
constexpr char kRedoSuffix[] = ".redo";

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

}  // namespace

absl::StatusOr<std::unique_ptr<TableIndex>> TableIndex::Open(ObjectStore& store,
                                                             TableIndexOptions options,
                                                             const LiveFiles& files,
                                                             const IndexState& head) {
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error)
    return absl::FailedPreconditionError(
        StrCat("cannot make ", options.folder, ": ", error.message()));
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

absl::Status TableIndex::Rebuild(ObjectStore& store, const LiveFiles& files,
                                 const IndexState& head) {
  const absl::Time started = absl::Now();
  index_.reset();
  registry_.reset();
  DropRedo();
  ASSIGN_OR_RETURN(index_,
                   RowIndex::Create(Path(kIndexSuffix),
                                    {.seed = options_.seed, .table_uuid = options_.table_uuid}));
  ASSIGN_OR_RETURN(registry_, FileRegistry::Create(Path(kRegistrySuffix), SnapshotId(-1)));
  RegistryStep step{.base = RegistryStep::Base::kClear};
  for (const auto& [path, file] : files.data) {
    const FileNumber number = registry_->Allocate();
    RETURN_IF_ERROR(IndexFile(store, file, number));
    step.added.push_back({.number = number,
                          .path = path,
                          .record_count = static_cast<uint64_t>(file.file.record_count),
                          .sequence_number = file.sequence_number,
                          .deleted = file.deleted});
  }
  if (head.snapshot != SnapshotId(-1)) RETURN_IF_ERROR(registry_->Append(head.snapshot, step));
  RETURN_IF_ERROR(index_->FinishStep(head));
  if (index_->size() > 100'000) {
    LogInfo("row index rebuilt from the lake",
            {{"table", options_.display_name},
             {"rows", index_->size()},
             {"seconds", absl::ToDoubleSeconds(absl::Now() - started)}});
  }
  return absl::OkStatus();
}

absl::Status TableIndex::IndexFile(ObjectStore& store, const LiveDataFile& file,
                                   FileNumber number) {
  std::vector<int> all;
  for (size_t i = 0; i < options_.key_fields.size(); ++i) all.push_back(static_cast<int>(i));
  std::vector<IndexChange> changes;
  std::vector<RowLocation> previous;
  std::string bytes;
  return VisitLiveRows(
      store, file.file.file_path, options_.key_fields, file.deleted,
      [&](const ColumnBatch& batch, uint64_t first_row,
          const std::vector<uint32_t>& rows) -> absl::Status {
        changes.clear();
        for (const uint32_t row : rows) {
          bytes.clear();
          AppendKeyBytes(batch, row, all, bytes);
          changes.push_back(
              {index_->Hash(bytes), {number, RowPosition(static_cast<uint32_t>(first_row) + row)}});
        }
        previous.resize(changes.size());
        RETURN_IF_ERROR(index_->ApplyAndFetch(changes, previous));
        for (const RowLocation& place : previous) {
          if (!place.present()) continue;
          return absl::FailedPreconditionError(StrCat(
              options_.display_name, ": the lake table has two rows of one key, one of them in ",
              file.file.file_path, ". Drop the lake table to have it copied again."));
        }
        return absl::OkStatus();
      });
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
  RemoveRedo(Path(kRedoSuffix))
      .IgnoreError();  // because a redo that does not fit is recognised by its header
}

}  // namespace fjord
