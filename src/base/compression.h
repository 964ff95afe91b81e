// Compression of whole byte strings, behind four codecs' libraries.
//
// Every decompressor takes the most bytes that it may make, because its input is not always
// ours: damaged bytes and results that would be larger are kDataLoss, never a crash and
// never a huge allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace fjord {

// Raw deflate (RFC 1951), without the header and checksum of zlib or gzip. `level`: 1 (fast) … 9
// (small). Bytes behind the end of the compressed stream are ignored: PyIceberg leaves a part of
// zlib's checksum there.
std::string Deflate(std::string_view data, int level);
absl::StatusOr<std::string> Inflate(std::string_view data, size_t result_bytes_max);

// One zstd frame when compressing; one or more when decompressing. `level`: 1 … 19.
std::string ZstdCompress(std::string_view data, int level);
absl::StatusOr<std::string> ZstdDecompress(std::string_view data, size_t result_bytes_max);

// The raw snappy format, without framing.
std::string SnappyCompress(std::string_view data);
absl::StatusOr<std::string> SnappyDecompress(std::string_view data, size_t result_bytes_max);

// CRC-32 with the polynomial of zlib and gzip (not CRC-32C).
uint32_t Crc32(std::string_view data);

}  // namespace fjord
