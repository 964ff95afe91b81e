#include "doc/number.h"

#include <gtest/gtest.h>

#include <string>

#include "doc/serialize.h"
#include "doc/test_support.h"

namespace fjord::doc {
namespace {

struct NumberCase {
  const char* text;
  Kind kind;
  const char* printed;
};

TEST(Number, EachIsHeldInTheNarrowestFormThatGivesItBack) {
  const NumberCase cases[] = {
      {"0", Kind::kInt, "0"},
      {"-0", Kind::kInt, "0"},
      {"9223372036854775807", Kind::kInt, "9223372036854775807"},
      {"-9223372036854775808", Kind::kInt, "-9223372036854775808"},
      {"9223372036854775808", Kind::kUint, "9223372036854775808"},
      {"18446744073709551615", Kind::kUint, "18446744073709551615"},
      {"18446744073709551616", Kind::kNumberText, "18446744073709551616"},
      {"-9223372036854775809", Kind::kNumberText, "-9223372036854775809"},
      {"99999999999999999999", Kind::kNumberText, "99999999999999999999"},
      {"123456789012345678901234567890", Kind::kNumberText, "123456789012345678901234567890"},
      {"1.0", Kind::kDouble, "1.0"},
      {"1e2", Kind::kDouble, "100.0"},
      {"1E-2", Kind::kDouble, "0.01"},
      {"-0.0", Kind::kDouble, "-0.0"},
      {"0e999", Kind::kDouble, "0.0"},
      {"1.50", Kind::kDouble, "1.5"},
      {"0.1", Kind::kDouble, "0.1"},
      {"123456789012345.678", Kind::kNumberText, "123456789012345.678"},
      {"0.30000000000000004", Kind::kDouble, "0.30000000000000004"},
      {"0.3000000000000000400", Kind::kDouble, "0.30000000000000004"},
      {"0.10000000000000000000000000000", Kind::kDouble, "0.1"},
      {"0.30000000000000000004", Kind::kNumberText, "0.30000000000000000004"},
      {"0.1000000000000000055511151231257827", Kind::kNumberText,
       "0.1000000000000000055511151231257827"},
      {"1e22", Kind::kDouble, "1e+22"},
      {"1e23", Kind::kDouble, "1e+23"},
      {"1.7976931348623157e308", Kind::kDouble, "1.7976931348623157e+308"},
      {"5e-324", Kind::kDouble, "5e-324"},
      {"1e400", Kind::kNumberText, "1e400"},
      {"-1e400", Kind::kNumberText, "-1e400"},
      {"1e-400", Kind::kNumberText, "1e-400"},
      {"9007199254740993.0", Kind::kNumberText, "9007199254740993.0"},
      {"9007199254740992.0", Kind::kDouble, "9007199254740992.0"},
  };
  for (const NumberCase& c : cases) {
    const Value value = J(c.text);
    EXPECT_EQ(value.kind(), c.kind) << c.text;
    EXPECT_EQ(ToJson(value), c.printed) << c.text;
  }
}

TEST(Number, DoublesArePrintedWithTheirShortestDigits) {
  const std::pair<double, const char*> cases[] = {
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {1, "1.0"},
      {10, "10.0"},
      {-120.5, "-120.5"},
      {0.5, "0.5"},
      {0.00001, "0.00001"},
      {0.000001, "1e-06"},
      {123456.789, "123456.789"},
      {1e16, "10000000000000000.0"},
      {1e17, "1e+17"},
      {72057594037927936.0, "72057594037927940.0"},
      {18446744073709551616.0, "1.8446744073709552e+19"}};
  for (const auto& [value, printed] : cases) {
    std::string text;
    AppendDouble(value, &text);
    EXPECT_EQ(text, printed);
  }
}

TEST(Number, WhatIsPrintedReadsBackTheSame) {
  for (const double value : {0.1, 1e300, 5e-324, -2.5e-10, 123456789.125, 1e15, 1e16, 1e17, 4e21,
                             0x1p64, 0x1p60, 0x1.fffffffffffffp+56}) {
    std::string text;
    AppendDouble(value, &text);
    const Value again = J(text);
    ASSERT_EQ(again.kind(), Kind::kDouble) << text;
    EXPECT_EQ(again.as_double(), value);
  }
}

TEST(Number, IntegralIsAQuestionOfTheValue) {
  for (const char* text : {"5", "5.0", "-0.0", "1e2", "1e400", "18446744073709551616", "12.50e1"}) {
    EXPECT_TRUE(HasIntegralValue(J(text))) << text;
  }
  for (const char* text : {"5.5", "1e-400", "0.30000000000000000004", "9007199254740993.5"}) {
    EXPECT_FALSE(HasIntegralValue(J(text))) << text;
  }
}

}  // namespace
}  // namespace fjord::doc
