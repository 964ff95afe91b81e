#include "iceberg/bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/digest.h"

namespace fjord {
namespace {

constexpr ColumnType kString{TypeKind::kString};
constexpr ColumnType kBinary{TypeKind::kBinary};
constexpr ColumnType kDouble{TypeKind::kDouble};
constexpr ColumnType kFloat{TypeKind::kFloat};
constexpr ColumnType kDecimal{TypeKind::kDecimal, 38, 0};

std::string HexOf(const ColumnType& type, const BoundValue& value) {
  return Hex(EncodeBound(type, value));
}

TEST(Bounds, HaveTheBytesOfTheSpecification) {
  EXPECT_EQ(HexOf({TypeKind::kBoolean}, int32_t{0}), "00");
  EXPECT_EQ(HexOf({TypeKind::kBoolean}, int32_t{1}), "01");
  EXPECT_EQ(HexOf({TypeKind::kInt}, int32_t{-5}), "fbffffff");
  EXPECT_EQ(HexOf({TypeKind::kDate}, int32_t{-2}), "feffffff");
  EXPECT_EQ(HexOf({TypeKind::kLong}, int64_t{1} << 40), "0000000000010000");
  EXPECT_EQ(HexOf({TypeKind::kTime}, int64_t{1}), "0100000000000000");
  EXPECT_EQ(HexOf({TypeKind::kTimestamp}, int64_t{-1}), "ffffffffffffffff");
  EXPECT_EQ(HexOf({TypeKind::kTimestampTz}, int64_t{1'700'000'000'000'000}), "00401e18240a0600");
  EXPECT_EQ(HexOf(kFloat, 1.5f), "0000c03f");
  EXPECT_EQ(HexOf(kDouble, -2.25), "00000000000002c0");
  EXPECT_EQ(HexOf(kString, std::string("Z\u00fcr")), "5ac3bc72");
  EXPECT_EQ(HexOf({TypeKind::kUuid}, std::string("0123456789abcdef")),
            "30313233343536373839616263646566");
  EXPECT_EQ(HexOf(kBinary, std::string("\0\xff", 2)), "00ff");
}

TEST(Bounds, DecimalsAreAsShortAsPossible) {
  const std::pair<absl::int128, const char*> cases[] = {
      {0, "00"},       {1, "01"},       {127, "7f"},       {128, "0080"},      {255, "00ff"},
      {256, "0100"},   {-1, "ff"},      {-128, "80"},      {-129, "ff7f"},     {-256, "ff00"},
      {-1280, "fb00"}, {32767, "7fff"}, {32768, "008000"}, {-32769, "ff7fff"},
  };
  for (const auto& [value, hex] : cases) {
    EXPECT_EQ(HexOf(kDecimal, value), hex);
    EXPECT_EQ(*DecodeDecimalBytes(EncodeDecimalBytes(value)), value);
  }
  EXPECT_EQ(EncodeDecimalBytes(absl::Int128Max()).size(), 16u);
  EXPECT_EQ(*DecodeDecimalBytes(EncodeDecimalBytes(absl::Int128Min())), absl::Int128Min());
  // Longer than needed, as fixed-size partition values are.
  EXPECT_EQ(*DecodeDecimalBytes(std::string("\0\0\0\x05", 4)), absl::int128(5));
  EXPECT_EQ(*DecodeDecimalBytes("\xff\xff\xff"), absl::int128(-1));
  EXPECT_FALSE(DecodeDecimalBytes("").ok());
  EXPECT_FALSE(DecodeDecimalBytes(std::string(17, '\0')).ok());
}

TEST(Bounds, RandomDecimalsComeBackAndNoByteIsRedundant) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const absl::int128 value =
        absl::MakeInt128(static_cast<int64_t>(random()), random()) >> (random() % 128);
    const std::string bytes = EncodeDecimalBytes(value);
    ASSERT_EQ(*DecodeDecimalBytes(bytes), value);
    if (bytes.size() > 1) {
      ASSERT_NE(*DecodeDecimalBytes(bytes.substr(1)), value);
    }
  }
}

TEST(Bounds, ValuesOfEveryTypeComeBack) {
  const std::pair<ColumnType, BoundValue> cases[] = {
      {{TypeKind::kBoolean}, int32_t{1}},
      {{TypeKind::kInt}, std::numeric_limits<int32_t>::min()},
      {{TypeKind::kLong}, std::numeric_limits<int64_t>::min()},
      {kFloat, -0.0f},
      {kDouble, std::numeric_limits<double>::infinity()},
      {kDecimal, absl::Int128Min()},
      {{TypeKind::kDate}, int32_t{-1}},
      {{TypeKind::kTime}, int64_t{86'399'999'999}},
      {{TypeKind::kTimestamp}, int64_t{-1}},
      {{TypeKind::kTimestampTz}, int64_t{1}},
      {kString, std::string()},
      {{TypeKind::kUuid}, std::string(16, 'u')},
      {kBinary, std::string("\0", 1)},
  };
  for (const auto& [type, value] : cases) {
    const auto back = DecodeBound(type, EncodeBound(type, value));
    ASSERT_TRUE(back.ok()) << TypeName(type) << back.status();
    EXPECT_TRUE(*back == value) << TypeName(type);
  }
}

TEST(Bounds, OfWidenedColumnsAreRead) {
  const std::string five("\5\0\0\0", 4);
  EXPECT_TRUE(*DecodeBound({TypeKind::kLong}, five) == BoundValue(int64_t{5}));
  EXPECT_TRUE(*DecodeBound(kDouble, EncodeBound(kFloat, 1.5f)) == BoundValue(1.5));
  EXPECT_TRUE(*DecodeBound({TypeKind::kTimestamp}, five) ==
              BoundValue(int64_t{5} * 86'400'000'000));
  EXPECT_FALSE(DecodeBound({TypeKind::kTimestamp}, "\xff\xff\xff\x7f").ok());
  EXPECT_FALSE(DecodeBound({TypeKind::kTimestampTz}, five).ok());
  EXPECT_FALSE(DecodeBound({TypeKind::kTime}, five).ok());
}

TEST(Bounds, OfAWrongLengthAreDataLoss) {
  for (int kind = 0; kind <= static_cast<int>(TypeKind::kUuid); ++kind) {
    const ColumnType type{static_cast<TypeKind>(kind), 38, 0};
    if (type == kString || type.kind == TypeKind::kString) continue;
    for (const size_t size : {0, 3, 17}) {
      if (type.kind == TypeKind::kDecimal && size == 3) continue;
      EXPECT_EQ(DecodeBound(type, std::string(size, '\0')).status().code(),
                absl::StatusCode::kDataLoss)
          << TypeName(type) << size;
    }
  }
}

TEST(Bounds, ZerosTakeTheSignThatCoversBoth) {
  EXPECT_EQ(MakeBounds(kDouble, 0.0, -0.0, 16),
            (Bounds{EncodeBound(kDouble, -0.0), EncodeBound(kDouble, 0.0)}));
  EXPECT_EQ(MakeBounds(kFloat, 0.0f, -0.0f, 16),
            (Bounds{EncodeBound(kFloat, -0.0f), EncodeBound(kFloat, 0.0f)}));
  EXPECT_EQ(MakeBounds(kDouble, 0.0, 1.0, 16).lower, EncodeBound(kDouble, -0.0));
}

TEST(Bounds, NanGivesNone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(MakeBounds(kDouble, nan, 1.0, 16), Bounds{});
  EXPECT_EQ(MakeBounds(kDouble, 1.0, nan, 16), Bounds{});
  EXPECT_EQ(MakeBounds(kFloat, static_cast<float>(nan), 1.0f, 16), Bounds{});
}

TEST(Bounds, StringsAreCutByCodePointsAndTheUpperOneGoesUp) {
  const std::string sixteen = "abcdefghijklmnop";
  EXPECT_EQ(MakeBounds(kString, sixteen, sixteen, 16), (Bounds{sixteen, sixteen}));
  EXPECT_EQ(MakeBounds(kString, sixteen + "q", sixteen + "q", 16),
            (Bounds{sixteen, "abcdefghijklmnoq"}));
  EXPECT_EQ(MakeBounds(kString, std::string(), std::string(), 16), (Bounds{"", ""}));
  EXPECT_EQ(MakeBounds(kString, sixteen + "q", sixteen + "q", 0),
            (Bounds{sixteen + "q", sixteen + "q"}));
  EXPECT_EQ(TruncateStringLower("\u00e4\u00f6\u00fc", 2), "\u00e4\u00f6");
  EXPECT_EQ(TruncateStringUpper("\u00e4\u00f6\u00fc", 2), "\u00e4\u00f7");
  EXPECT_EQ(TruncateStringUpper("\x7f\x7f", 1), "\u0080");
  EXPECT_EQ(TruncateStringUpper("\u07ff!", 1), "\u0800");
  EXPECT_EQ(TruncateStringUpper("\uffff!", 1), "\U00010000");
}

TEST(Bounds, TheUpperStringSkipsSurrogatesAndCarries) {
  EXPECT_EQ(TruncateStringUpper("\xed\x9f\xbf!", 1), "\ue000");
  EXPECT_EQ(TruncateStringUpper("a\U0010ffff!", 2), "b");
  EXPECT_EQ(TruncateStringUpper("\U0010ffff\U0010ffff!", 2), std::nullopt);
}

TEST(Bounds, TextThatIsNotUtf8HasNone) {
  for (const std::string text : {"\xff", "a\x80", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                 "\xe2\x82", "\xf8\x88\x80\x80\x80"}) {
    EXPECT_EQ(MakeBounds(kString, text, text, 16), Bounds{}) << Hex(text);
  }
}

TEST(Bounds, BinaryIsCutByBytes) {
  EXPECT_EQ(MakeBounds(kBinary, std::string("abc"), std::string("abc"), 2), (Bounds{"ab", "ac"}));
  EXPECT_EQ(TruncateBinaryUpper("ab", 2), "ab");
  EXPECT_EQ(TruncateBinaryUpper("a\xff\xff", 2), "b");
  EXPECT_EQ(TruncateBinaryUpper("\x7f!", 1), "\x80");
  EXPECT_EQ(TruncateBinaryUpper("\xff\xff\xff", 2), std::nullopt);
}

// Text of code points from the corners of UTF-8.
std::string RandomText(std::mt19937& random) {
  static const std::string kPoints[] = {"a",      "b",          "\x7f",         "\u0080",
                                        "\u07ff", "\u0800",     "\xed\x9f\xbf", "\ue000",
                                        "\uffff", "\U00010000", "\U0010ffff"};
  std::string text;
  for (size_t i = random() % 6; i > 0; --i) text += kPoints[random() % std::size(kPoints)];
  return text;
}

TEST(Bounds, CoverEveryTextBetweenTheLeastAndTheGreatest) {
  std::mt19937 random(4);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::string> texts(5);
    for (std::string& text : texts) text = RandomText(random);
    const auto [min, max] = std::minmax_element(texts.begin(), texts.end());
    const Bounds strings = MakeBounds(kString, *min, *max, 1 + random() % 4);
    const Bounds bytes = MakeBounds(kBinary, *min, *max, 1 + random() % 4);
    for (const std::string& text : texts) {
      for (const Bounds& bounds : {strings, bytes}) {
        ASSERT_LE(*bounds.lower, text);
        if (bounds.upper) {
          ASSERT_GE(*bounds.upper, text);
        }
      }
    }
  }
}

}  // namespace
}  // namespace fjord
