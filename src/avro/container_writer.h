// Writes Avro object container files (Avro specification, "Object Container
// Files") into a byte string.
//
// The schema is the caller's JSON text and goes into the header byte for byte: some readers look at
// details of it that a schema library would normalise away. The values are the caller's too,
// encoded with avro/encoder.h.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fjord {

enum class AvroCodec { kNull, kDeflate };

struct AvroWriterOptions {
  AvroCodec codec = AvroCodec::kDeflate;
  int deflate_level = 6;
  // A block is closed when its encoded values reach this size.
  size_t block_bytes = 64 * 1024;
  // Separates blocks; random unless a test wants the same file twice.
  std::array<char, 16> sync_marker = RandomSyncMarker();

  static std::array<char, 16> RandomSyncMarker();
};

// Confined to one thread; used once: Append for each value, then Finish.
class AvroContainerWriter {
 public:
  // `metadata` follows avro.schema and avro.codec in the header, in this order.
  AvroContainerWriter(std::string_view schema_json,
                      const std::vector<std::pair<std::string, std::string>>& metadata,
                      const AvroWriterOptions& options);

  // One encoded value of the schema.
  void Append(std::string_view datum);
  // The whole file.
  std::string Finish() &&;

 private:
  void FlushBlock();

  AvroWriterOptions options_;
  std::string file_;
  std::string block_;
  size_t block_count_ = 0;
};

}  // namespace fjord
