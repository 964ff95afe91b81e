#include "base/json.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/status.h"

namespace fjord {
namespace {

using std::string_literals::operator""s;

std::string Again(std::string_view text) {
  const absl::StatusOr<Json> json = Json::Parse(text);
  return json.ok() ? json->Dump() : json.status().ToString();
}

TEST(Json, WhatIsParsedIsPrintedInTheSameOrder) {
  for (const char* text : {R"({"b":1,"a":[true,false,null,"x",{}],"c":{"d":[]}})", "[]", "{}",
                           "null", "true", R"("x")", "-0.5"}) {
    EXPECT_EQ(Again(text), text);
  }
}

TEST(Json, IntegersAreExactIn64Bits) {
  EXPECT_EQ(Again("[9223372036854775807,-9223372036854775808,0,-1]"),
            "[9223372036854775807,-9223372036854775808,0,-1]");
  EXPECT_TRUE(Json::Parse("9007199254740993")->is_int());
  // Beyond them a number is a double; and a double stays one when it is written.
  EXPECT_TRUE(Json::Parse("9223372036854775808")->is_double());
  EXPECT_EQ(Again("1.0"), "1.0");
  EXPECT_EQ(Again("1e3"), "1000.0");
}

TEST(Json, DoublesComeBackAsTheyWere) {
  for (const double value : {0.1, 1e300, 5e-324, -2.5e-10, 123456789.125}) {
    EXPECT_EQ(Json::Parse(Json(value).Dump())->as_double(), value);
  }
}

TEST(Json, StringsEscapeWhatJsonRequires) {
  EXPECT_EQ(JsonQuote("\"\\\n\r\t\x01\x1f/\xc3\xa4"), R"("\"\\\n\r\t\u0001\u001f/ä")");
  EXPECT_EQ(Json::Parse(JsonQuote("a\0b"s))->as_string(), "a\0b"s);
  EXPECT_EQ(Json::Parse(R"("\u00e4\ud83d\ude00\/")")->as_string(), "\xc3\xa4\xf0\x9f\x98\x80/");
}

TEST(Json, WhatIsNoJsonIsRefused) {
  for (const char* text : {"", " ", "{", "[1,]", "{\"a\":1,}", "01", "+1", "nul", "'a'", "\"\n\"",
                           "1 2", "{a:1}", "\"\xff\"", "NaN", "\"\\ud800\"", "[1]]"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Json::Parse(text).status())) << text;
  }
}

TEST(Json, DepthIsBounded) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(Json::Parse(nested(200)).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(Json::Parse(nested(201)).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Json::Parse(std::string(1'000'000, '[')).status()));
}

TEST(Json, MembersAreFoundSetAndErased) {
  Json object = Json::MakeObject();
  object.Set("a", 1);
  object.Set("b", "x");
  object.Set("a", 2);
  EXPECT_EQ(object.Dump(), R"({"a":2,"b":"x"})");
  EXPECT_EQ(object.Find("c"), nullptr);
  EXPECT_EQ(Json(1).Find("a"), nullptr);
  object.Erase("a");
  EXPECT_EQ(object.Dump(), R"({"b":"x"})");
}

TEST(Json, MembersOfForeignInputAreNamedWhenTheyAreWrong) {
  const Json object = *Json::Parse(R"({"n":1,"s":"x","b":true,"a":[],"o":{},"null":null,"d":1.5})");
  EXPECT_EQ(*object.GetInt("n"), 1);
  EXPECT_EQ(*object.GetString("s"), "x");
  EXPECT_TRUE(*object.GetBool("b"));
  EXPECT_TRUE(object.GetArray("a").ok());
  EXPECT_TRUE(object.GetObject("o").ok());
  for (const absl::Status& status :
       {object.GetInt("s").status(), object.GetInt("s", 7).status(),
        object.GetString("s2").status(), object.GetBool("s").status(),
        object.GetArray("s").status(), object.GetObject("s").status()}) {
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_NE(Message(status).find("'s"), std::string_view::npos) << status;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(object.GetInt("d").status()));
  EXPECT_EQ(*object.GetInt("absent", 7), 7);
  EXPECT_EQ(*object.GetInt("null", 7), 7);
  EXPECT_EQ(*object.GetString("null", "y"), "y");
}

TEST(Json, PrettyTextIsTheSameValue) {
  const Json value = *Json::Parse(R"({"a":[1,{"b":[]}],"c":{}})");
  EXPECT_EQ(value.DumpPretty(),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": []\n    }\n  ],\n  \"c\": {}\n}");
  EXPECT_EQ(*Json::Parse(value.DumpPretty()), value);
}

TEST(Json, ValuesThatAreNoNumbersAreWrittenAsNull) {
  EXPECT_EQ(Json(std::nan("")).Dump(), "null");
  EXPECT_EQ(Json(HUGE_VAL).Dump(), "null");
}

}  // namespace
}  // namespace fjord
