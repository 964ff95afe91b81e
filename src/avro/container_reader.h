// Reads Avro object container files of any schema into small trees of values.
//
// Codecs: null, deflate, snappy, zstandard. The bytes are not trusted: whatever is wrong with them is kDataLoss with the
// place, and sizes, counts and depth are bounded before memory is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "avro/schema.h"
#include "base/coding.h"

namespace fjord {

// A decoded value. Unions are resolved: `schema` is the branch that was taken, and is never a union.
// Refers to the reader's schema and must not outlive it.
struct AvroValue {
  using Items = std::vector<AvroValue>;                           // array; record: one a field, in order
  using Pairs = std::vector<std::pair<std::string, AvroValue>>;   // map

  const AvroSchema* schema = nullptr;
  // null: monostate; int, long: int64_t; bytes, string, fixed, and the symbol of an enum: std::string.
  std::variant<std::monostate, bool, int64_t, float, double, std::string, Items, Pairs> value;

  bool is_null() const { return std::holds_alternative<std::monostate>(value); }
  const bool* boolean() const { return std::get_if<bool>(&value); }
  const int64_t* integer() const { return std::get_if<int64_t>(&value); }
  const std::string* bytes() const { return std::get_if<std::string>(&value); }
  const Items* items() const { return std::get_if<Items>(&value); }
  const Pairs* pairs() const { return std::get_if<Pairs>(&value); }

  // The field of a record with this Iceberg field id, or null when there is none.
  const AvroValue* FindField(int32_t field_id) const;
};

struct AvroReaderLimits {
  size_t block_bytes_max = 256 << 20;       // one block, decompressed
  size_t values_per_datum_max = 4 << 20;    // nodes of one value's tree
  int depth_max = 64;                       // nesting of one value
  size_t header_bytes_max = 64 << 20;       // the header's metadata
};

// Confined to one thread. The bytes must outlive the reader. After an error every call fails with the same error.
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
  uint64_t block_count_ = 0;
  absl::Status status_;
};

}  // namespace fjord
