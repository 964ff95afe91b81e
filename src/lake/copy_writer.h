// Data files of a first copy or of an epoch, before they are part of a table.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/column.h"
#include "columnar/field.h"
#include "columnar/parquet_writer.h"
#include "iceberg/data_file.h"
#include "io/object_store.h"

namespace fjord {

class IndexedFile;

// Written, durable, and named by nothing yet.
struct CopiedFile {
  DataFile file;
  int64_t rows() const { return file.record_count; }
};

// One data file, and its rows in the index that is being built. Confined to one thread.
class CopyWriter {
 public:
  CopyWriter(ObjectStore* store, std::string location, std::vector<FileField> fields);
  CopyWriter(ObjectStore* store, std::string location, std::vector<FileField> fields,
             std::unique_ptr<IndexedFile> indexed);
  ~CopyWriter();

  absl::Status Append(const ColumnBatch& rows);
  // Without rows there is no file, and rows() of the result is 0.
  absl::StatusOr<CopiedFile> Finish();

 private:
  ObjectStore* const store_;
  const std::string location_;
  const std::vector<FileField> fields_;
  std::unique_ptr<ParquetWriter> writer_;
  std::unique_ptr<IndexedFile> indexed_;
};

// What a manifest says of a file that was just written. `path` is its location.
DataFile DescribeFile(const WrittenFile& written, std::string path, FileContent content);

}  // namespace fjord
