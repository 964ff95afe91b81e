// Columns into Parquet's typed column writers. For this layer's files only.
#pragma once

#include <cstdint>
#include <memory>

#include "base/column.h"
#include "columnar/field.h"

namespace parquet {
class ColumnWriter;
}

namespace fjord {

// Scratch memory and the conversions of one file. Confined to one thread.
class ChunkWriter {
 public:
  // `page_bytes`: byte values are handed over in portions of about this size, so that pages stay
  // near their limit however long the values are.
  explicit ChunkWriter(uint64_t page_bytes);
  ~ChunkWriter();

  // All rows of a column, `nulls` of which are absent. Preconditions: the Parquet column
  // is what MakeParquetSchema made of the field; no nulls when the field is required.
  // Throws what Parquet throws.
  void Write(const FileField& field, const Column& column, int64_t nulls,
             parquet::ColumnWriter& writer);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace fjord
