// Writes one Parquet file: decoded columns straight into Parquet's typed column writers, with Iceberg's field ids.
//
// What readers demand (reference of the field: Iceberg specification, "Parquet"): exact logical types, data page version 1,
// PLAIN and dictionary encoding only, zstd.
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

struct ParquetWriteOptions {
  int zstd_level = 1;
  uint64_t row_group_bytes_max = 32ull << 20;  // of buffered, encoded bytes: what a writer holds in memory
  uint64_t page_bytes = 1 << 20;
  uint64_t dictionary_bytes_max = 1 << 20;
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
  std::vector<WrittenColumn> columns;
};

// Confined to one thread. After an error, or without Finish, the stream is aborted and nothing is left behind.
class ParquetWriter {
 public:
  static absl::StatusOr<std::unique_ptr<ParquetWriter>> Create(std::vector<FileField> fields,
                                                               const ParquetWriteOptions& options,
                                                               std::unique_ptr<WriteStream> stream);
  ~ParquetWriter();
  // Precondition: the batch has a column for each field, of its type. kInvalidArgument: a null in a required column.
  absl::Status Append(const ColumnBatch& batch);
  // Rows so far.
  int64_t rows() const;
  // Encoded bytes so far, written or buffered; close to the size of the file.
  int64_t bytes() const;
  // The file is whole and durable.
  absl::StatusOr<WrittenFile> Finish();

 private:
  class Impl;
  explicit ParquetWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fjord
