// Records with a length and a checksum, as the redo file and the registry log
// have them (docs/formats/redo.md, "Records").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/coding.h"

namespace fjord {

inline constexpr size_t kRecordHeadBytes = 8;
inline constexpr uint32_t kRecordBytesMax = 256 << 20;

// u32 length of the payload, u32 CRC-32C of the payload, payload.
void AppendRecord(std::string& out, std::string_view payload);

// The payload of the record at the front of `bytes`. kOutOfRange: it goes beyond their end.
// kDataLoss: wrong length or checksum.
absl::StatusOr<std::string_view> ReadRecord(std::string_view bytes);

}  // namespace fjord
