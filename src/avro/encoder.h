// Avro's binary encoding of single values (Avro specification, "Binary Encoding").
//
// The functions append to a byte string; the caller writes values in the order of
// the fields of its schema.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace fjord {

// int and long: zigzag, then 7 bits a byte.
void PutAvroLong(std::string& out, int64_t v);

inline void PutAvroBoolean(std::string& out, bool v) { out.push_back(v ? '\1' : '\0'); }

inline void PutAvroFloat(std::string& out, float v) {
  char bytes[sizeof v];
  std::memcpy(bytes, &v, sizeof v);
  out.append(bytes, sizeof v);
}

inline void PutAvroDouble(std::string& out, double v) {
  char bytes[sizeof v];
  std::memcpy(bytes, &v, sizeof v);
  out.append(bytes, sizeof v);
}

// bytes and string: a long and that many bytes.
inline void PutAvroBytes(std::string& out, std::string_view v) {
  PutAvroLong(out, static_cast<int64_t>(v.size()));
  out.append(v);
}

// fixed: the bytes alone. Precondition: as many as the schema says.
inline void PutAvroFixed(std::string& out, std::string_view v) { out.append(v); }

// A union: the number of the branch; the value follows.
inline void PutAvroBranch(std::string& out, int branch) { PutAvroLong(out, branch); }

// Array and map: PutAvroBlock(n) and n items, then PutAvroEnd. No block is
// written for an empty one.
inline void PutAvroBlock(std::string& out, size_t items) {
  if (items > 0) PutAvroLong(out, static_cast<int64_t>(items));
}
inline void PutAvroEnd(std::string& out) { out.push_back('\0'); }

}  // namespace fjord
