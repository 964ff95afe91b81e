#include "base/strings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fjord {
namespace {

using testing::ElementsAre;
using testing::Eq;
using testing::Optional;

TEST(Strings, ViewsAndNumbersAreJoinedIntoOneText) {
  const std::string_view view = "view";
  EXPECT_EQ(StrCat("a ", view, std::string(" s "), 7, " ", int64_t{-1}), "a view s 7 -1");
  std::string out = "x";
  StrAppend(&out, view, 1);
  EXPECT_EQ(out, "xview1");
}

TEST(Strings, ParseIntTakesTheWholeTextOrNothing) {
  EXPECT_THAT(ParseInt<int32_t>("-12"), Optional(-12));
  EXPECT_THAT(ParseInt<uint8_t>("ff", 16), Optional(255));
  EXPECT_THAT(ParseInt<int64_t>("9223372036854775807"), Optional(INT64_MAX));
  for (const char* text :
       {"", " 1", "1 ", "1x", "+1", "0x1", "--1", "1.0", "9223372036854775808"}) {
    EXPECT_EQ(ParseInt<int64_t>(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseInt<uint32_t>("-1"), std::nullopt);
  EXPECT_EQ(ParseInt<uint8_t>("256"), std::nullopt);
}

TEST(Strings, SplitKeepsEmptyPartsAndJoinUndoesIt) {
  EXPECT_THAT(Split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(Split("", ','), ElementsAre(""));
  EXPECT_EQ(Join(Split("a,,b,", ','), ","), "a,,b,");
  EXPECT_EQ(Join({}, ","), "");
}

TEST(Strings, TrimTakesBlanksFromTheEndsOnly) {
  EXPECT_EQ(Trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(Trim(" \n"), "");
  EXPECT_EQ(Trim(""), "");
}

TEST(PercentEncoding, KeepsOnlyTheUnreservedCharacters) {
  EXPECT_EQ(PercentEncode("AZaz09-._~"), "AZaz09-._~");
  EXPECT_EQ(PercentEncode("a b/c+d%\x1f\xc3\xa4"), "a%20b%2Fc%2Bd%25%1F%C3%A4");
}

TEST(PercentEncoding, EveryByteComesBack) {
  std::string all;
  for (int c = 0; c < 256; ++c) all.push_back(static_cast<char>(c));
  EXPECT_THAT(PercentDecode(PercentEncode(all)), Optional(all));
  EXPECT_THAT(PercentDecode("%2f%2F+"), Optional(Eq("//+")));
}

TEST(PercentEncoding, HalfAnEscapeIsNone) {
  for (const char* text : {"%", "%2", "a%", "%g0", "%0g", "% 1", "%-1"})
    EXPECT_EQ(PercentDecode(text), std::nullopt) << text;
}

TEST(Nearest, IsATypingErrorAwayOrNothing) {
  const std::vector<std::string> keys = {"tables", "source", "tableDefaults"};
  EXPECT_THAT(Nearest("tabels", keys), Optional(Eq("tables")));
  EXPECT_THAT(Nearest("sorce", keys), Optional(Eq("source")));
  EXPECT_EQ(Nearest("destination", keys), std::nullopt);
  EXPECT_EQ(Nearest("tables", {}), std::nullopt);
}

}  // namespace
}  // namespace fjord
