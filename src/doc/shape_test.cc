#include "doc/shape.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "doc/reduction_test_support.h"
#include "doc/serialize.h"
#include "doc/test_support.h"
#include "doc/validator.h"

namespace fjord::doc {
namespace {

std::string SchemaText(const Shape& shape) { return ToJson(ToSchema(shape, TestArena())); }

struct InferenceCase {
  std::vector<const char*> documents;
  const char* schema;
};

std::string Inferred(const std::vector<const char*>& documents) {
  Shape shape;
  for (const char* document : documents) Widen(shape, J(document));
  return SchemaText(shape);
}

TEST(Shape, IsInferredFromDocuments) {
  const InferenceCase cases[] = {
      {{}, "false"},
      {{"1"}, R"({"type":"integer"})"},
      {{"1", "2.0"}, R"({"type":"integer"})"},
      {{"1", "1.5"}, R"({"type":"number"})"},
      {{"1.5"}, R"({"type":"number"})"},
      {{"null", "true", "1"}, R"({"type":["boolean","integer","null"]})"},
      {{"\"x\""}, R"({"type":"string"})"},
      {{"\"12\""}, R"({"format":"integer","type":"string"})"},
      {{"\"12\"", "\"1.5\""}, R"({"format":"number","type":"string"})"},
      {{"\"1.5\"", "\"12\""}, R"({"format":"number","type":"string"})"},
      {{"\"12\"", "\"x\""}, R"({"type":"string"})"},
      {{"1", "\"2024-01-01\""}, R"({"format":"date","type":["integer","string"]})"},
      {{"[]"}, R"({"items":false,"type":"array"})"},
      {{"[1]", "[]", "[null]"}, R"({"items":{"type":["integer","null"]},"type":"array"})"},
      {{"{}"}, R"({"additionalProperties":false,"type":"object"})"},
      {{R"({"a":1,"b":"x"})"},
       R"({"additionalProperties":false,"properties":{"a":{"type":"integer"},"b":{"type":"string"}},"required":["a","b"],"type":"object"})"},
      {{R"({"a":1,"b":"x"})", R"({"b":null,"c":[]})"},
       R"({"additionalProperties":false,"properties":{"a":{"type":"integer"},"b":{"type":["null","string"]},"c":{"items":false,"type":"array"}},"required":["b"],"type":"object"})"},
      {{"1", R"({"a":1})"},
       R"({"additionalProperties":false,"properties":{"a":{"type":"integer"}},"required":["a"],"type":["integer","object"]})"},
  };
  for (const InferenceCase& c : cases) EXPECT_EQ(Inferred(c.documents), c.schema);
}

TEST(Shape, WhatItWasInferredFromIsValid) {
  const char* const documents[] = {R"({"a":[1,"x",{"b":null}],"c":"2024-01-01"})",
                                   R"({"a":[],"c":"x","d":1.5})", R"({"a":[{"b":[]}],"c":"1"})"};
  Shape shape;
  for (const char* document : documents) EXPECT_TRUE(Widen(shape, J(document)));
  const absl::StatusOr<Schema> schema = Schema::Compile(ToSchema(shape, TestArena()), "", {});
  ASSERT_TRUE(schema.ok()) << schema.status();
  Validator validator(*schema, kNoAnnotations);
  for (const char* document : documents) {
    EXPECT_TRUE(validator.Check(J(document)).ok()) << validator.Check(J(document));
    EXPECT_FALSE(Widen(shape, J(document))) << document;
  }
}

TEST(Shape, EverythingThatChangesItIsSeen) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"a":1})", "{}"},
      {R"({"a":1})", R"({"a":1,"b":1})"},
      {R"({"a":1})", R"({"a":1.5})"},
      {R"({"b":1})", R"({"a":1})"},
      {"\"1\"", "\"x\""},
      {"[1]", "[1,null]"},
      {"{}", "[]"},
  };
  for (const auto& [first, second] : cases) {
    Shape shape = ShapeOf(J(first));
    EXPECT_FALSE(Widen(shape, J(first))) << first;
    EXPECT_TRUE(Widen(shape, J(second))) << first << second;
    EXPECT_FALSE(Widen(shape, J(second))) << second;
    EXPECT_FALSE(Widen(shape, J(first))) << first;
  }
}

TEST(Shape, TooManyPlacesBecomeAdditionalOnesTheDeepestFirst) {
  Shape shape = ShapeOf(J(R"({"a":{"x":{"p":1,"q":"s"},"y":2},"b":3})"));
  EXPECT_EQ(CountLocations(shape), 7);
  EnforceLimits(shape, {.locations_max = 7});
  EXPECT_EQ(CountLocations(shape), 7);
  EnforceLimits(shape, {.locations_max = 6});
  EXPECT_EQ(
      SchemaText(shape),
      R"({"additionalProperties":false,"properties":{"a":{"additionalProperties":false,"properties":{"x":{"additionalProperties":{"type":["integer","string"]},"type":"object"},"y":{"type":"integer"}},"required":["x","y"],"type":"object"},"b":{"type":"integer"}},"required":["a","b"],"type":"object"})");
  EnforceLimits(shape, {.locations_max = 2});
  EXPECT_TRUE(shape.properties.empty());
  Shape deep = ShapeOf(J(R"({"a":{"b":{"c":{"d":1}}}})"));
  EnforceLimits(deep, {.depth_max = 2});
  EXPECT_EQ(CountLocations(deep), 5);
  EXPECT_TRUE(deep.properties[0].shape.properties[0].shape.properties.empty());
}

constexpr const char* kMerge = R"({"reduce":{"strategy":"jsonSchemaMerge"}})";

TEST(JsonSchemaMerge, SchemasAreUnited) {
  ExpectReductions(
      kMerge,
      {
          Same(kAbsent, R"({"type":"integer","title":"x"})", R"({"type":"integer"})"),
          Same(R"({"type":"integer"})", R"({"type":"string","format":"date"})",
               R"({"format":"date","type":["integer","string"]})"),
          Same("false", R"({"type":"null"})", R"({"type":"null"})"),
          Same("true", R"({"type":"null"})", "{}"),
          Same(
              R"({"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false})",
              R"({"type":"object","properties":{"b":{"type":"null"}},"required":["b"],"additionalProperties":false})",
              R"({"additionalProperties":false,"properties":{"a":{"type":"integer"},"b":{"type":"null"}},"type":"object"})"),
          // A name that the other side has among its additional ones.
          Same(
              R"({"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false})",
              R"({"type":"object","additionalProperties":{"type":"string"}})",
              R"({"additionalProperties":{"type":"string"},"properties":{"a":{"type":["integer","string"]}},"type":"object"})"),
          Same(
              R"({"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false})",
              R"({"type":"object"})", R"({"properties":{"a":{}},"type":"object"})"),
          // What a shape does not know leaves it wide.
          Same(kAbsent, R"({"type":"array","prefixItems":[{}],"items":false})",
               R"({"type":"array"})"),
          Same(kAbsent,
               R"({"type":"object","patternProperties":{"a":{}},"additionalProperties":false})",
               R"({"type":"object"})"),
          Same(kAbsent, R"({"$ref":"#/$defs/x"})", "{}"),
          Same("1", "true", "error: a schema is an object"),
          Same("true", "[]", "error: a schema is an object"),
          Same("true", R"({"type":"int"})", "error: there is no type"),
      });
}

TEST(JsonSchemaMerge, BoundsWiden) {
  ExpectReductions(
      kMerge,
      {
          Same(R"({"type":"integer","minimum":1,"maximum":5})",
               R"({"type":"integer","minimum":3,"maximum":9})",
               R"({"maximum":9,"minimum":1,"type":"integer"})"),
          Same(R"({"type":"integer","minimum":5})", R"({"type":"number","minimum":5.0})",
               R"({"minimum":5.0,"type":"number"})"),
          Same(R"({"type":"number","minimum":5.0})", R"({"type":"integer","minimum":5})",
               R"({"minimum":5.0,"type":"number"})"),
          Same(R"({"type":"integer","minimum":5})", R"({"type":"integer"})",
               R"({"type":"integer"})"),
          Same(R"({"type":"integer","minimum":5})", R"({"type":"null"})",
               R"({"minimum":5,"type":["integer","null"]})"),
          Same(R"({"type":"string","minLength":2,"maxLength":3})",
               R"({"type":"string","maxLength":10})", R"({"maxLength":10,"type":"string"})"),
      });
}

TEST(JsonSchemaMerge, TheLimitIsThatOfTheNewerSide) {
  const char* const wide =
      R"({"type":"object","additionalProperties":false,"properties":{"a":{"type":"integer"},"b":{"type":"null"}},"x-complexity-limit":2})";
  ExpectReductions(
      kMerge,
      {
          Same(
              "false", wide,
              R"({"additionalProperties":{"type":["integer","null"]},"type":"object","x-complexity-limit":2})"),
          Same(
              wide, "false",
              R"({"additionalProperties":false,"properties":{"a":{"type":"integer"},"b":{"type":"null"}},"type":"object","x-complexity-limit":2})"),
          Same("false", R"({"x-complexity-limit":0})", "error: 1 to 100000"),
          Same("false", R"({"x-complexity-limit":100001})", "error: 1 to 100000"),
      });
  std::string many = R"({"type":"object","additionalProperties":false,"properties":{)";
  for (int i = 0; i < 1000; ++i)
    StrAppend(&many, i > 0 ? "," : "", "\"k", i, "\":{\"type\":\"null\"}");
  many += "}}";
  ExpectReductions(kMerge, {Same(kAbsent, many.c_str(),
                                 R"({"additionalProperties":{"type":"null"},"type":"object"})")});
}

TEST(JsonSchemaMerge, ANewerGenerationReplacesAnOlderOne) {
  const char* const one = R"({"type":"integer","x-collection-generation-id":"00ff"})";
  const char* const two = R"({"type":"null","x-collection-generation-id":"0100"})";
  ExpectReductions(kMerge,
                   {
                       Same(one, two, R"({"type":"null","x-collection-generation-id":"0100"})"),
                       Same(two, one, two),
                       Same(one, R"({"type":"null","x-collection-generation-id":"00ff"})",
                            R"({"type":["integer","null"],"x-collection-generation-id":"00ff"})"),
                       Same(one, R"({"type":"null"})",
                            R"({"type":["integer","null"],"x-collection-generation-id":"00ff"})"),
                       Same(R"({"type":"null"})", one,
                            R"({"type":["integer","null"],"x-collection-generation-id":"00ff"})"),
                   });
}

}  // namespace
}  // namespace fjord::doc
