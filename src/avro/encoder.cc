#include "avro/encoder.h"

#include "base/coding.h"

namespace fjord {

void PutAvroLong(std::string& out, int64_t v) {
  PutVarint64(out, (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63));
}

}  // namespace fjord
