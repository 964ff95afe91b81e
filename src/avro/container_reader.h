// Reads Avro object container files of any schema into small trees of values.
//
// Codecs: null, deflate, snappy, zstandard. The bytes are not trusted: whatever is wrong with them
// is kDataLoss with the place, and sizes, counts and depth are bounded before memory is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "avro/schema.h"
#include "avro/value.h"
#include "base/coding.h"

namespace fjord {

struct AvroReaderLimits {
  size_t schema_bytes_max = 16 << 20;      // avro.schema
  size_t block_bytes_max = 256 << 20;      // one block, decompressed
  size_t values_per_datum_max = 4 << 20;   // nodes of one value's tree
  size_t values_per_file_max = 256 << 20;  // of all trees: bounds time, as values may take no bytes
  int depth_max = 64;                      // nesting of one value
};

// Confined to one thread. The bytes must outlive the reader. After an error every call fails with
// the same error.
class AvroContainerReader {
 public:
  static absl::StatusOr<AvroContainerReader> Open(std::string_view bytes,
                                                  const AvroReaderLimits& limits = {});

  const AvroSchema& schema() const { return schema_->root(); }
  // Header pairs, avro.schema and avro.codec included.
  const absl::btree_map<std::string, std::string>& metadata() const { return metadata_; }

  // The next value, or nothing at the end of the file.
  absl::StatusOr<std::optional<AvroValue>> Next();

 private:
  enum class Codec { kNull, kDeflate, kSnappy, kZstandard };

  AvroContainerReader(std::string_view bytes, const AvroReaderLimits& limits)
      : file_(bytes), limits_(limits) {}

  absl::Status ReadHeader();
  absl::Status ReadMetadata();
  absl::Status ReadBlock();
  absl::StatusOr<std::string> Decompress(std::string_view data) const;
  absl::StatusOr<std::optional<AvroValue>> ReadNext();

  ByteReader file_;
  AvroReaderLimits limits_;
  std::unique_ptr<const AvroSchemaTree> schema_;
  absl::btree_map<std::string, std::string> metadata_;
  Codec codec_ = Codec::kNull;
  std::string_view sync_marker_;
  std::unique_ptr<const std::string> block_;
  ByteReader block_rest_{std::string_view()};
  uint64_t block_count_ = 0;  // values of the block that are still to come
  size_t blocks_read_ = 0;
  size_t values_read_ = 0;  // nodes, over the whole file
  absl::Status status_;
};

}  // namespace fjord
