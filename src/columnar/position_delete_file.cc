#include "columnar/position_delete_file.h"

#include <algorithm>

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

ColumnBatch EmptyBatch() {
  ColumnBatch batch;
  for (const FileField& field : Fields()) batch.columns.emplace_back(field.type);
  return batch;
}

}  // namespace

absl::StatusOr<WrittenFile> WritePositionDeletes(const PositionsByPath& positions, std::unique_ptr<WriteStream> stream) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ParquetWriter> writer, ParquetWriter::Create(Fields(), {}, std::move(stream)));
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
  if (writer->rows() == 0) return absl::InvalidArgumentError("a position delete file must not be empty");
  return writer->Finish();
}

absl::StatusOr<PositionsByPath> ReadPositionDeletes(std::unique_ptr<ReadableObject> object) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ParquetReader> reader, ParquetReader::Open(std::move(object)));
  PositionsByPath found;
  std::string last_path;
  std::vector<RowPosition>* last = nullptr;
  RETURN_IF_ERROR(reader->ReadColumns(Fields(), [&](const ColumnBatch& batch, uint64_t) -> absl::Status {
    for (size_t i = 0; i < batch.rows(); ++i) {
      const int64_t position = batch.columns[1].int64s[i];
      if (batch.columns[0].valid[i] == 0 || position < 0 || position > UINT32_MAX) {
        return absl::DataLossError("a position delete file names no row");
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
