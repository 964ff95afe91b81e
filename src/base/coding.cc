#include "base/coding.h"

#include "base/status.h"

namespace fjord {
namespace {
absl::Status Short() { return absl::DataLossError("the bytes end too early"); }
}  // namespace

void PutVarint64(std::string& out, uint64_t v) {
  while (v >= 0x80) {
    out.push_back(static_cast<char>(v | 0x80));
    v >>= 7;
  }
  out.push_back(static_cast<char>(v));
}

absl::StatusOr<uint8_t> ByteReader::Byte() {
  if (data_.empty()) return Short();
  const uint8_t v = static_cast<uint8_t>(data_[0]);
  data_.remove_prefix(1);
  return v;
}

absl::StatusOr<uint32_t> ByteReader::Fixed32() {
  ASSIGN_OR_RETURN(std::string_view bytes, Bytes(4));
  return GetFixed32(bytes.data());
}

absl::StatusOr<uint64_t> ByteReader::Fixed64() {
  ASSIGN_OR_RETURN(std::string_view bytes, Bytes(8));
  return GetFixed64(bytes.data());
}

absl::StatusOr<uint64_t> ByteReader::Varint64() {
  uint64_t v = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    ASSIGN_OR_RETURN(const uint8_t byte, Byte());
    v |= uint64_t{byte & 0x7fu} << shift;
    if (shift == 63 && byte > 1) break;
    if ((byte & 0x80) == 0) return v;
  }
  return absl::DataLossError("a variable-length integer has more than 64 bits");
}

absl::StatusOr<std::string_view> ByteReader::Bytes(size_t size) {
  if (data_.size() < size) return Short();
  std::string_view result = data_.substr(0, size);
  data_.remove_prefix(size);
  return result;
}

absl::StatusOr<std::string_view> ByteReader::LengthPrefixed() {
  ASSIGN_OR_RETURN(const uint32_t size, Fixed32());
  return Bytes(size);
}

}  // namespace fjord
