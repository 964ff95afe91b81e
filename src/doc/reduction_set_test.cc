#include <gtest/gtest.h>

#include "doc/reduction_test_support.h"

namespace fjord::doc {
namespace {

// Entries [key, count]: equal keys sum their counts.
constexpr const char* kArrays =
    R"({"reduce":{"strategy":"set","key":["/0"]},"additionalProperties":{"items":{"reduce":{"strategy":"merge"},"items":[{},{"reduce":{"strategy":"sum"}}]}},"$schema":"https://json-schema.org/draft/2019-09/schema"})";
constexpr const char* kObjects =
    R"({"reduce":{"strategy":"set"},"additionalProperties":{"additionalProperties":{"reduce":{"strategy":"sum"}}}})";

TEST(Set, ArraysByTheirKey) {
  ExpectReductions(kArrays,
                   {
                       {R"({"add":[[55,1]]})", R"({"add":[[99,1]]})", R"({"add":[[55,1],[99,1]]})",
                        R"({"add":[[55,1],[99,1]]})"},
                       {R"({"add":[[55,1],[99,1]]})", R"({"add":[[22,1],[55,1]],"remove":[[99]]})",
                        R"({"add":[[22,1],[55,2]],"remove":[[99]]})", R"({"add":[[22,1],[55,2]]})"},
                       Same("{}", R"({"add":[[2],[1]]})", "error: sorted"),
                       Same("{}", R"({"add":[[1],[1]]})", "error: sorted"),
                   });
}

TEST(Set, EveryRowOfTheTruthTable) {
  ExpectReductions(
      kObjects,
      {
          // intersect, add · intersect, add
          {R"({"add":{"a":1,"b":1},"intersect":{"x":0,"y":0}})",
           R"({"add":{"b":1,"c":1},"intersect":{"b":0,"y":0,"z":0}})",
           R"({"add":{"b":2,"c":1},"intersect":{"y":0}})", R"({"add":{"b":2,"c":1}})"},
          // intersect, add · remove, add
          {R"({"add":{"a":1,"b":1},"intersect":{"x":0,"y":0}})",
           R"({"add":{"c":1},"remove":{"a":0,"y":0,"z":0}})",
           R"({"add":{"b":1,"c":1},"intersect":{"x":0}})", R"({"add":{"b":1,"c":1}})"},
          // intersect, add · add
          {R"({"add":{"a":1},"intersect":{"x":0}})", R"({"add":{"a":1,"c":1}})",
           R"({"add":{"a":2,"c":1},"intersect":{"x":0}})", R"({"add":{"a":2,"c":1}})"},
          // remove, add · intersect, add
          {R"({"add":{"a":1,"b":1},"remove":{"x":0,"y":0}})",
           R"({"add":{"c":1},"intersect":{"a":0,"y":0,"z":0}})",
           R"({"add":{"a":1,"c":1},"intersect":{"a":0,"z":0}})", R"({"add":{"a":1,"c":1}})"},
          // add · intersect, add
          {R"({"add":{"a":1,"b":1}})", R"({"add":{"c":1},"intersect":{"a":0,"z":0}})",
           R"({"add":{"a":1,"c":1},"intersect":{"a":0,"z":0}})", R"({"add":{"a":1,"c":1}})"},
          // remove, add · remove, add
          {R"({"add":{"a":1,"b":1},"remove":{"x":1}})",
           R"({"add":{"b":5,"c":1},"remove":{"a":0,"x":2,"y":0}})",
           R"({"add":{"b":6,"c":1},"remove":{"a":0,"x":3,"y":0}})", R"({"add":{"b":6,"c":1}})"},
          // remove, add · add
          {R"({"add":{"a":1},"remove":{"x":0}})", R"({"add":{"a":1}})",
           R"({"add":{"a":2},"remove":{"x":0}})", R"({"add":{"a":2}})"},
          // add · add
          Same(R"({"add":{"a":1}})", R"({"add":{"a":1,"b":1}})", R"({"add":{"a":2,"b":1}})"),
          // add · remove
          {R"({"add":{"a":1,"b":1}})", R"({"remove":{"b":0}})",
           R"({"add":{"a":1},"remove":{"b":0}})", R"({"add":{"a":1}})"},
      });
}

TEST(Set, WithoutAnOlderValueTheTermsAreTheNewOnes) {
  ExpectReductions(kObjects,
                   {
                       Same(kAbsent, R"({"add":{"a":"1.0"}})", R"({"add":{"a":"1"}})"),
                       {kAbsent, R"({"add":{"a":1},"remove":{"b":0}})",
                        R"({"add":{"a":1},"remove":{"b":0}})", R"({"add":{"a":1}})"},
                       {kAbsent, R"({"intersect":{"b":0}})", R"({"intersect":{"b":0}})", "{}"},
                       Same(kAbsent, "{}", "{}"),
                       Same("{}", R"({"add":{"a":1}})", R"({"add":{"a":1}})"),
                       Same(R"({"add":{"a":1}})", "{}", R"({"add":{"a":1}})"),
                   });
}

TEST(Set, ValuesThatAreNoSetsAreErrors) {
  ExpectReductions(R"({"reduce":{"strategy":"set"}})",
                   {
                       Same("{}", "1", "error: not integer"),
                       Same("[]", "{}", "error: not array"),
                       Same("{}", R"({"ad":{}})", "error: not \"ad\""),
                       Same("{}", R"({"intersect":{},"remove":{}})", "error: not both"),
                       Same(R"({"intersect":{},"remove":{}})", "{}", "error: not both"),
                       Same(R"({"add":[]})", R"({"add":{}})", "error: all objects, or all arrays"),
                       Same("{}", R"({"add":{},"remove":[]})", "error: all objects, or all arrays"),
                       Same("{}", R"({"add":1})", "error: all objects, or all arrays"),
                       // Without a key, arrays are sorted by their items.
                       {R"({"add":[1,3]})", R"({"add":[2],"remove":[1]})",
                        R"({"add":[2,3],"remove":[1]})", R"({"add":[2,3]})"},
                   });
}

}  // namespace
}  // namespace fjord::doc
