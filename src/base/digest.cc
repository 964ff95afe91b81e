#include "base/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <bit>
#include <cstdlib>

#include "absl/strings/escaping.h"
#include "base/coding.h"
#include "base/strings.h"

namespace fjord {
namespace {

struct SipState {
  uint64_t v0, v1, v2, v3;

  void Round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void Mix(uint64_t word) {
    v3 ^= word;
    Round();
    Round();
    v0 ^= word;
  }
  uint64_t Finish() {
    for (int i = 0; i < 4; ++i) Round();
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

std::array<uint32_t, 256> MakeCrcTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
    table[i] = crc;
  }
  return table;
}

uint32_t CrcByTable(uint32_t crc, std::string_view data) {
  static const std::array<uint32_t, 256> table = MakeCrcTable();
  for (const char c : data) crc = table[(crc ^ static_cast<uint8_t>(c)) & 0xff] ^ (crc >> 8);
  return crc;
}

#if defined(__x86_64__)
// Some twenty times as fast as the table.
__attribute__((target("sse4.2"))) uint32_t CrcByInstruction(uint32_t crc, std::string_view data) {
  uint64_t wide = crc;
  for (; data.size() >= 8; data.remove_prefix(8))
    wide = __builtin_ia32_crc32di(wide, GetFixed64(data.data()));
  crc = static_cast<uint32_t>(wide);
  for (const char c : data) crc = __builtin_ia32_crc32qi(crc, static_cast<uint8_t>(c));
  return crc;
}
#endif

}  // namespace

Hash128 SipHash128(const std::array<uint64_t, 2>& key, std::string_view data) {
  SipState state{key[0] ^ 0x736f6d6570736575ull, key[1] ^ 0x646f72616e646f6dull ^ 0xee,
                 key[0] ^ 0x6c7967656e657261ull, key[1] ^ 0x7465646279746573ull};
  const char* p = data.data();
  size_t left = data.size();
  for (; left >= 8; p += 8, left -= 8) state.Mix(GetFixed64(p));
  uint64_t last = uint64_t{data.size()} << 56;
  for (size_t i = 0; i < left; ++i) last |= uint64_t{static_cast<uint8_t>(p[i])} << (8 * i);
  state.Mix(last);
  state.v2 ^= 0xee;
  Hash128 result;
  result.low = state.Finish();
  state.v1 ^= 0xdd;
  result.high = state.Finish();
  return result;
}

std::string Sha256(std::string_view data) {
  std::string out(32, '\0');
  unsigned int size = 32;
  EVP_Digest(data.data(), data.size(), reinterpret_cast<unsigned char*>(out.data()), &size,
             EVP_sha256(), nullptr);
  return out;
}

std::string HmacSha256(std::string_view key, std::string_view data) {
  std::string out(32, '\0');
  unsigned int size = 32;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(data.data()), data.size(),
       reinterpret_cast<unsigned char*>(out.data()), &size);
  return out;
}

std::string Hex(std::string_view bytes) { return absl::BytesToHexString(ToAbsl(bytes)); }

std::string Hex(const Hash128& hash) {
  return Hex({reinterpret_cast<const char*>(&hash), sizeof hash});
}

uint32_t Crc32c(std::string_view data) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  if (has_instruction) return ~CrcByInstruction(0xffffffffu, data);
#endif
  return ~CrcByTable(0xffffffffu, data);
}

std::string RandomBytes(size_t size) {
  std::string out(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t n = getrandom(out.data() + done, size - done, 0);
    if (n > 0) done += static_cast<size_t>(n);
  }
  return out;
}

uint64_t RandomU64() { return GetFixed64(RandomBytes(8).data()); }

std::string RandomUuid() {
  std::string bytes = RandomBytes(16);
  bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);
  const std::string hex = Hex(bytes);
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" +
         hex.substr(16, 4) + "-" + hex.substr(20);
}

}  // namespace fjord
