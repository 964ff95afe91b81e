// Digests, random bytes and ids.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace fjord {

struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

// SipHash-2-4 with 128 bits of output (the reference algorithm). A keyed hash: who does not know
// `key` cannot make collisions.
Hash128 SipHash128(const std::array<uint64_t, 2>& key, std::string_view data);

std::string Sha256(std::string_view data);                            // 32 raw bytes
std::string HmacSha256(std::string_view key, std::string_view data);  // 32 raw bytes
std::string Hex(std::string_view bytes);                              // lower case
std::string Hex(const Hash128& hash);
uint32_t Crc32c(std::string_view data);

// From the system's generator; never seeded. (Simulations pass their own generator instead.)
std::string RandomBytes(size_t size);
uint64_t RandomU64();
// A version-4 UUID in text, lower case.
std::string RandomUuid();

}  // namespace fjord
