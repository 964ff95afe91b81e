#include "base/coding.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/status.h"

namespace fjord {
namespace {

using std::string_literals::operator""s;

TEST(Coding, FixedWidthsAreLittleEndianAndTheProtocolsAreBig) {
  std::string out;
  PutFixed32(out, 0x01020304);
  PutBig32(out, 0x01020304);
  EXPECT_EQ(out, "\x04\x03\x02\x01\x01\x02\x03\x04");
  out.clear();
  PutFixed64(out, 0x0102030405060708);
  PutBig64(out, 0x0102030405060708);
  EXPECT_EQ(out, "\x08\x07\x06\x05\x04\x03\x02\x01\x01\x02\x03\x04\x05\x06\x07\x08");
  EXPECT_EQ(GetFixed64(out.data()), 0x0102030405060708u);
  EXPECT_EQ(GetBig64(out.data() + 8), 0x0102030405060708u);
  EXPECT_EQ(GetBig32(out.data() + 8), 0x01020304u);
  EXPECT_EQ(GetBig16(out.data() + 8), 0x0102u);
}

TEST(Coding, VarintsHaveTheBytesOfLeb128) {
  const auto encoded = [](uint64_t v) {
    std::string out;
    PutVarint64(out, v);
    return out;
  };
  EXPECT_EQ(encoded(0), "\0"s);
  EXPECT_EQ(encoded(127), "\x7f");
  EXPECT_EQ(encoded(128), "\x80\x01");
  EXPECT_EQ(encoded(300), "\xac\x02");
  EXPECT_EQ(encoded(std::numeric_limits<uint64_t>::max()),
            "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST(Coding, VarintsOfEveryLengthComeBack) {
  std::string out;
  std::vector<uint64_t> values = {0};
  for (int bit = 0; bit < 64; ++bit) {
    values.push_back(uint64_t{1} << bit);
    values.push_back((uint64_t{1} << bit) - 1);
  }
  values.push_back(std::numeric_limits<uint64_t>::max());
  for (const uint64_t v : values) PutVarint64(out, v);
  ByteReader reader(out);
  for (const uint64_t v : values) EXPECT_EQ(*reader.Varint64(), v);
  EXPECT_TRUE(reader.empty());
}

TEST(ByteReader, AVarintThatEndsNowhereOrIsTooLargeIsDataLoss) {
  EXPECT_TRUE(absl::IsDataLoss(ByteReader("").Varint64().status()));
  EXPECT_TRUE(absl::IsDataLoss(ByteReader("\x80\x80").Varint64().status()));
  EXPECT_TRUE(absl::IsDataLoss(
      ByteReader("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").Varint64().status()));
  EXPECT_TRUE(
      absl::IsDataLoss(ByteReader("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02").Varint64().status()));
}

TEST(ByteReader, EveryReadPastTheEndIsDataLossAndTakesNothing) {
  ByteReader reader("abc");
  EXPECT_TRUE(absl::IsDataLoss(reader.Fixed32().status()));
  EXPECT_TRUE(absl::IsDataLoss(reader.Fixed64().status()));
  EXPECT_TRUE(absl::IsDataLoss(reader.Bytes(4).status()));
  EXPECT_TRUE(absl::IsDataLoss(reader.Bytes(std::numeric_limits<size_t>::max()).status()));
  EXPECT_EQ(reader.remaining(), 3u);
  EXPECT_EQ(*reader.Bytes(3), "abc");
  EXPECT_TRUE(absl::IsDataLoss(reader.Byte().status()));
}

TEST(ByteReader, LengthPrefixedBytesMayBeEmptyButNotCut) {
  std::string out;
  PutLengthPrefixed(out, "");
  PutLengthPrefixed(out, "a\0b"s);
  ByteReader reader(out);
  EXPECT_EQ(*reader.LengthPrefixed(), "");
  EXPECT_EQ(*reader.LengthPrefixed(), "a\0b"s);
  EXPECT_TRUE(reader.empty());
  EXPECT_TRUE(absl::IsDataLoss(ByteReader("\x05\0\0\0abcd"s).LengthPrefixed().status()));
  EXPECT_TRUE(absl::IsDataLoss(ByteReader("\xff\xff\xff\xff"s).LengthPrefixed().status()));
}

}  // namespace
}  // namespace fjord
