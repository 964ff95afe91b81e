#include "doc/key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"
#include "doc/highway_hash.h"
#include "doc/packed.h"
#include "doc/test_support.h"

namespace fjord::doc {
namespace {

std::string Packed(const Value& value) {
  std::string packed;
  const absl::Status status = AppendPacked(value, &packed);
  return status.ok() ? packed : "refused";
}

std::string PackedHex(std::string_view json) { return Hex(Packed(J(json))); }

TEST(Packed, EachKindHasItsBytes) {
  const std::pair<const char*, const char*> cases[] = {
      {"null", "00"},
      {"false", "26"},
      {"true", "27"},
      {"0", "14"},
      {"1", "1501"},
      {"255", "15ff"},
      {"256", "160100"},
      {"5551212", "1754b46c"},
      {"9223372036854775807", "1c7fffffffffffffff"},
      {"18446744073709551615", "1cffffffffffffffff"},
      {"18446744073709551616", "1d09010000000000000000"},
      {"-1", "13fe"},
      {"-255", "1300"},
      {"-256", "12feff"},
      {"-5551212", "11ab4b93"},
      {"-9223372036854775808", "0c7fffffffffffffff"},
      {"-9223372036854775809", "0c7ffffffffffffffe"},
      {"-18446744073709551615", "0c0000000000000000"},
      {"-18446744073709551616", "0bf6feffffffffffffffff"},
      {"0.0", "218000000000000000"},
      {"-42.0", "213fbaffffffffffff"},
      {"1.5", "21bff8000000000000"},
      {R"("F\u00d4O\u0000bar")", "0246c3944f00ff62617200"},
      {R"("")", "0200"},
      {R"("\u0000\u0000")", "0200ff00ff00"},
      {R"([1,"a"])", "015b312c2261225d00"},
      {R"({"a":1})", "017b2261223a317d00"},
  };
  for (const auto& [json, hex] : cases) EXPECT_EQ(PackedHex(json), hex) << json;
}

TEST(Packed, TheOrderOfTheBytesIsTheOrderOfTheValues) {
  const char* const ascending[] = {"null",
                                   R"("")",
                                   R"("a")",
                                   R"("a\u0000")",
                                   R"("ab")",
                                   R"("b")",
                                   "-18446744073709551617",
                                   "-18446744073709551616",
                                   "-9223372036854775809",
                                   "-9223372036854775808",
                                   "-257",
                                   "-256",
                                   "-1",
                                   "0",
                                   "1",
                                   "255",
                                   "256",
                                   "65536",
                                   "9223372036854775807",
                                   "9223372036854775808",
                                   "18446744073709551616",
                                   "-1.5",
                                   "-0.5",
                                   "0.5",
                                   "1e300",
                                   "false",
                                   "true"};
  for (size_t i = 1; i < std::size(ascending); ++i) {
    EXPECT_LT(Packed(J(ascending[i - 1])), Packed(J(ascending[i]))) << ascending[i];
  }
}

TEST(Packed, ANumberWithoutPackedFormIsRefused) {
  EXPECT_EQ(Packed(J("0.30000000000000000004")), "refused");
  EXPECT_EQ(Packed(J("1e400")), "refused");
  EXPECT_EQ(Packed(J("1" + std::string(10'000, '0'))), "refused");
}

TEST(PackedKeyHash, TheHashIsThatOfOtherImplementations) {
  EXPECT_EQ(PackedKeyHash(Packed(J("true"))), 0xb9f08d38);
  EXPECT_EQ(PackedKeyHash(Packed(J("false"))), 0x1505e3cb);
  EXPECT_EQ(PackedKeyHash(Packed(J(R"("foo")")) + Packed(J(R"("bar")"))), 0x6ae719f3);
  EXPECT_EQ(PackedKeyHash(Packed(J(R"("foobar")"))), 0x8adddd61);
  EXPECT_EQ(PackedKeyHash(Packed(J(R"("1")"))), 0xf4ec4d33);
  EXPECT_EQ(PackedKeyHash(Packed(J("1"))), 0x3c90c1d9);
  EXPECT_EQ(PackedKeyHash(Packed(J("10"))), 0xd1d3f3eb);
  EXPECT_EQ(PackedKeyHash("bar"), 0x64ecbab1);
  EXPECT_EQ(PackedKeyHash("foo"), 0x8cad4162);
}

TEST(HighwayHash, EachLengthTakesItsOwnWay) {
  // The reference implementation's test: key 07 06 … and data 00 01 …, by length.
  const std::array<uint64_t, 4> key = {0x0706050403020100, 0x0f0e0d0c0b0a0908, 0x1716151413121110,
                                       0x1f1e1d1c1b1a1918};
  std::string data;
  EXPECT_EQ(HighwayHash64(key, data), 0x907A56DE22C26E53);
  data += '\0';
  EXPECT_EQ(HighwayHash64(key, data), 0x7EAB43AAC7CDDD78);
  data += '\1';
  EXPECT_EQ(HighwayHash64(key, data), 0xB8D0569AB0B53D62);
}

TEST(Key, PartsAreTakenFromTheirPlaces) {
  const std::array<std::string, 3> pointers = {"/a/b", "/c", "/d/0"};
  Key key = *Key::Create(pointers);
  const Value document = J(R"({"a":{"b":1},"c":"x","d":[true]})");
  std::string packed;
  ASSERT_TRUE(key.AppendPacked(document, &packed).ok());
  EXPECT_EQ(Hex(packed),
            "1501"
            "027800"
            "27");

  // What is not there is null, or the default.
  packed.clear();
  key.SetDefault(1, J(R"("x")"));
  ASSERT_TRUE(key.AppendPacked(J("{}"), &packed).ok());
  EXPECT_EQ(Hex(packed),
            "00"
            "027800"
            "00");
}

TEST(Key, TheFirstPartThatDiffersDecides) {
  const std::array<std::string, 2> pointers = {"/a", "/b"};
  const Key key = *Key::Create(pointers);
  EXPECT_TRUE(key.Compare(J(R"({"a":1,"b":2})"), J(R"({"b":1,"a":2})")) < 0);
  EXPECT_TRUE(key.Compare(J(R"({"a":1,"b":2})"), J(R"({"b":1,"a":1})")) > 0);
  EXPECT_TRUE(key.Compare(J(R"({"a":1,"x":2})"), J(R"({"a":1})")) == 0);
}

TEST(Key, MistakesAreNamed) {
  EXPECT_FALSE(Key::Create({}).ok());
  const std::array<std::string, 1> wrong = {"a"};
  EXPECT_THAT(std::string(Message(Key::Create(wrong).status())), testing::HasSubstr("\"a\""));
  const std::array<std::string, 1> right = {"/a"};
  std::string packed;
  EXPECT_THAT(std::string(Message(Key::Create(right)->AppendPacked(J(R"({"a":1e400})"), &packed))),
              testing::HasSubstr("key /a"));
}

}  // namespace
}  // namespace fjord::doc
