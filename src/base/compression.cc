#include "base/compression.h"

#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <new>

#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr int kRawDeflateWindowBits = -15;  // negative: no zlib header and checksum
constexpr int kDeflateMemoryLevel = 8;
constexpr size_t kChunkBytes = 64 * 1024;

absl::Status TooLarge(size_t result_bytes_max) {
  return absl::DataLossError(
      StrCat("compressed bytes expand to more than ", result_bytes_max, " bytes"));
}

absl::Status Damaged(std::string_view codec) {
  return absl::DataLossError(StrCat(codec, " bytes are damaged"));
}

// zlib's stream counts its input in 32 bits; this feeds it larger inputs in pieces.
void FeedInput(z_stream& stream, std::string_view& rest) {
  if (stream.avail_in > 0) return;
  const size_t piece = std::min<size_t>(rest.size(), 1u << 30);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
  stream.avail_in = static_cast<uInt>(piece);
  rest.remove_prefix(piece);
}

}  // namespace

std::string Deflate(std::string_view data, int level) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, kRawDeflateWindowBits, kDeflateMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();  // the only way to fail with these constants
  }
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, deflateEnd);
  std::string result;
  int outcome = Z_OK;
  while (outcome != Z_STREAM_END) {
    FeedInput(stream, data);
    const size_t used = result.size();
    result.resize(used + kChunkBytes);
    stream.next_out = reinterpret_cast<Bytef*>(result.data() + used);
    stream.avail_out = kChunkBytes;
    outcome = deflate(&stream, data.empty() ? Z_FINISH : Z_NO_FLUSH);
    result.resize(result.size() - stream.avail_out);
  }
  return result;
}

absl::StatusOr<std::string> Inflate(std::string_view data, size_t result_bytes_max) {
  z_stream stream{};
  if (inflateInit2(&stream, kRawDeflateWindowBits) != Z_OK) {
    return absl::ResourceExhaustedError("no memory to inflate");
  }
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  std::string result;
  int outcome = Z_OK;
  while (outcome != Z_STREAM_END) {
    FeedInput(stream, data);
    const size_t used = result.size();
    if (used > result_bytes_max) return TooLarge(result_bytes_max);
    result.resize(used + kChunkBytes);
    stream.next_out = reinterpret_cast<Bytef*>(result.data() + used);
    stream.avail_out = kChunkBytes;
    outcome = inflate(&stream, Z_NO_FLUSH);
    result.resize(result.size() - stream.avail_out);
    // Z_BUF_ERROR: no progress is possible, that is, the input ends before the stream does.
    if (outcome != Z_OK && outcome != Z_STREAM_END) return Damaged("deflate");
  }
  if (result.size() > result_bytes_max) return TooLarge(result_bytes_max);
  return result;
}

std::string ZstdCompress(std::string_view data, int level) {
  std::string result(ZSTD_compressBound(data.size()), '\0');
  const size_t size = ZSTD_compress(result.data(), result.size(), data.data(), data.size(), level);
  if (ZSTD_isError(size)) throw std::bad_alloc();  // the bound is enough, so only memory can fail
  result.resize(size);
  return result;
}

absl::StatusOr<std::string> ZstdDecompress(std::string_view data, size_t result_bytes_max) {
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                   ZSTD_freeDCtx);
  if (context == nullptr) return absl::ResourceExhaustedError("no memory for zstd");
  std::string result;
  ZSTD_inBuffer in{data.data(), data.size(), 0};
  size_t expected = data.empty() ? 1 : 0;  // 0: between two frames
  bool output_full = false;
  // A full chunk may leave output waiting although the input is used up.
  while (in.pos < in.size || output_full) {
    const size_t used = result.size();
    if (used > result_bytes_max) return TooLarge(result_bytes_max);
    result.resize(used + kChunkBytes);
    ZSTD_outBuffer out{result.data() + used, kChunkBytes, 0};
    expected = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(expected)) return Damaged("zstd");
    output_full = out.pos == out.size && expected != 0;
    result.resize(used + out.pos);
  }
  if (result.size() > result_bytes_max) return TooLarge(result_bytes_max);
  if (expected != 0) return Damaged("zstd");
  return result;
}

std::string SnappyCompress(std::string_view data) {
  std::string result;
  snappy::Compress(data.data(), data.size(), &result);
  return result;
}

absl::StatusOr<std::string> SnappyDecompress(std::string_view data, size_t result_bytes_max) {
  // Three bytes of input make at most 64 of output; a length beyond that is not worth its memory.
  constexpr size_t kRatioMax = 22;
  size_t length = 0;
  if (!snappy::GetUncompressedLength(data.data(), data.size(), &length)) return Damaged("snappy");
  if (length > result_bytes_max) return TooLarge(result_bytes_max);
  if (length / kRatioMax > data.size()) return Damaged("snappy");
  std::string result(length, '\0');
  if (!snappy::RawUncompress(data.data(), data.size(), result.data())) return Damaged("snappy");
  return result;
}

uint32_t Crc32(std::string_view data) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(data.data()), data.size()));
}

}  // namespace fjord
