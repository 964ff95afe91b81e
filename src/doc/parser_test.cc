#include "doc/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/status.h"
#include "doc/serialize.h"

namespace fjord::doc {
namespace {

using std::string_literals::operator""s;
using ::testing::HasSubstr;

std::string Again(std::string_view text) {
  Parser parser;
  Arena arena;
  const absl::StatusOr<Value> value = parser.Parse(text, arena);
  return value.ok() ? ToJson(*value) : "refused: "s + std::string(Message(value.status()));
}

TEST(Parser, WhatIsParsedIsPrinted) {
  for (const char* text :
       {R"({"a":[true,false,null,"x",{}],"b":{"c":[],"d":-0.5}})", "[]", "{}", "null", "true",
        R"("x")", "-0.5", "0", "[[[]]]", R"({"":{"":""}})", R"(["\"\\\b\f\n\r\t\u0001/ä"])"}) {
    EXPECT_EQ(Again(text), text);
  }
  EXPECT_EQ(Again(" \r\n{ \"a\" : [ 1 , \"b\" ]\t, \"c\" : \"d\"  }\n"),
            R"({"a":[1,"b"],"c":"d"})");
}

TEST(Parser, MembersAreSortedByTheBytesOfTheirNames) {
  EXPECT_EQ(Again(R"({"b":1,"a":2,"":3,"aa":4,"abcde":5,"abcd":6,"B":7,"ä":8})"),
            R"({"":3,"B":7,"a":2,"aa":4,"abcd":6,"abcde":5,"b":1,"ä":8})");
  // A zero byte in a name is not the end of a shorter one.
  EXPECT_EQ(Again(R"({"a\u0000":1,"a":2})"), R"({"a":2,"a\u0000":1})");
}

TEST(Parser, OfTwoMembersWithOneNameTheLastWins) {
  EXPECT_EQ(Again(R"({"a":1,"a":2})"), R"({"a":2})");
  EXPECT_EQ(Again(R"({"b":0,"a":1,"b":3,"a":2,"b":{}})"), R"({"a":2,"b":{}})");
}

TEST(Parser, LargeObjectsAreSortedToo) {
  std::string text = "{";
  for (int i = 499; i >= 0; --i)
    text += "\"key" + std::to_string(1000 + i) + "\":" + std::to_string(i) + ",";
  text.back() = '}';
  Parser parser;
  Arena arena;
  const absl::StatusOr<Value> value = parser.Parse(text, arena);
  ASSERT_TRUE(value.ok());
  ASSERT_EQ(value->size(), 500);
  for (size_t i = 0; i < 500; ++i) {
    EXPECT_EQ(value->members()[i].name.text(), "key" + std::to_string(1000 + i));
    EXPECT_EQ(value->Find("key" + std::to_string(1000 + i))->as_int(), static_cast<int64_t>(i));
  }
  EXPECT_EQ(value->Find("key"), nullptr);
}

TEST(Parser, EscapesBecomeCharacters) {
  EXPECT_EQ(Again(R"("\u00e4\ud83d\ude00\/\u20AC")"), "\"ä😀/€\"");
  EXPECT_EQ(Again(R"("a\u0000b")"), R"("a\u0000b")");
  EXPECT_EQ(Again(R"(["\\","a\\\\b","\\\"","plain"])"), R"(["\\","a\\\\b","\\\"","plain"])");
}

TEST(Parser, HalvesOfSurrogatePairsAreRefused) {
  for (const char* text : {R"("\ud800")", R"("\udc00")", R"("\ud800x")", R"("\ud800\n")",
                           R"("\ud800\u0041")", R"("\udc00\ud800")", R"("\ud800\ud800")"}) {
    EXPECT_THAT(Again(text), HasSubstr("escape")) << text;
  }
}

TEST(Parser, WhatIsNoJsonIsRefused) {
  for (const char* text :
       {"",           " ",       "{",         "[",          "[1,]",
        "{\"a\":1,}", "01",      "-01",       "+1",         "1.",
        ".5",         "1e",      "1e+",       "-",          "--1",
        "nul",        "nulls",   "True",      "'a'",        "\"\n\"",
        "\"a",        "1 2",     "{a:1}",     "\"\xff\"",   "NaN",
        "Infinity",   "[1]]",    "[1 2]",     "{\"a\" 1}",  "{\"a\":1 \"b\":2}",
        "{\"a\":}",   "[,1]",    "\"a\"b",    "\"a\"\"b\"", "1a",
        "true1",      "\"\\x\"", "\"\\u12\"", "\"\\",       "]",
        ":",          ",",       "{1:2}",     "[\"a\"b]",   "1e9999999999999999999"}) {
    EXPECT_THAT(Again(text), HasSubstr("refused")) << text;
  }
  EXPECT_EQ(Again(R"({"a":[1,2,x]})"),
            "refused: not a JSON document: not a JSON value, at byte 10");
}

TEST(Parser, NestingIsBounded) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(Again(nested(200)), nested(200));
  EXPECT_THAT(Again(nested(201)), HasSubstr("200"));
  EXPECT_THAT(Again(std::string(1'000'000, '[')), HasSubstr("200"));
}

TEST(Parser, EachBeginningOfADocumentIsRefused) {
  const std::string text = R"({"a":[1,-2.5e3,"x\u00e4\"y",null],"b":{"c":true,"d":false}})";
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_THAT(Again(text.substr(0, size)), HasSubstr("refused")) << size;
  }
  EXPECT_THAT(Again(text), ::testing::Not(HasSubstr("refused")));
}

TEST(Parser, ManyDocumentsComeInOneCall) {
  Parser parser;
  Arena arena;
  std::vector<Value> documents;
  ASSERT_TRUE(parser.ParseMany("{\"a\":1}\n\n[2]\r\n\"three\\n\"\n4", arena, &documents).ok());
  ASSERT_EQ(documents.size(), 4);
  EXPECT_EQ(ToJson(documents[0]), R"({"a":1})");
  EXPECT_EQ(ToJson(documents[2]), R"("three\n")");
  EXPECT_EQ(documents[3].as_int(), 4);
  EXPECT_TRUE(parser.ParseMany("\n \n", arena, &documents).ok());
  EXPECT_EQ(documents.size(), 4);
}

TEST(Parser, AWrongLineIsNamedAndThoseBeforeItAreThere) {
  for (const char* wrong : {"{\"a\":}", "{\"a\":\"\xff\"}", "\"a\tb\"", "\"open"}) {
    Parser parser;
    Arena arena;
    std::vector<Value> documents;
    const absl::Status status = parser.ParseMany("{}\n[]\n"s + wrong + "\n{}\n", arena, &documents);
    EXPECT_THAT(std::string(Message(status)), HasSubstr("line 3")) << wrong;
    EXPECT_EQ(documents.size(), 2) << wrong;
    // The parser goes on after an error.
    EXPECT_TRUE(parser.Parse("{}", arena).ok());
  }
}

TEST(Parser, AParserMeetsLongerAndShorterTexts) {
  Parser parser;
  Arena arena;
  for (const size_t length : {size_t{10}, size_t{100'000}, size_t{3}, size_t{5'000}}) {
    arena.Clear();
    const std::string text = "[\"" + std::string(length, 'x') + "\"]";
    const absl::StatusOr<Value> value = parser.Parse(text, arena);
    ASSERT_TRUE(value.ok());
    EXPECT_EQ(value->items()[0].size(), length);
  }
}

}  // namespace
}  // namespace fjord::doc
