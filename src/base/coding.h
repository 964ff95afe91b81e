// Fixed-width and variable-length integers in byte strings.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace fjord {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "durable layouts are little-endian");

inline void PutFixed32(std::string& out, uint32_t v) {
  out.append(reinterpret_cast<const char*>(&v), 4);
}
inline void PutFixed64(std::string& out, uint64_t v) {
  out.append(reinterpret_cast<const char*>(&v), 8);
}
inline uint32_t GetFixed32(const char* p) {
  uint32_t v;
  std::memcpy(&v, p, 4);
  return v;
}
inline uint64_t GetFixed64(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}
// Network byte order, as PostgreSQL's protocol has it.
inline uint16_t GetBig16(const char* p) {
  uint16_t v;
  std::memcpy(&v, p, 2);
  return __builtin_bswap16(v);
}
inline uint32_t GetBig32(const char* p) { return __builtin_bswap32(GetFixed32(p)); }
inline uint64_t GetBig64(const char* p) { return __builtin_bswap64(GetFixed64(p)); }
inline void PutBig32(std::string& out, uint32_t v) { PutFixed32(out, __builtin_bswap32(v)); }
inline void PutBig64(std::string& out, uint64_t v) { PutFixed64(out, __builtin_bswap64(v)); }

// LEB128, 1 … 10 bytes.
void PutVarint64(std::string& out, uint64_t v);

// Reads from the front of a byte string; every read past the end is kDataLoss.
class ByteReader {
 public:
  explicit ByteReader(std::string_view data) : data_(data) {}

  absl::StatusOr<uint8_t> Byte();
  absl::StatusOr<uint32_t> Fixed32();
  absl::StatusOr<uint64_t> Fixed64();
  absl::StatusOr<uint64_t> Varint64();
  absl::StatusOr<std::string_view> Bytes(size_t size);
  // A u32 length (little-endian) and that many bytes.
  absl::StatusOr<std::string_view> LengthPrefixed();

  size_t remaining() const { return data_.size(); }
  bool empty() const { return data_.empty(); }

 private:
  std::string_view data_;
};

inline void PutLengthPrefixed(std::string& out, std::string_view bytes) {
  PutFixed32(out, static_cast<uint32_t>(bytes.size()));
  out.append(bytes);
}

}  // namespace fjord
