// Reads Parquet files by field id, whoever wrote them, into the same columns that
// changes are decoded into.
//
// Any encoding and compression that Parquet C++ knows; types as they were before Iceberg allowed a
// column to be widened (int to long, float to double, decimal to more digits, date to timestamp);
// times in any unit.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "base/column.h"
#include "columnar/field.h"
#include "io/object_store.h"

namespace fjord {

// Confined to one thread. kDataLoss: the bytes are wrong; kFailedPrecondition: a file that we
// cannot take (no field ids, a type or value that does not fit, a required column that is not
// there). Errors of the object come as they are.
class ParquetReader {
 public:
  static absl::StatusOr<std::unique_ptr<ParquetReader>> Open(
      std::unique_ptr<ReadableObject> object);
  ~ParquetReader();

  int64_t rows() const;
  // All rows of some columns, in batches of at most 16,384 rows, fewer where values are long. A
  // field that the file lacks is null throughout. The batch, its byte values included, is reused
  // after the visit.
  absl::Status ReadColumns(
      const std::vector<FileField>& fields,
      absl::FunctionRef<absl::Status(const ColumnBatch& batch, uint64_t first_row)> visit);
  // The rows at these positions, which must ascend without duplicates. Row groups and pages without
  // any are not decompressed.
  absl::StatusOr<ColumnBatch> ReadRows(std::span<const RowPosition> positions,
                                       const std::vector<FileField>& fields);

 private:
  class Impl;
  explicit ParquetReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fjord
