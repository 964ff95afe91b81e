// lastWriteWins, firstWriteWins, append, minimize, maximize.
#include <gtest/gtest.h>

#include "doc/reduction_test_support.h"

namespace fjord::doc {
namespace {

TEST(LastWriteWins, WithoutAnAnnotationTheNewerValueIsTakenWhole) {
  ExpectReductions("{}", {
                             Same(kAbsent, "1", "1"),
                             Same("1", "2", "2"),
                             Same(R"({"a":1,"b":2})", R"({"a":3})", R"({"a":3})"),
                             Same("[1]", "null", "null"),
                         });
  ExpectReductions(R"({"reduce":{"strategy":"lastWriteWins"}})", {Same("1", "2", "2")});
  // A strategy further down is not reached when nothing above merges.
  ExpectReductions(R"({"properties":{"a":{"reduce":{"strategy":"sum"}}}})",
                   {Same(R"({"a":1})", R"({"a":2})", R"({"a":2})")});
}

TEST(LastWriteWins, DeleteActsInFullReductionsOnly) {
  ExpectReductions(R"({"reduce":{"strategy":"lastWriteWins","delete":true}})",
                   {{"1", "2", "2", kDeleted}, {kAbsent, "2", "2", kDeleted}});
  ExpectReductions(R"({"reduce":{"strategy":"lastWriteWins","delete":false}})",
                   {Same("1", "2", "2")});
  ExpectReductions(
      R"({"reduce":{"strategy":"merge"},"properties":{"a":{"if":{"const":null},"then":{"reduce":{"strategy":"lastWriteWins","delete":true}}}}})",
      {{R"({"a":1,"b":2})", R"({"a":null})", R"({"a":null,"b":2})", R"({"b":2})"},
       {R"({"b":2})", R"({"a":null})", R"({"a":null,"b":2})", R"({"b":2})"},
       {kAbsent, R"({"a":null})", R"({"a":null})", "{}"},
       Same(R"({"a":1})", R"({"a":2})", R"({"a":2})")});
}

TEST(LastWriteWins, WhatIsNotAssociativeIsKeptUnlessItIsEqual) {
  ExpectReductions(R"({"reduce":{"strategy":"lastWriteWins","associative":false}})",
                   {{"1", "2", kBoth, "2"},
                    {R"({"a":1})", R"({"a":1.0})", R"({"a":1.0})", R"({"a":1.0})"},
                    Same(kAbsent, "2", "2")});
  // One place that is not makes the whole document so.
  ExpectReductions(
      R"({"reduce":{"strategy":"merge"},"properties":{"a":{"reduce":{"strategy":"lastWriteWins","associative":false}}}})",
      {{R"({"a":1,"b":1})", R"({"a":2,"b":2})", kBoth, R"({"a":2,"b":2})"},
       Same(R"({"a":1,"b":1})", R"({"b":2})", R"({"a":1,"b":2})"),
       Same(R"({"b":1})", R"({"a":2})", R"({"a":2,"b":1})")});
}

TEST(FirstWriteWins, TheOlderValueStaysIfThereIsOne) {
  ExpectReductions(R"({"reduce":{"strategy":"firstWriteWins"}})", {
                                                                      Same("1", "2", "1"),
                                                                      Same(kAbsent, "2", "2"),
                                                                      Same("null", "2", "null"),
                                                                  });
}

TEST(Append, ArraysAreJoined) {
  ExpectReductions(R"({"reduce":{"strategy":"append"}})",
                   {
                       Same("[1,2]", "[2,3]", "[1,2,2,3]"),
                       Same("[]", "[1]", "[1]"),
                       Same("[1]", "[]", "[1]"),
                       Same(kAbsent, "[1]", "[1]"),
                       Same("null", "[1]", "null"),
                       Same("1", "[1]", "error: append joins two arrays, not integer and array"),
                       Same("[1]", "\"a\"", "error: not array and string"),
                       Same("[1]", "null", "error: append"),
                       Same("{}", "[1]", "error: append"),
                   });
}

TEST(Extreme, WithoutAKeyWholeValuesAreCompared) {
  ExpectReductions(R"({"reduce":{"strategy":"minimize"}})", {
                                                                Same("1", "2", "1"),
                                                                Same("2", "1", "1"),
                                                                Same("1", "1.0", "1.0"),
                                                                Same("1", "null", "null"),
                                                                Same("\"a\"", "9", "9"),
                                                                Same(kAbsent, "9", "9"),
                                                                Same("[1,2]", "[1,1,9]", "[1,1,9]"),
                                                            });
  ExpectReductions(R"({"reduce":{"strategy":"maximize"}})",
                   {
                       Same("1", "2", "2"),
                       Same("2", "1", "2"),
                       Same("1", "1.0", "1.0"),
                       Same("18446744073709551615", "18446744073709551616", "18446744073709551616"),
                       Same("0.1", "0.10000000000000000001", "0.10000000000000000001"),
                       Same("{}", "[1]", "{}"),
                   });
}

TEST(Extreme, WithAKeyTheBetterOneIsKeptAndEqualOnesAreMerged) {
  ExpectReductions(
      R"({"reduce":{"strategy":"minimize","key":["/k"]},"properties":{"n":{"reduce":{"strategy":"sum"}}}})",
      {
          Same(R"({"k":1,"n":1,"x":0})", R"({"k":2,"n":1})", R"({"k":1,"n":1,"x":0})"),
          Same(R"({"k":2,"n":1,"x":0})", R"({"k":1,"n":"1.50"})", R"({"k":1,"n":"1.5"})"),
          Same(R"({"k":1,"n":1,"x":0})", R"({"k":1.0,"n":2})", R"({"k":1.0,"n":3,"x":0})"),
          // What is missing comes before null.
          Same(R"({"n":1})", R"({"k":null,"n":5})", R"({"n":1})"),
          Same(R"({"k":null,"n":1})", R"({"n":5})", R"({"n":5})"),
          Same(R"({"n":1})", R"({"n":5})", R"({"n":6})"),
          Same(kAbsent, R"({"k":1,"n":"2.0"})", R"({"k":1,"n":"2"})"),
          Same(R"({"k":1})", "1", "error: not scalars"),
          Same("1", R"({"k":1})", "error: not scalars"),
          Same(kAbsent, "null", "error: not scalars"),
      });
  ExpectReductions(R"({"reduce":{"strategy":"maximize","key":["/0","/1"]}})",
                   {
                       Same("[1,2,\"a\"]", "[1,3,\"b\"]", "[1,3,\"b\"]"),
                       Same("[1,3,\"a\"]", "[1,2,\"b\"]", "[1,3,\"a\"]"),
                       Same("[1,2,\"a\",\"c\"]", "[1,2,\"b\"]", "[1,2,\"b\",\"c\"]"),
                       Same("[1]", "[1,null]", "[1,null]"),
                   });
}

TEST(Reducer, TwoStrategiesForOnePlaceAreAnError) {
  ExpectReductions(
      R"({"reduce":{"strategy":"merge"},"properties":{"a":{"allOf":[{"reduce":{"strategy":"sum"}},{"reduce":{"strategy":"maximize"}}]}}})",
      {Same(R"({"a":1})", R"({"a":2})", "error: conflicting strategies"),
       Same(R"({"a":1})", R"({"b":2})", R"({"a":1,"b":2})")});
  ExpectReductions(R"({"allOf":[{"reduce":{"strategy":"sum"}},{"reduce":{"strategy":"sum"}}]})",
                   {Same("1", "2", "3")});
}

TEST(Reducer, TheBranchThatValidatedChoosesTheStrategy) {
  ExpectReductions(
      R"({"oneOf":[{"properties":{"op":{"const":"add"}},"reduce":{"strategy":"merge"}},
                   {"properties":{"op":{"const":"del"}},"required":["op"],"reduce":{"strategy":"merge","delete":true}},
                   {"properties":{"op":{"const":"set"}},"required":["op"]}],
          "properties":{"n":{"reduce":{"strategy":"sum"}}},"required":["op"]})",
      {Same(R"({"n":1,"op":"set","x":1})", R"({"n":2,"op":"add"})", R"({"n":3,"op":"add","x":1})"),
       Same(R"({"n":1,"op":"add","x":1})", R"({"n":2,"op":"set"})", R"({"n":2,"op":"set"})"),
       {R"({"n":1,"op":"add"})", R"({"op":"del"})", R"({"n":1,"op":"del"})", kDeleted},
       Same(R"({"n":1,"op":"add"})", R"({"op":"?"})", "error: does not match its schema")});
}

TEST(Reducer, NothingIsReducedOntoWhatAFullReductionWouldDelete) {
  // Deleted, then there again: the old row must not show through.
  ExpectReductions(
      R"({"reduce":{"strategy":"merge"},"if":{"properties":{"op":{"const":"d"}},"required":["op"]},"then":{"reduce":{"strategy":"merge","delete":true}},
          "else":true})",
      {Same(R"({"a":1,"op":"c"})", R"({"b":2,"op":"c"})", R"({"a":1,"b":2,"op":"c"})"),
       Same(R"({"op":"c"})", R"({"op":"d"})", "error: conflicting")});
  const char* const schema =
      R"({"if":{"properties":{"op":{"const":"d"}},"required":["op"]},
          "then":{"reduce":{"strategy":"merge","delete":true}},"else":{"reduce":{"strategy":"merge"}},
          "properties":{"n":{"if":{"const":0},"then":{"reduce":{"strategy":"lastWriteWins","delete":true}},
                              "else":{"reduce":{"strategy":"sum"}}}}})";
  ExpectReductions(
      schema,
      {{R"({"id":1,"old":1,"op":"d"})", R"({"id":1,"op":"c"})", kBoth,
        R"({"id":1,"old":1,"op":"c"})"},
       {R"({"n":0,"op":"c"})", R"({"n":5,"op":"c"})", kBoth, R"({"n":5,"op":"c"})"},
       // A place beside it may be reduced.
       {R"({"n":0,"op":"c"})", R"({"op":"c","x":1})", R"({"n":0,"op":"c","x":1})",
        R"({"n":0,"op":"c","x":1})"},
       {R"({"n":0,"op":"c"})", R"({"n":0,"op":"c"})", R"({"n":0,"op":"c"})", R"({"op":"c"})"}});
}

}  // namespace
}  // namespace fjord::doc
