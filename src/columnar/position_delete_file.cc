#include "columnar/position_delete_file.h"

#include <algorithm>
#include <functional>

#include "base/status.h"
#include "base/strings.h"
#include "columnar/parquet_reader.h"

namespace fjord {
namespace {

constexpr size_t kBatchRows = 65'536;

std::vector<FileField> Fields() {
  return {{kDeleteFilePathId, "file_path", {.kind = TypeKind::kString}, true},
          {kDeletePositionId, "pos", {.kind = TypeKind::kLong}, true}};
}

absl::Status CheckPositions(const PositionsByPath& positions) {
  bool any = false;
  for (const auto& [path, rows] : positions) {
    any |= !rows.empty();
    if (path.size() > kStatsBytesMax)
      return absl::InvalidArgumentError("the path of a data file is too long");
    if (std::adjacent_find(rows.begin(), rows.end(), std::greater_equal<>()) != rows.end()) {
      return absl::InvalidArgumentError(StrCat("deleted positions of ", path, " do not ascend"));
    }
  }
  return any ? absl::OkStatus()
             : absl::InvalidArgumentError("a position delete file must not be empty");
}

ColumnBatch EmptyBatch() {
  ColumnBatch batch;
  for (const FileField& field : Fields()) batch.columns.emplace_back(field.type);
  return batch;
}

}  // namespace

absl::StatusOr<WrittenFile> WritePositionDeletes(const PositionsByPath& positions,
                                                 std::unique_ptr<WriteStream> stream) {
  if (absl::Status status = CheckPositions(positions); !status.ok()) {
    stream->Abort();
    return status;
  }
  // PyIceberg reads the paths as a dictionary.
  ASSIGN_OR_RETURN(
      const std::unique_ptr<ParquetWriter> writer,
      ParquetWriter::Create(Fields(), {.dictionary = DictionaryUse::kAlways}, std::move(stream)));
  ColumnBatch batch = EmptyBatch();
  for (const auto& [path, rows] : positions) {
    for (const RowPosition row : rows) {
      batch.columns[0].valid.push_back(1);
      batch.columns[0].bytes.push_back(path);
      batch.columns[1].valid.push_back(1);
      batch.columns[1].int64s.push_back(row.value);
      if (batch.rows() < kBatchRows) continue;
      RETURN_IF_ERROR(writer->Append(batch));
      batch.Clear();
    }
  }
  RETURN_IF_ERROR(writer->Append(batch));
  return writer->Finish();
}

absl::StatusOr<PositionsByPath> ReadPositionDeletes(std::unique_ptr<ReadableObject> object) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ParquetReader> reader,
                   ParquetReader::Open(std::move(object)));
  PositionsByPath found;
  std::string last_path;
  std::vector<RowPosition>* last = nullptr;
  RETURN_IF_ERROR(
      reader->ReadColumns(Fields(), [&](const ColumnBatch& batch, uint64_t) -> absl::Status {
        for (size_t i = 0; i < batch.rows(); ++i) {
          const int64_t position = batch.columns[1].int64s[i];
          if (position < 0 || position > UINT32_MAX) {
            return absl::DataLossError(StrCat("a position delete file has position ", position));
          }
          if (last == nullptr || batch.columns[0].bytes[i] != last_path) {
            last_path = batch.columns[0].bytes[i];
            last = &found[last_path];
          }
          last->push_back(RowPosition(static_cast<uint32_t>(position)));
        }
        return absl::OkStatus();
      }));
  for (auto& [path, rows] : found) {
    if (!std::is_sorted(rows.begin(), rows.end())) std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  }
  return found;
}

}  // namespace fjord
