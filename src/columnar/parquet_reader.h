// Reads Parquet files by field id, whoever wrote them, into the same columns that changes are decoded into.
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

// Confined to one thread. kDataLoss: the bytes are wrong; kFailedPrecondition: a file that we cannot take (no field ids, a type
// that does not fit).
class ParquetReader {
 public:
  static absl::StatusOr<std::unique_ptr<ParquetReader>> Open(std::unique_ptr<ReadableObject> object);
  ~ParquetReader();

  int64_t rows() const;
  // All rows of some columns, in batches. A field that the file lacks is null throughout. The batch is reused.
  absl::Status ReadColumns(const std::vector<FileField>& fields,
                           absl::FunctionRef<absl::Status(const ColumnBatch& batch, uint64_t first_row)> visit);
  // The rows at these ascending positions, without duplicates.
  absl::StatusOr<ColumnBatch> ReadRows(std::span<const RowPosition> positions, const std::vector<FileField>& fields);

 private:
  class Impl;
  explicit ParquetReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fjord
