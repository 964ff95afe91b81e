// Writes one Parquet file: decoded columns straight into Parquet's typed column writers, with
// Iceberg's field ids.
//
// What readers demand (reference of the field: Iceberg specification, "Parquet"): exact logical
// types, data page version 1, PLAIN and dictionary encoding only, zstd.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "base/column.h"
#include "columnar/column_stats.h"
#include "columnar/field.h"
#include "io/object_store.h"

namespace fjord {

enum class DictionaryUse {
  kWhereItPays,  // judged by a column's first values
  kAlways,
};

struct ParquetWriteOptions {
  int zstd_level = 1;
  // A row group ends when the writer holds this much: a row group is in memory until it is written,
  // so this is the writer's memory, and nearly the size of a row group in the file.
  uint64_t row_group_bytes_max = 32ull << 20;
  uint64_t page_bytes = 1 << 20;
  uint64_t dictionary_bytes_max = 2 << 20;
  DictionaryUse dictionary = DictionaryUse::kWhereItPays;
};

struct WrittenColumn {
  FieldId id;
  int64_t compressed_bytes = 0;
  ColumnStats stats;
};

struct WrittenFile {
  int64_t record_count = 0;
  int64_t file_size_in_bytes = 0;
  std::vector<int64_t> split_offsets;  // starts of the row groups
  std::vector<WrittenColumn> columns;  // in the order of the fields
};

// Confined to one thread. After an error every call returns that error; then, or without Finish,
// the stream is aborted when the writer ends, and nothing is left behind.
class ParquetWriter {
 public:
  static absl::StatusOr<std::unique_ptr<ParquetWriter>> Create(std::vector<FileField> fields,
                                                               const ParquetWriteOptions& options,
                                                               std::unique_ptr<WriteStream> stream);
  ~ParquetWriter();
  // All rows of the batch, whose byte values are not needed afterwards. kInvalidArgument: columns
  // that are not the fields', a null in a required column, a decimal with too many digits, a UUID
  // that has not 16 bytes.
  absl::Status Append(const ColumnBatch& batch);
  // Rows so far.
  int64_t rows() const;
  // Bytes so far, written or held; what is not compressed yet counts as it is, so a little above
  // the size of the file.
  int64_t bytes() const;
  // Bytes that are held until the row group ends.
  int64_t held_bytes() const;
  // The file is whole and durable.
  absl::StatusOr<WrittenFile> Finish();

 private:
  class Impl;
  explicit ParquetWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fjord
