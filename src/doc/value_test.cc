#include "doc/value.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "doc/compare.h"
#include "doc/pointer.h"
#include "doc/serialize.h"
#include "doc/test_support.h"

namespace fjord::doc {
namespace {

TEST(Arena, PiecesAreAlignedAndKeepTheirBytes) {
  Arena arena(64);
  std::vector<std::string_view> pieces;
  for (size_t size = 1; size < 300; ++size) {
    pieces.push_back(arena.Copy(std::string(size, static_cast<char>('a' + size % 26))));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pieces.back().data()) % 8, 0);
  }
  for (size_t size = 1; size < 300; ++size) {
    EXPECT_EQ(pieces[size - 1], std::string(size, static_cast<char>('a' + size % 26)));
  }
  const size_t before = arena.bytes_reserved();
  arena.Clear();
  EXPECT_LT(arena.bytes_reserved(), before);

  // The second time the same pieces lie in the same places.
  const char* const first = arena.Allocate(1);
  arena.Clear();
  EXPECT_EQ(arena.Allocate(1), first);
  for (size_t size = 1; size < 300; ++size) arena.Allocate(size);
  EXPECT_LE(arena.bytes_reserved(), before + 300);
}

TEST(Arena, MemoryOfOneLargeDocumentIsNotKeptForEver) {
  Arena arena(size_t{1} << 20);
  for (int i = 0; i < 64; ++i) arena.Allocate(size_t{1} << 20);
  EXPECT_EQ(arena.bytes_reserved(), size_t{64} << 20);
  arena.Clear();
  EXPECT_EQ(arena.bytes_reserved(), size_t{1} << 20);
  // A piece that fits into no chunk that is left gets one of its own.
  arena.Allocate(size_t{3} << 20);
  EXPECT_EQ(arena.bytes_reserved(), size_t{4} << 20);
}

TEST(Value, ACopyOutlivesTheArenaOfItsOriginal) {
  const std::string text =
      R"({"a":[1,2.5,"text",null,true,123456789012345678901234567890],"b":{"":{}}})";
  Arena kept;
  Value copy;
  {
    Arena gone;
    Parser parser;
    copy = DeepCopy(*parser.Parse(text, gone), kept);
    std::memset(gone.Allocate(8), 0, 8);
  }
  EXPECT_EQ(ToJson(copy), text);
}

TEST(Compare, TheOrderIsTotalAndExact) {
  // Each line is a group of equal values, in ascending order.
  const std::vector<std::vector<std::string>> groups = {
      {"null"},
      {"false"},
      {"true"},
      {"-1e400"},
      {"-9223372036854775809"},
      {"-9223372036854775808"},
      {"-1", "-1.0"},
      {"0", "-0", "0.0", "-0.0", "0e5"},
      {"1e-400"},
      {"0.1", "0.10"},
      {"0.1000000000000000055511151231257827021181583404541015625"},
      {"1", "1.0", "10e-1"},
      {"9007199254740992", "9007199254740992.0"},
      {"9007199254740993", "9007199254740993.0"},
      {"9223372036854775807"},
      {"9223372036854775808"},
      {"18446744073709551615"},
      {"18446744073709551616"},
      {"100000000000000000000", "1e20", "1e+20"},
      {"1e400", "10e399"},
      {"\"\""},
      {"\"10\""},
      {"\"9\""},
      {"\"a\""},
      {"\"ab\""},
      {"\"ä\""},
      {"[]"},
      {"[null]"},
      {"[1]", "[1.0]"},
      {"[1,0]"},
      {"[2]"},
      {"{}"},
      {"{\"a\":1}", "{\"a\":1.0}"},
      {"{\"a\":1,\"b\":0}", "{\"b\":0,\"a\":1}"},
      {"{\"a\":2}"},
      {"{\"b\":0}"},
  };
  for (size_t i = 0; i < groups.size(); ++i) {
    for (size_t j = 0; j < groups.size(); ++j) {
      for (const std::string& a : groups[i]) {
        for (const std::string& b : groups[j]) {
          EXPECT_EQ(Compare(J(a), J(b)), i <=> j) << a << " " << b;
        }
      }
    }
  }
}

TEST(Pointer, PlacesAreFound) {
  const Value root = J(R"({"a":{"b":[10,{"c":20}]},"x/y":{"~":30},"":{"0":40}})");
  const std::pair<const char*, const char*> cases[] = {{"/a/b/0", "10"},
                                                       {"/a/b/1/c", "20"},
                                                       {"/x~1y/~0", "30"},
                                                       {"//0", "40"},
                                                       {"/a/b", R"([10,{"c":20}])"}};
  for (const auto& [text, expected] : cases) {
    const Value* const found = Pointer::Parse(text)->Find(root);
    ASSERT_NE(found, nullptr) << text;
    EXPECT_EQ(ToJson(*found), expected);
    EXPECT_EQ(PointerTo(root, found), text);
  }
  EXPECT_EQ(Pointer::Parse("")->Find(root), &root);
  for (const char* text : {"/b", "/a/b/2", "/a/b/01", "/a/b/-", "/a/b/0/x", "/a/b/-1", "/a/b/x"}) {
    EXPECT_EQ(Pointer::Parse(text)->Find(root), nullptr) << text;
  }
  const Value other = J("1");
  EXPECT_EQ(PointerTo(root, &other), std::nullopt);
}

TEST(Pointer, OtherTextIsRefused) {
  for (const char* text : {"a", "a/b", "#/a", "/~", "/~2", "/a~"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Pointer::Parse(text).status())) << text;
  }
}

}  // namespace
}  // namespace fjord::doc
