#include "doc/decimal.h"

#include <gtest/gtest.h>

#include <string>

#include "base/status.h"

namespace fjord::doc {
namespace {

std::string Sum(std::string_view a, std::string_view b) {
  const absl::StatusOr<Decimal> sum = Decimal::Add(*Decimal::Parse(a), *Decimal::Parse(b));
  return sum.ok() ? sum->ToString() : std::string(Message(sum.status()));
}

TEST(Decimal, TheTextIsNormalised) {
  const std::pair<const char*, const char*> cases[] = {
      {"0", "0"},          {"-0.00", "0"},  {"007", "7"},       {"+1.50", "1.5"},
      {".5", "0.5"},       {"5.", "5"},     {"1e3", "1000"},    {"-12.5E-3", "-0.0125"},
      {"100", "100"},      {"100e-2", "1"}, {"0.001", "0.001"}, {"0e99", "0"},
      {"1e-0003", "0.001"}};
  for (const auto& [text, normal] : cases) EXPECT_EQ(Decimal::Parse(text)->ToString(), normal);
}

TEST(Decimal, OtherTextIsNone) {
  for (const char* text : {"", "-", ".", "e5", "1e", "1e+", "0x1", "1 ", " 1", "1,5", "NaN",
                           "1.2.3", "--1", "1e9999999999999999999"}) {
    EXPECT_FALSE(Decimal::Parse(text).has_value()) << text;
  }
}

TEST(Decimal, SumsAreExact) {
  EXPECT_EQ(Sum("0.1", "0.2"), "0.3");
  EXPECT_EQ(Sum("1", "-1.000"), "0");
  EXPECT_EQ(Sum("999", "1"), "1000");
  EXPECT_EQ(Sum("-999", "-0.001"), "-999.001");
  EXPECT_EQ(Sum("5", "-7.25"), "-2.25");
  EXPECT_EQ(Sum("7.25", "-5"), "2.25");
  EXPECT_EQ(Sum("1000", "-0.001"), "999.999");
  EXPECT_EQ(Sum("123456789012345678901234567890", "0.000000000000000000000000000001"),
            "123456789012345678901234567890.000000000000000000000000000001");
  EXPECT_EQ(Sum("0", "1e20"), "100000000000000000000");
}

TEST(Decimal, AHugeSumIsRefusedAndNotWrittenOut) {
  EXPECT_NE(Sum("1e999999999999", "1").find("more than"), std::string::npos);
  EXPECT_NE(Sum("1e-999999999999", "1").find("more than"), std::string::npos);
}

TEST(Decimal, TheOrderIsThatOfTheValues) {
  const char* const ascending[] = {"-1e500",  "-10", "-9.5", "-1e-9", "0",     "1e-400", "0.5",
                                   "0.50001", "1",   "9",    "10.5",  "1e100", "1.1e100"};
  for (size_t i = 0; i < std::size(ascending); ++i) {
    for (size_t j = 0; j < std::size(ascending); ++j) {
      EXPECT_EQ(*Decimal::Parse(ascending[i]) <=> *Decimal::Parse(ascending[j]), i <=> j)
          << ascending[i] << " " << ascending[j];
    }
  }
}

TEST(Decimal, ADoubleHasAnExactAndAPrintedValue) {
  EXPECT_EQ(Decimal::FromDoubleAsPrinted(0.1).ToString(), "0.1");
  EXPECT_EQ(Decimal::FromDoubleExactly(0.1).ToString(),
            "0.1000000000000000055511151231257827021181583404541015625");
  EXPECT_EQ(Decimal::FromDoubleExactly(-2.5).ToString(), "-2.5");
  EXPECT_EQ(Decimal::FromDoubleExactly(-0.0).ToString(), "0");
  EXPECT_EQ(Decimal::FromDoubleExactly(5e-324).ToString().size(), 2 + 1074);
}

TEST(Decimal, MultiplesAreExact) {
  const auto multiple = [](std::string_view value, std::string_view of) {
    return Decimal::IsMultiple(*Decimal::Parse(value), *Decimal::Parse(of));
  };
  EXPECT_EQ(multiple("0.3", "0.1"), true);
  EXPECT_EQ(multiple("0.35", "0.1"), false);
  EXPECT_EQ(multiple("-9", "3"), true);
  EXPECT_EQ(multiple("0", "7"), true);
  EXPECT_EQ(multiple("1e308", "0.123456789"), false);
  EXPECT_EQ(multiple("1e308", "0.5"), true);
  EXPECT_EQ(multiple("4.5", "1.5"), true);
  EXPECT_EQ(multiple("1e100000", "3"), std::nullopt);
}

}  // namespace
}  // namespace fjord::doc
