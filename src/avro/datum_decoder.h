// Decodes one Avro value into a tree. Internal to the layer.
#pragma once

#include <cstddef>

#include "absl/status/statusor.h"
#include "avro/schema.h"
#include "avro/value.h"
#include "base/coding.h"

namespace fjord {

// int and long; every other length in the format too.
absl::StatusOr<int64_t> ReadAvroLong(ByteReader& in);
// A long that must not be negative, and that many bytes.
absl::StatusOr<std::string_view> ReadAvroBytes(ByteReader& in);

// Reads one value from the front of `in`. Stops with kDataLoss beyond its bounds.
class AvroDatumDecoder {
 public:
  AvroDatumDecoder(ByteReader& in, size_t values_max, int depth_max)
      : in_(in), values_max_(values_max), depth_max_(depth_max) {}

  absl::StatusOr<AvroValue> Decode(const AvroSchema& schema) { return Decode(schema, 0); }
  // Nodes made so far.
  size_t values() const { return values_; }

 private:
  absl::StatusOr<AvroValue> Decode(const AvroSchema& schema, int depth);
  absl::Status DecodeScalar(const AvroSchema& schema, AvroValue& out);
  absl::Status DecodeRecord(const AvroSchema& schema, int depth, AvroValue& out);
  absl::Status DecodeArray(const AvroSchema& schema, int depth, AvroValue& out);
  absl::Status DecodeMap(const AvroSchema& schema, int depth, AvroValue& out);
  // The number of items in the next block of an array or map; 0 at its end.
  absl::StatusOr<uint64_t> BlockCount();

  ByteReader& in_;
  const size_t values_max_;
  const int depth_max_;
  size_t values_ = 0;
};

}  // namespace fjord
