#include <gtest/gtest.h>

#include "doc/reduction_test_support.h"

namespace fjord::doc {
namespace {

constexpr const char* kSum = R"({"reduce":{"strategy":"sum"}})";

TEST(Sum, IntegersAreExactIn64Bits) {
  ExpectReductions(kSum,
                   {
                       Same(kAbsent, "5", "5"),
                       Same("1", "2", "3"),
                       Same("-1", "1", "0"),
                       Same("9223372036854775807", "1", "9223372036854775808"),
                       Same("9223372036854775808", "9223372036854775807", "18446744073709551615"),
                       Same("18446744073709551615", "-1", "18446744073709551614"),
                       Same("18446744073709551615", "-9223372036854775808", "9223372036854775807"),
                       Same("-9223372036854775808", "9223372036854775808", "0"),
                       Same("9007199254740993", "1", "9007199254740994"),
                       Same("18446744073709551615", "1", "error: does not fit into 64 bits"),
                       Same("-9223372036854775808", "-1", "error: does not fit into 64 bits"),
                       Same("18446744073709551615", "18446744073709551615", "error: 64 bits"),
                   });
}

TEST(Sum, ADoubleMakesADouble) {
  ExpectReductions(kSum,
                   {
                       Same("1", "2.5", "3.5"),
                       Same("2.5", "-2.5", "0.0"),
                       Same("0.1", "0.2", "0.30000000000000004"),
                       Same("18446744073709551615", "0.5", "1.8446744073709552e+19"),
                       Same("123456789012345678901234567890", "0.5", "1.2345678901234568e+29"),
                       Same("1e308", "1e308", "error: too large"),
                       Same("1e400", "0.5", "error: too large"),
                       Same(kAbsent, "2.50", "2.5"),
                   });
}

TEST(Sum, DecimalsInTextAreExact) {
  ExpectReductions(
      kSum,
      {
          Same("\"0.1\"", "\"0.2\"", "\"0.3\""),
          Same("\"1.50\"", "\"1.5\"", "\"3\""),
          Same(kAbsent, "\"1.50\"", "\"1.5\""),
          Same(kAbsent, "\"007\"", "\"7\""),
          Same("\"99999999999999999999\"", "1", "\"100000000000000000000\""),
          Same("1", "\"-1.0\"", "\"0\""),
          Same("\"1\"", "0.25", "\"1.25\""),
          // A double is what its bits say.
          Same("\"1\"", "0.1", "\"1.1000000000000000055511151231257827021181583404541015625\""),
          Same("18446744073709551615", "\"1\"", "\"18446744073709551616\""),
          Same("\"1e3\"", "\"1\"", "\"1001\""),
          Same("\"1\"", "123456789012345678901234567890.5", "\"123456789012345678901234567891.5\""),
      });
}

TEST(Sum, NumbersThatKeptTheirTextAreExact) {
  ExpectReductions(kSum, {
                             Same("18446744073709551616", "1", "18446744073709551617"),
                             Same("18446744073709551616", "-1", "18446744073709551615"),
                             Same("0.10000000000000000001", "1", "1.10000000000000000001"),
                             Same("0.10000000000000000001", "0.39999999999999999999", "0.5"),
                             Same("99999999999999999999", "-99999999999999999999", "0"),
                             Same("1e999999999", "12345678901234567890123", "error: digits"),
                         });
}

TEST(Sum, WhatIsNoNumberIsAnError) {
  ExpectReductions(kSum, {
                             Same("1", "\"a\"", "error: sum adds numbers"),
                             Same("\"\"", "1", "error: sum adds numbers"),
                             Same("1", "null", "error: not null"),
                             Same("null", "1", "error: not null"),
                             Same(kAbsent, "null", "error: not null"),
                             Same(kAbsent, "\"NaN\"", "error: sum adds numbers"),
                             Same("1", "true", "error: sum adds numbers"),
                             Same("[]", "1", "error: sum adds numbers"),
                             Same("\" 1\"", "1", "error: sum adds numbers"),
                         });
  // The message says where.
  ExpectReductions(
      R"({"reduce":{"strategy":"merge"},"properties":{"a":{"reduce":{"strategy":"sum"}}}})",
      {Same(R"({"a":1})", R"({"a":{}})", "error: cannot reduce \"/a\"")});
}

}  // namespace
}  // namespace fjord::doc
