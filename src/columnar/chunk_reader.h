// Reads one column of one row group into a Column. For this layer's files only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "base/column.h"
#include "columnar/field.h"

namespace parquet {
class ColumnDescriptor;
class PageReader;
}  // namespace parquet

namespace fjord {

// Confined to one thread. Throws what Parquet throws.
class ChunkReader {
 public:
  // Precondition: CheckFits(column, field). `field` and `column` outlive the reader.
  static std::unique_ptr<ChunkReader> Create(const parquet::ColumnDescriptor* column,
                                             std::unique_ptr<parquet::PageReader> pages,
                                             const FileField& field);
  virtual ~ChunkReader() = default;

  // Only rows at these ascending positions, from `first_row` on counted, will be
  // read: pages without any are passed over compressed. Before the first Read; the
  // positions outlive the reader.
  virtual void Want(std::span<const RowPosition> positions, int64_t first_row) = 0;
  // Goes forward to a row of the row group.
  virtual absl::Status GoTo(int64_t row) = 0;
  // Appends `rows` rows from where it is; byte values are copied into the arena.
  virtual absl::Status Read(int64_t rows, Column& out, Arena& arena) = 0;
};

}  // namespace fjord
