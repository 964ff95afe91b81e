#include <gtest/gtest.h>

#include "doc/reduction_test_support.h"

namespace fjord::doc {
namespace {

TEST(Merge, ObjectsMemberByMember) {
  ExpectReductions(
      R"({"reduce":{"strategy":"merge"},"properties":{"n":{"reduce":{"strategy":"sum"}},"o":{"reduce":{"strategy":"merge"}}}})",
      {
          Same(R"({"a":1,"n":1})", R"({"b":2,"n":2})", R"({"a":1,"b":2,"n":3})"),
          Same("{}", R"({"n":2})", R"({"n":2})"),
          Same(R"({"n":2})", "{}", R"({"n":2})"),
          Same(kAbsent, R"({"n":"2.0","x":[1]})", R"({"n":"2","x":[1]})"),
          Same(R"({"o":{"x":1},"p":{"x":1}})", R"({"o":{"y":2},"p":{"y":2}})",
               R"({"o":{"x":1,"y":2},"p":{"y":2}})"),
          // Another type is there: only with everything at hand can it be replaced.
          {"[1]", R"({"n":2})", kBoth, R"({"n":2})"},
          {"null", R"({"n":2})", kBoth, R"({"n":2})"},
          {R"({"o":5})", R"({"o":{"x":1}})", kBoth, R"({"o":{"x":1}})"},
          Same(R"({"n":1})", "1", "error: merge takes objects and arrays, not integer"),
          Same(kAbsent, "null", "error: merge takes"),
      });
}

TEST(Merge, ArraysByIndex) {
  ExpectReductions(R"({"reduce":{"strategy":"merge"},"items":{"reduce":{"strategy":"sum"}}})",
                   {
                       Same("[1,2,3]", "[10,20]", "[11,22,3]"),
                       Same("[1]", "[10,20]", "[11,20]"),
                       Same("[]", "[1]", "[1]"),
                       Same(kAbsent, "[\"1.0\"]", "[\"1\"]"),
                       {"{}", "[1]", kBoth, "[1]"},
                       Same("[1]", "[\"x\"]", "error: \"/0\""),
                   });
}

TEST(Merge, SortedArraysByTheirKey) {
  ExpectReductions(
      R"({"reduce":{"strategy":"merge","key":["/k"]},"items":{"reduce":{"strategy":"merge"},"properties":{"n":{"reduce":{"strategy":"sum"}}}}})",
      {
          Same(R"([{"k":1,"n":1},{"k":3,"n":1}])", R"([{"k":2,"n":1},{"k":3,"n":5,"x":0}])",
               R"([{"k":1,"n":1},{"k":2,"n":1},{"k":3,"n":6,"x":0}])"),
          Same("[]", R"([{"k":2}])", R"([{"k":2}])"),
          Same(R"([{"k":2}])", "[]", R"([{"k":2}])"),
          // Without a key comes first.
          Same(R"([{"k":null,"n":1}])", R"([{"n":1}])", R"([{"n":1},{"k":null,"n":1}])"),
          Same(kAbsent, R"([{"k":1},{"k":2}])", R"([{"k":1},{"k":2}])"),
          Same("[]", R"([{"k":2},{"k":1}])", "error: sorted"),
          Same("[]", R"([{"k":2},{"k":2}])", "error: sorted"),
          Same(R"([{"k":2},{"k":1}])", "[]", "error: older array is not sorted"),
      });
  ExpectReductions(R"({"reduce":{"strategy":"merge","key":[""]}})",
                   {
                       Same("[1,3,\"b\"]", "[2,3.0,\"a\"]", "[1,2,3.0,\"a\",\"b\"]"),
                       Same("[[1,2]]", "[[1,1]]", "[[1,1],[1,2]]"),
                       Same("[1]", "[2,1]", "error: sorted"),
                   });
  ExpectReductions(
      R"({"reduce":{"strategy":"merge","key":["/a","/b"]},"items":{"reduce":{"strategy":"merge"}}})",
      {Same(R"([{"a":1,"b":2,"x":1},{"a":2,"b":1}])", R"([{"a":1,"b":2,"y":1},{"a":1,"b":3}])",
            R"([{"a":1,"b":2,"x":1,"y":1},{"a":1,"b":3},{"a":2,"b":1}])")});
}

TEST(Merge, DeleteActsInFullReductionsOnly) {
  ExpectReductions(R"({"reduce":{"strategy":"merge","delete":true}})",
                   {{R"({"a":1})", R"({"b":2})", kBoth, kDeleted},
                    {kAbsent, R"({"b":2})", R"({"b":2})", kDeleted},
                    Same(kAbsent, "1", "error: merge takes")});
  const char* const items =
      R"({"reduce":{"strategy":"merge","key":["/k"]},
          "items":{"if":{"required":["gone"]},"then":{"reduce":{"strategy":"merge","delete":true}},"else":{"reduce":{"strategy":"merge"}}}})";
  ExpectReductions(
      items,
      {{R"([{"k":1,"n":1},{"k":2}])", R"([{"gone":true,"k":1}])",
        R"([{"gone":true,"k":1,"n":1},{"k":2}])", R"([{"k":2}])"},
       {R"([{"k":2}])", R"([{"gone":true,"k":1},{"k":3}])",
        R"([{"gone":true,"k":1},{"k":2},{"k":3}])", R"([{"k":2},{"k":3}])"},
       // Onto an item that is to be deleted nothing is merged; beside it, it is.
       {R"([{"gone":true,"k":1}])", R"([{"k":1,"n":1}])", kBoth, R"([{"gone":true,"k":1,"n":1}])"},
       Same(R"([{"gone":true,"k":1}])", R"([{"k":2}])", R"([{"gone":true,"k":1},{"k":2}])")});
  ExpectReductions(
      R"({"reduce":{"strategy":"merge"},"items":{"if":{"const":null},"then":{"reduce":{"strategy":"lastWriteWins","delete":true}}}})",
      {{"[1,2,3]", "[9,null]", "[9,null,3]", "[9,3]"}, {kAbsent, "[null,1]", "[null,1]", "[1]"}});
}

TEST(Merge, ReplacingAnotherTypeRunsTheDeletesOfTheNewValue) {
  ExpectReductions(
      R"({"reduce":{"strategy":"merge"},"properties":{"o":{"reduce":{"strategy":"merge"},"properties":{"x":{"if":{"const":null},"then":{"reduce":{"strategy":"lastWriteWins","delete":true}}}}}}})",
      {{R"({"o":7})", R"({"o":{"x":null,"y":1}})", kBoth, R"({"o":{"y":1}})"},
       {R"({"a":1})", R"({"o":{"x":null,"y":1}})", R"({"a":1,"o":{"x":null,"y":1}})",
        R"({"a":1,"o":{"y":1}})"}});
}

TEST(Merge, AMergePatchCanBeWritten) {
  // RFC 7396: objects merge, null deletes, everything else replaces.
  const char* const patch =
      R"({"$anchor":"patch","if":{"type":"object"},
          "then":{"reduce":{"strategy":"merge"},"additionalProperties":{"$ref":"#patch"}},
          "else":{"if":{"type":"null"},"then":{"reduce":{"strategy":"lastWriteWins","delete":true}}}})";
  const absl::StatusOr<Schema> schema = Schema::Compile(J(patch), "", {});
  ASSERT_TRUE(schema.ok());
  const char* const cases[][3] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", "{}"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":"foo"})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
      {R"({"e":null})", R"({"a":1})", R"({"a":1,"e":null})"},
      {"{}", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  };
  for (const auto& [lhs, rhs, expected] : cases) {
    EXPECT_EQ(ReduceTexts(*schema, lhs, rhs, ReduceMode::kFull), expected) << lhs << rhs;
  }
}

}  // namespace
}  // namespace fjord::doc
