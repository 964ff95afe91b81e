#include "doc/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "base/status.h"
#include "doc/serialize.h"
#include "doc/test_support.h"
#include "doc/validator.h"

namespace fjord::doc {
namespace {

using ::testing::HasSubstr;

// A schema, what it takes, and what it does not.
struct SchemaCase {
  const char* schema;
  std::vector<const char*> valid;
  std::vector<const char*> invalid;
};

constexpr const char* kDraft7 = "http://json-schema.org/draft-07/schema#";
constexpr const char* k2019 = "https://json-schema.org/draft/2019-09/schema";
constexpr const char* k2020 = "https://json-schema.org/draft/2020-12/schema";

std::string WithDialect(const std::string& schema, const std::string& dialect) {
  if (schema.front() != '{') return schema;
  return "{\"$schema\":\"" + dialect + "\"" + (schema == "{}" ? "" : ",") + schema.substr(1);
}

void Check(const SchemaCase& c, const char* dialect) {
  const absl::StatusOr<Schema> schema =
      Schema::Compile(J(WithDialect(c.schema, dialect)), "file:///s", {});
  ASSERT_TRUE(schema.ok()) << schema.status() << " " << c.schema;
  for (const uint8_t wanted : {kNoAnnotations, kAllAnnotations}) {
    Validator validator(*schema, wanted);
    for (const char* text : c.valid) {
      EXPECT_TRUE(validator.Validate(J(text))) << c.schema << " " << text << " " << dialect;
      EXPECT_TRUE(validator.Explain(J(text)).empty()) << c.schema << " " << text;
    }
    for (const char* text : c.invalid) {
      EXPECT_FALSE(validator.Validate(J(text))) << c.schema << " " << text << " " << dialect;
      EXPECT_FALSE(validator.Explain(J(text)).empty()) << c.schema << " " << text;
    }
  }
}

void CheckAll(std::initializer_list<SchemaCase> cases,
              std::initializer_list<const char*> dialects) {
  for (const SchemaCase& c : cases) {
    for (const char* dialect : dialects) Check(c, dialect);
  }
}

TEST(Schema, ValuesOfEveryDialect) {
  CheckAll(
      {
          {"true", {"1", "{}"}, {}},
          {"false", {}, {"1", "{}", "null"}},
          {"{}", {"1", "{}"}, {}},
          {R"({"type":"integer"})",
           {"1", "1.0", "-3", "1e3", "18446744073709551616"},
           {"1.5", "\"1\"", "true", "null"}},
          {R"({"type":"number"})", {"1", "1.5", "0.30000000000000000004"}, {"\"1\"", "null"}},
          {R"({"type":["string","null"]})", {"\"\"", "null"}, {"1", "[]", "{}"}},
          {R"({"type":"boolean"})", {"true", "false"}, {"0", "\"true\""}},
          {R"({"type":"array"})", {"[]"}, {"{}", "\"[]\""}},
          {R"({"type":"object"})", {"{}"}, {"[]", "null"}},
          {R"({"const":{"a":[1,2]}})", {R"({"a":[1.0,2]})"}, {R"({"a":[2,1]})", "{}"}},
          {R"({"const":0})", {"0", "0.0", "-0.0"}, {"false", "[]", "null"}},
          {R"({"enum":[1,"a",null,[false]]})",
           {"1.0", "\"a\"", "null", "[false]"},
           {"[0]", "0", "\"b\""}},
          {R"({"minimum":1.1})", {"1.1", "2", "\"x\""}, {"1", "0.6"}},
          {R"({"maximum":9007199254740993})",
           {"9007199254740993", "9007199254740992.0"},
           {"9007199254740994"}},
          {R"({"exclusiveMinimum":3,"exclusiveMaximum":5})",
           {"4", "3.0001"},
           {"3", "5", "3.0", "6"}},
          {R"({"multipleOf":0.01})",
           {"0", "4.5", "0.0075e2", "1e308"},
           {"0.001", "0.0075", "19.999"}},
          {R"({"multipleOf":2})", {"4", "\"x\"", "-10", "18446744073709551616"}, {"7"}},
          {R"({"minLength":2,"maxLength":3})",
           {"\"ab\"", "\"ääb\"", "\"😀😀\"", "1"},
           {"\"a\"", "\"😀\"", "\"abcd\"", "\"ääää\""}},
          {R"({"pattern":"^a*$"})", {"\"\"", "\"aaa\"", "1"}, {"\"ab\""}},
          {R"({"pattern":"a+"})", {"\"xxaayy\""}, {"\"b\""}},
          {R"({"minItems":1,"maxItems":2})", {"[1]", "[1,2]", "\"\""}, {"[]", "[1,2,3]"}},
          {R"({"uniqueItems":true})",
           {"[1,2]", "[1,true]", "[[1],[2]]", "[{\"a\":1},{\"a\":2}]", "[\"1\",1]",
            "[1,2,3,4,5,6,7,8,9,10]"},
           {"[1,1.0]", "[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}]", "[1,2,3,4,5,6,7,8,9,10,2]"}},
          {R"({"uniqueItems":false})", {"[1,1]"}, {}},
          {R"({"minProperties":1,"maxProperties":2})",
           {"{\"a\":1}"},
           {"{}", R"({"a":1,"b":2,"c":3})"}},
          {R"({"minLength":2.0})", {"\"ab\""}, {"\"a\""}},
          {R"({"unknown":{"type":"integer"}})", {"\"x\""}, {}},
      },
      {kDraft7, k2019, k2020});
}

TEST(Schema, MembersOfEveryDialect) {
  CheckAll(
      {
          {R"({"required":["b","a"]})",
           {R"({"a":1,"b":null})", "[]", R"({"a":0,"aa":0,"b":0,"c":0})"},
           {"{}", R"({"a":1})", R"({"b":1})", R"({"A":1,"B":1})"}},
          {R"({"properties":{"a":{"type":"integer"},"b":false,"c":{}},"required":["c"]})",
           {R"({"a":1,"c":0})", R"({"c":0,"x":"y"})"},
           {R"({"a":"1","c":0})", R"({"b":1,"c":0})", R"({"a":1})"}},
          {R"({"properties":{"a":{}},"patternProperties":{"^v":{"type":"array"}},"additionalProperties":{"type":"integer"}})",
           {R"({"a":"x","vroom":[],"z":1})"},
           {R"({"z":"x"})", R"({"v":1})"}},
          {R"({"properties":{"a":{"maxItems":1}},"patternProperties":{"a":{"minItems":1}}})",
           {R"({"a":[1]})"},
           {R"({"a":[]})", R"({"a":[1,2]})"}},
          {R"({"required":["a"],"additionalProperties":false})", {}, {R"({"a":1})", "{}"}},
          {R"({"propertyNames":{"maxLength":3,"pattern":"^a"}})",
           {R"({"abc":1})", "{}", "[]"},
           {R"({"abcd":1})", R"({"b":1})"}},
          {R"({"propertyNames":false})", {"{}"}, {R"({"a":1})"}},
          {R"({"patternProperties":{"a+":true,"b+":false}})",
           {R"({"a":1})"},
           {R"({"ab":1})", R"({"b":1})"}},
      },
      {kDraft7, k2019, k2020});
}

TEST(Schema, CombinationsOfEveryDialect) {
  CheckAll(
      {
          {R"({"allOf":[{"minimum":3},{"maximum":5}]})", {"4"}, {"2", "6"}},
          {R"({"anyOf":[{"type":"string"},{"minimum":2}]})", {"\"a\"", "2"}, {"1"}},
          {R"({"oneOf":[{"type":"integer"},{"minimum":2}]})", {"1", "2.5"}, {"3", "1.5"}},
          {R"({"oneOf":[true,true,true]})", {}, {"1"}},
          {R"({"not":{"type":"integer"}})", {"\"a\"", "1.5"}, {"1"}},
          {R"({"not":{}})", {}, {"1"}},
          {R"({"not":{"not":{"type":"integer"}}})", {"1"}, {"\"a\""}},
          {R"({"if":{"exclusiveMaximum":0},"then":{"minimum":-10},"else":{"multipleOf":2}})",
           {"-1", "4"},
           {"-100", "3"}},
          {R"({"then":{"const":0},"else":{"const":1}})", {"7"}, {}},
          {R"({"if":{"const":1},"else":{"const":2}})", {"1", "2"}, {"3"}},
          {R"({"contains":{"minimum":5}})", {"[3,5]", "{}"}, {"[]", "[1,2]"}},
          {R"({"contains":false})", {"{}"}, {"[]", "[1]"}},
          {R"({"definitions":{"a":{"type":"integer"},"b":{"$ref":"#/definitions/a"}},"allOf":[{"$ref":"#/definitions/b"}]})",
           {"1"},
           {"\"a\""}},
          {R"({"properties":{"foo":{"$ref":"#"}},"additionalProperties":false})",
           {R"({"foo":{"foo":{}}})"},
           {R"({"foo":{"bar":1}})"}},
          {R"({"definitions":{"a~b/c%d":{"type":"integer"}},"properties":{"x":{"$ref":"#/definitions/a~0b~1c%25d"}}})",
           {R"({"x":1})"},
           {R"({"x":"1"})"}},
          {R"({"properties":{"$ref":{"type":"string"}}})", {R"({"$ref":"a"})"}, {R"({"$ref":1})"}},
          {R"({"properties":{"a":{"$ref":"#/x-parts/0"}},"x-parts":[{"type":"integer"}]})",
           {R"({"a":1})"},
           {R"({"a":"1"})"}},
          {R"({"$id":"http://x.test/root.json","properties":{"n":{"$ref":"node.json"}},"definitions":{"n":{"$id":"node.json","type":"object","properties":{"v":{"$ref":"#/definitions/v"}},"definitions":{"v":{"type":"integer"}}}}})",
           {R"({"n":{"v":1}})"},
           {R"({"n":{"v":"1"}})", R"({"n":1})"}},
      },
      {kDraft7, k2019, k2020});
}

TEST(Schema, WhatDraft7Says) {
  CheckAll(
      {
          {R"({"items":[{"type":"integer"},{"type":"string"}],"additionalItems":false})",
           {"[1,\"a\"]", "[1]", "[]"},
           {"[\"a\"]", "[1,\"a\",2]"}},
          {R"({"items":{"type":"integer"},"additionalItems":false})", {"[1,2]"}, {"[\"a\"]"}},
          {R"({"additionalItems":false})", {"[1]"}, {}},
          {R"({"dependencies":{"a":["b"],"c":{"required":["d"]}}})",
           {R"({"a":1,"b":1})", R"({"c":1,"d":1})", "{}"},
           {R"({"a":1})", R"({"c":1})"}},
          {R"({"definitions":{"a":{"type":"integer"}},"properties":{"x":{"$ref":"#/definitions/a","maximum":3}}})",
           {R"({"x":5})"},
           {R"({"x":"a"})"}},
          {R"({"definitions":{"a":{"$id":"#here","type":"integer"}},"properties":{"x":{"$ref":"#here"}}})",
           {R"({"x":5})"},
           {R"({"x":"a"})"}},
          {R"({"prefixItems":[{"type":"string"}],"dependentRequired":{"a":["b"]},"unevaluatedProperties":false})",
           {"[1]", R"({"a":1})"},
           {}},
      },
      {kDraft7});
}

TEST(Schema, What2019And2020Say) {
  CheckAll(
      {
          {R"({"dependentRequired":{"a":["b"]},"dependentSchemas":{"c":{"required":["d"]}}})",
           {R"({"a":1,"b":1})", R"({"c":1,"d":1})"},
           {R"({"a":1})", R"({"c":1})"}},
          {R"({"contains":{"const":1},"minContains":2,"maxContains":3})",
           {"[1,1]", "[1,1,1,2]"},
           {"[1]", "[1,1,1,1]"}},
          {R"({"contains":{"const":1},"minContains":0})", {"[]", "[2]"}, {}},
          {R"({"minContains":2})", {"[]"}, {}},
          {R"({"$defs":{"a":{"type":"integer"}},"$ref":"#/$defs/a","maximum":3})",
           {"3"},
           {"5", "\"a\""}},
          {R"({"$defs":{"a":{"$anchor":"here","type":"integer"}},"$ref":"#here"})",
           {"3"},
           {"\"a\""}},
          {R"({"properties":{"a":true},"unevaluatedProperties":false})",
           {R"({"a":1})"},
           {R"({"b":1})"}},
          {R"({"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false})",
           {R"({"a":1})"},
           {R"({"b":1})"}},
          {R"({"anyOf":[{"properties":{"a":{"const":1}},"required":["a"]},{"properties":{"b":{"const":1}},"required":["b"]}],"unevaluatedProperties":false})",
           {R"({"a":1})", R"({"a":1,"b":1})"},
           {R"({"a":1,"b":2})", R"({"a":1,"c":1})"}},
          {R"({"if":{"properties":{"a":{"const":1}},"required":["a"]},"then":{"properties":{"b":true}},"else":{"properties":{"c":true}},"unevaluatedProperties":false})",
           {R"({"a":1,"b":1})", R"({"c":1})"},
           {R"({"a":1,"c":1})", R"({"b":1})", R"({"a":2})"}},
          {R"({"$ref":"#/$defs/x","properties":{"a":true},"unevaluatedProperties":{"type":"integer"},"$defs":{"x":{"patternProperties":{"^p":true}}}})",
           {R"({"a":"x","p1":"x","z":1})"},
           {R"({"z":"x"})"}},
          {R"({"not":{"not":{"properties":{"a":true}}},"unevaluatedProperties":false})",
           {"{}"},
           {R"({"a":1})"}},
          {R"({"allOf":[{"unevaluatedProperties":true}],"unevaluatedProperties":false})",
           {R"({"a":1})"},
           {}},
          {R"({"allOf":[{"properties":{"a":true}},{"unevaluatedProperties":false}]})",
           {"{}"},
           {R"({"a":1})"}},
          {R"({"dependentSchemas":{"a":{"properties":{"b":true}}},"properties":{"a":true},"unevaluatedProperties":false})",
           {R"({"a":1,"b":1})"},
           {R"({"b":1})"}},
          {R"({"unevaluatedItems":false})", {"[]"}, {"[1]"}},
          {R"({"allOf":[{"items":{"type":"integer"}}],"unevaluatedItems":false})",
           {"[1,2]"},
           {"[\"a\"]"}},
          {R"({"$recursiveAnchor":true,"dependencies":{"a":["b"]}})", {R"({"a":1})"}, {}},
      },
      {k2019, k2020});
}

TEST(Schema, What2019AloneSays) {
  CheckAll(
      {
          {R"({"items":[{"type":"integer"}],"unevaluatedItems":false})", {"[1]"}, {"[1,2]"}},
          {R"({"items":[{"type":"integer"}],"additionalItems":{"type":"string"},"unevaluatedItems":false})",
           {"[1,\"a\"]"},
           {"[1,2]"}},
          {R"({"contains":{"const":1},"unevaluatedItems":false})", {}, {"[1]"}},
          {R"({"properties":{"a":{"$recursiveRef":"#"}},"additionalProperties":false})",
           {R"({"a":{"a":{}}})"},
           {R"({"a":{"b":1}})"}},
          // The extension of a tree is what its branches are.
          {R"({"$id":"http://x.test/strict","$recursiveAnchor":true,"$ref":"tree","unevaluatedProperties":false,
               "$defs":{"t":{"$id":"tree","$recursiveAnchor":true,"type":"object","properties":{"data":true,"children":{"items":{"$recursiveRef":"#"}}}}}})",
           {R"({"data":1,"children":[{"data":2}]})"},
           {R"({"children":[{"daat":1}]})"}},
      },
      {k2019});
}

TEST(Schema, What2020AloneSays) {
  CheckAll(
      {
          {R"({"prefixItems":[{"type":"integer"}],"items":{"type":"string"}})",
           {"[1,\"a\"]", "[]"},
           {"[\"a\"]", "[1,2]"}},
          {R"({"prefixItems":[{"type":"integer"}],"items":false})", {"[1]"}, {"[1,2]"}},
          {R"({"prefixItems":[true],"unevaluatedItems":false})", {"[1]"}, {"[1,2]"}},
          {R"({"contains":{"const":1},"unevaluatedItems":{"const":2}})", {"[1,2,1]"}, {"[1,3]"}},
          {R"({"$id":"http://x.test/strict","$dynamicAnchor":"node","$ref":"tree","unevaluatedProperties":false,
               "$defs":{"t":{"$id":"tree","$dynamicAnchor":"node","type":"object","properties":{"data":true,"children":{"items":{"$dynamicRef":"#node"}}}}}})",
           {R"({"data":1,"children":[{"data":2}]})"},
           {R"({"children":[{"daat":1}]})"}},
          // Without a dynamic anchor at its end, or with a pointer, it is a plain reference.
          {R"({"$defs":{"a":{"$anchor":"x","type":"integer"}},"$dynamicRef":"#x"})",
           {"1"},
           {"\"a\""}},
          {R"({"$id":"http://x.test/list","$ref":"generic","$defs":{
               "strings":{"$dynamicAnchor":"item","type":"string"},
               "generic":{"$id":"generic","items":{"$dynamicRef":"#item"},"$defs":{"any":{"$dynamicAnchor":"item"}}}}})",
           {"[\"a\"]"},
           {"[1]"}},
      },
      {k2020});
}

TEST(Schema, OtherSchemasAreReachedByTheirUri) {
  SchemaOptions options;
  options.others.emplace(
      "http://x.test/types.json",
      J(R"({"$defs":{"n":{"type":"integer"}},"properties":{"up":{"$ref":"root.json"}}})"));
  const absl::StatusOr<Schema> schema = Schema::Compile(
      J(R"({"properties":{"a":{"$ref":"types.json#/$defs/n"},"b":{"$ref":"types.json"}}})"),
      "http://x.test/root.json", options);
  ASSERT_TRUE(schema.ok()) << schema.status();
  Validator validator(*schema, kNoAnnotations);
  EXPECT_TRUE(validator.Validate(J(R"({"a":1,"b":{"up":{"a":2}}})")));
  EXPECT_FALSE(validator.Validate(J(R"({"b":{"up":{"a":"x"}}})")));
}

TEST(Schema, MistakesNameThePlace) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"type":"int"})", "\"int\""},
      {R"({"properties":{"a":{"minimum":"x"}}})", "s#/properties/a: \"minimum\""},
      {R"({"$ref":"other.json"})", "there is no schema file:///other.json"},
      {R"({"$ref":"#/$defs/x"})", "there is nothing at"},
      {R"({"$ref":"#x"})", "no anchor \"x\""},
      {R"j({"pattern":"(?=a)"})j", "linear time"},
      {R"({"patternProperties":{"(a)\\1":true}})", "linear time"},
      {R"({"properties":{"a":1}})", "a schema is an object, true or false"},
      {R"({"minLength":-1})", "0 or more"},
      {R"({"multipleOf":0})", "above 0"},
      {R"({"allOf":[]})", "list of schemas"},
      {R"({"required":[1]})", "list of names"},
      {R"({"reduce":{"strategy":"summ"}})", "did you mean \"sum\""},
      {R"({"reduce":{"strategy":"merge","keys":["/a"]}})", "did you mean \"key\""},
      {R"({"reduce":{"strategy":"merge","key":["a"]}})", "begin with /"},
      {R"({"reduce":"sum"})", "{\"strategy\": NAME"},
      {R"({"redact":{"strategy":"md5"}})", "sha256"},
  };
  for (const auto& [text, expected] : cases) {
    const absl::StatusOr<Schema> schema = Schema::Compile(J(text), "file:///s", {});
    EXPECT_THAT(std::string(Message(schema.status())), HasSubstr(expected)) << text;
  }
}

TEST(Schema, AReferenceToItselfDoesNotRunForEver) {
  for (const char* text :
       {R"({"$ref":"#"})", R"({"anyOf":[{"$ref":"#"},{"$ref":"#"}]})", R"({"not":{"$ref":"#"}})"}) {
    const absl::StatusOr<Schema> schema = Schema::Compile(J(text), "", {});
    ASSERT_TRUE(schema.ok());
    EXPECT_THAT(std::string(Message(Validator(*schema, kAllAnnotations).Check(J("1")))),
                HasSubstr("without end"));
  }
}

TEST(Validator, ErrorsHaveThePlaceInTheDocumentAndInTheSchema) {
  const absl::StatusOr<Schema> schema =
      Schema::Compile(J(R"({"properties":{"a":{"items":{"$ref":"#/$defs/n"}},"b":{"type":"string"}},
            "required":["c","d"],"$defs":{"n":{"minimum":3}}})"),
                      "file:///s.yaml", {});
  ASSERT_TRUE(schema.ok());
  Validator validator(*schema, kNoAnnotations);
  std::vector<std::string> found;
  for (const SchemaError& error : validator.Explain(J(R"({"a":[5,1,2],"b":0,"c":0})"))) {
    found.push_back(error.instance_path + " | " + error.schema_path + " | " + error.message);
  }
  EXPECT_THAT(
      found, testing::ElementsAre(
                 "/a/1 | file:///s.yaml#/$defs/n/minimum | 1 does not satisfy \"minimum\": 3",
                 "/a/2 | file:///s.yaml#/$defs/n/minimum | 2 does not satisfy \"minimum\": 3",
                 "/b | file:///s.yaml#/properties/b/type | 0 does not satisfy \"type\": \"string\"",
                 " | file:///s.yaml#/required | misses d"));
  EXPECT_THAT(std::string(Message(validator.Check(J(R"({"a":[1]})")))),
              HasSubstr("at \"/a/0\", 1 does not satisfy"));
  EXPECT_TRUE(validator.Check(J(R"({"c":1,"d":1})")).ok());
}

// "place: title" of each annotation, in the order of validation.
std::vector<std::string> Titles(const char* schema_text, const char* document_text) {
  const absl::StatusOr<Schema> schema = Schema::Compile(J(schema_text), "", {});
  const Value document = J(document_text);
  Validator validator(*schema, kAllAnnotations);
  EXPECT_TRUE(validator.Validate(document));
  std::vector<std::string> titles;
  for (const Annotation& annotation : validator.annotations()) {
    titles.push_back(ToJson(*annotation.place) + ": " +
                     std::string(annotation.annotations->source->Find("title")->text()));
  }
  return titles;
}

TEST(Validator, OnlyWhatValidatedSaysSomething) {
  EXPECT_THAT(
      Titles(
          R"({"title":"root","properties":{"a":{"title":"a","items":{"title":"item"}},"b":{"title":"b"}}})",
          R"({"a":[1,2],"c":3})"),
      testing::UnorderedElementsAre("{\"a\":[1,2],\"c\":3}: root", "[1,2]: a", "1: item",
                                    "2: item"));
  EXPECT_THAT(
      Titles(R"({"anyOf":[{"title":"x","minimum":1},{"title":"y","minimum":5},{"title":"z"}]})",
             "3"),
      testing::UnorderedElementsAre("3: x", "3: z"));
  EXPECT_THAT(
      Titles(
          R"({"oneOf":[{"title":"x","properties":{"k":{"const":1,"title":"one"}}},{"title":"y","properties":{"k":{"const":2,"title":"two"}}}]})",
          R"({"k":2})"),
      testing::UnorderedElementsAre("{\"k\":2}: y", "2: two"));
  EXPECT_THAT(
      Titles(R"({"if":{"title":"if","minimum":5},"then":{"title":"then"},"else":{"title":"else"}})",
             "3"),
      testing::ElementsAre("3: else"));
  EXPECT_THAT(
      Titles(R"({"not":{"title":"not","minItems":5},"contains":{"title":"small","maximum":1}})",
             "[1,2]"),
      testing::ElementsAre("1: small"));
  EXPECT_THAT(Titles(R"({"propertyNames":{"title":"name"}})", R"({"a":1})"), testing::IsEmpty());
  EXPECT_THAT(Titles(R"({"allOf":[{"$ref":"#/$defs/t"}],"$defs":{"t":{"title":"t"}}})", "1"),
              testing::ElementsAre("1: t"));
}

TEST(Validator, AnnotationsAreThoseThatWereWanted) {
  const absl::StatusOr<Schema> schema = Schema::Compile(
      J(R"({"properties":{"a":{"reduce":{"strategy":"sum"}},"b":{"reduce":{"strategy":"sum"}},
            "c":{"redact":{"strategy":"block"}},"d":{"secret":true,"default":5},"e":{"x-own":1}}})"),
      "", {});
  ASSERT_TRUE(schema.ok()) << schema.status();
  const Value document = J(R"({"a":1,"b":2,"c":3,"d":4,"e":5})");
  Validator reduce(*schema, kReduceAnnotations);
  ASSERT_TRUE(reduce.Validate(document));
  ASSERT_EQ(reduce.annotations().size(), 2);
  EXPECT_EQ(reduce.annotations()[0].annotations->reduce->kind, Strategy::Kind::kSum);
  EXPECT_EQ(reduce.annotations()[0].annotations->reduce,
            reduce.annotations()[1].annotations->reduce);
  EXPECT_EQ(reduce.annotations()[0].place, document.Find("a"));

  Validator other(*schema, kRedactAnnotations | kDefaultAnnotations | kOtherAnnotations);
  ASSERT_TRUE(other.Validate(document));
  ASSERT_EQ(other.annotations().size(), 3);
  EXPECT_EQ(other.annotations()[0].annotations->redact, Redaction::kBlock);
  EXPECT_TRUE(other.annotations()[1].annotations->secret);
  EXPECT_EQ(other.annotations()[1].annotations->default_value->as_int(), 5);
}

}  // namespace
}  // namespace fjord::doc
