#include "base/digest.h"

#include <gtest/gtest.h>

namespace fjord {
namespace {

TEST(Crc32c, HasTheValuesOfRfc3720) {
  // RFC 3720, appendix B.4.
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string ascending;
  for (char c = 0; c < 32; ++c) ascending.push_back(c);
  EXPECT_EQ(Crc32c(ascending), 0x46dd794eu);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(""), 0u);
}

TEST(SipHash128, HasTheValuesOfTheReferenceImplementation) {
  // Key 00 … 0f; of no byte and of the bytes 00 … 0e, as OpenSSL gives them too.
  const std::array<uint64_t, 2> key = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
  const auto hex = [](const Hash128& hash) {
    std::string bytes(reinterpret_cast<const char*>(&hash.low), 8);
    bytes.append(reinterpret_cast<const char*>(&hash.high), 8);
    return Hex(bytes);
  };
  EXPECT_EQ(hex(SipHash128(key, "")), "a3817f04ba25a8e66df67214c7550293");
  std::string data;
  for (char c = 0; c < 15; ++c) data.push_back(c);
  EXPECT_EQ(hex(SipHash128(key, data)), "5493e99933b0a8117e08ec0f97cfc3d9");
}

}  // namespace
}  // namespace fjord
