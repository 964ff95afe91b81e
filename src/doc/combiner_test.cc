#include "doc/combiner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "doc/binary.h"
#include "doc/serialize.h"
#include "doc/test_support.h"

namespace fjord::doc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kSums =
    R"({"reduce":{"strategy":"merge"},"required":["k"],"properties":{"n":{"reduce":{"strategy":"sum"}}}})";
// `gone` deletes the document.
constexpr const char* kDeletes =
    R"({"if":{"required":["gone"]},"then":{"reduce":{"strategy":"merge","delete":true}},
        "else":{"reduce":{"strategy":"merge"}},"properties":{"n":{"reduce":{"strategy":"sum"}}}})";

Key KeyOf(const std::string& pointer) {
  const std::array<std::string, 1> pointers = {pointer};
  return *Key::Create(pointers);
}

Schema Compiled(const char* text) { return *Schema::Compile(J(text), "", {}); }

std::string Text(const Combined& combined) {
  return StrCat(combined.front ? "front " : "", combined.deleted ? "deleted " : "",
                ToJson(combined.document));
}

std::vector<std::string> Drain(Combiner& combiner) {
  std::vector<std::string> all;
  while (true) {
    const auto next = combiner.Next();
    if (!next.ok()) {
      all.push_back(next.status().ToString());
      return all;
    }
    if (!next->has_value()) return all;
    all.push_back(Text(**next));
  }
}

// With true each document is a run of its own.
class Combine : public testing::TestWithParam<bool> {
 protected:
  CombinerOptions Options() const {
    if (!GetParam()) return {};
    return {.memory_bytes_max = 0, .spill_folder = testing::TempDir()};
  }

  std::vector<std::string> Of(const char* schema_text, ReduceMode mode,
                              std::initializer_list<const char*> documents) {
    const Schema schema = Compiled(schema_text);
    Combiner combiner({{&schema, KeyOf("/k"), mode}}, Options());
    for (const char* document : documents) {
      const absl::Status status = combiner.Add(0, J(document));
      EXPECT_TRUE(status.ok()) << status;
    }
    EXPECT_EQ(combiner.spilled_runs(), GetParam() ? documents.size() : 0);
    return Drain(combiner);
  }
};

TEST_P(Combine, DocumentsOfOneKeyBecomeOneInTheOrderOfTheKeys) {
  EXPECT_THAT(Of(kSums, ReduceMode::kPartial,
                 {R"({"k":"b","n":1})", R"({"k":"a","n":2})", R"({"k":10,"n":1})",
                  R"({"k":"b","n":3,"x":[1]})", R"({"k":-1})", R"({"k":"a","n":5})"}),
              ElementsAre(R"({"k":"a","n":7})", R"({"k":"b","n":4,"x":[1]})", R"({"k":-1})",
                          R"({"k":10,"n":1})"));
  EXPECT_THAT(Of(kSums, ReduceMode::kPartial, {}), IsEmpty());
}

TEST_P(Combine, PartiallyWhatCannotBeReducedStaysSideBySide) {
  EXPECT_THAT(Of(kDeletes, ReduceMode::kPartial,
                 {R"({"k":1,"n":1})", R"({"gone":1,"k":1})", R"({"k":1,"n":5})", R"({"k":1,"n":6})",
                  R"({"k":2,"n":1})"}),
              ElementsAre(R"({"gone":1,"k":1,"n":1})", R"({"k":1,"n":11})", R"({"k":2,"n":1})"));
}

TEST_P(Combine, FullyWhatIsDeletedIsSaidToBe) {
  EXPECT_THAT(Of(kDeletes, ReduceMode::kFull,
                 {R"({"k":1,"n":1})", R"({"gone":1,"k":1})", R"({"k":1,"n":5})", R"({"k":1,"n":6})",
                  R"({"k":2})", R"({"gone":1,"k":2})"}),
              ElementsAre(R"({"k":1,"n":11})", R"(deleted {"gone":1,"k":2})"));
}

TEST_P(Combine, TheFrontComesBeforeWhatWasAddedEarlier) {
  const Schema schema = Compiled(kDeletes);
  Combiner combiner({{&schema, KeyOf("/k"), ReduceMode::kFull}}, Options());
  ASSERT_TRUE(combiner.Add(0, J(R"({"k":1,"n":1})")).ok());
  ASSERT_TRUE(combiner.Add(0, J(R"({"k":2,"gone":1})")).ok());
  ASSERT_TRUE(combiner.AddFront(0, J(R"({"k":1,"n":100,"old":true})")).ok());
  ASSERT_TRUE(combiner.AddFront(0, J(R"({"k":2,"n":100})")).ok());
  ASSERT_TRUE(combiner.Add(0, J(R"({"k":1,"n":2})")).ok());
  ASSERT_TRUE(combiner.AddFront(0, J(R"({"k":3})")).ok());
  ASSERT_TRUE(combiner.Add(0, J(R"({"k":3,"n":1})")).ok());
  EXPECT_THAT(Drain(combiner),
              ElementsAre(R"(front {"k":1,"n":103,"old":true})",
                          R"(front deleted {"gone":1,"k":2})", R"(front {"k":3,"n":1})"));
}

TEST_P(Combine, BindingsAreKeptApartAndTheCombinerCanBeUsedAgain) {
  const Schema sums = Compiled(kSums);
  const Schema last = Compiled("{}");
  Combiner combiner({{&sums, KeyOf("/k"), ReduceMode::kPartial},
                     {&last, KeyOf("/x"), ReduceMode::kPartial},
                     {&last, KeyOf("/x"), ReduceMode::kPartial}},
                    Options());
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(combiner.Add(2, J(R"({"x":1})")).ok());
    ASSERT_TRUE(combiner.Add(0, J(R"({"k":2,"n":1})")).ok());
    ASSERT_TRUE(combiner.Add(0, J(R"({"k":2,"n":1})")).ok());
    ASSERT_TRUE(combiner.Add(2, J(R"({"x":1,"y":2})")).ok());
    EXPECT_THAT(Drain(combiner), ElementsAre(R"({"k":2,"n":2})", R"({"x":1,"y":2})"));
  }
}

INSTANTIATE_TEST_SUITE_P(MemoryAndSpill, Combine, testing::Bool());

TEST(Combiner, WhatIsRefusedLeavesTheOthersAsTheyWere) {
  const Schema schema = Compiled(kSums);
  Combiner combiner({{&schema, KeyOf("/k"), ReduceMode::kPartial}}, {});
  ASSERT_TRUE(combiner.Add(0, J(R"({"k":1,"n":1})")).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(combiner.Add(0, J(R"({"n":1})"))));
  EXPECT_TRUE(absl::IsInvalidArgument(combiner.Add(0, J(R"({"k":1,"n":"x"})"))));
  EXPECT_TRUE(absl::IsInvalidArgument(combiner.AddFront(0, J(R"({"k":1})"))));
  EXPECT_THAT(Drain(combiner), ElementsAre(R"({"k":1,"n":1})"));
}

TEST(Combiner, AFolderThatIsNotThereIsNamed) {
  const Schema schema = Compiled(kSums);
  Combiner combiner({{&schema, KeyOf("/k"), ReduceMode::kPartial}},
                    {.memory_bytes_max = 0, .spill_folder = "/nowhere/at/all"});
  EXPECT_THAT(std::string(Message(combiner.Add(0, J(R"({"k":1})")))),
              testing::HasSubstr("/nowhere/at/all"));
}

// The same sums, whatever the memory.
TEST(Combiner, ManyDocumentsInLittleMemory) {
  const Schema schema = Compiled(kSums);
  for (const size_t memory : {size_t{64} << 20, size_t{1} << 20, size_t{128} << 10}) {
    std::mt19937 random(7);
    std::map<std::string, int64_t> expected;
    Combiner combiner({{&schema, KeyOf("/k"), ReduceMode::kFull}},
                      {.memory_bytes_max = memory, .spill_folder = testing::TempDir()});
    Parser parser;
    Arena arena;
    for (int i = 0; i < 20'000; ++i) {
      arena.Clear();
      const std::string key = StrCat("key", random() % 5000);
      const auto n = static_cast<int64_t>(random() % 100);
      expected[key] += n;
      const std::string text =
          StrCat("{\"k\":\"", key, "\",\"n\":", n, ",\"text\":\"some more bytes of text\"}");
      ASSERT_TRUE(combiner.Add(0, *parser.Parse(text, arena)).ok());
    }
    EXPECT_EQ(combiner.spilled_runs() > 3, memory < size_t{64} << 20) << combiner.spilled_runs();
    std::map<std::string, int64_t> found;
    std::string last;
    while (true) {
      const auto combined = combiner.Next();
      ASSERT_TRUE(combined.ok()) << combined.status();
      if (!combined->has_value()) break;
      const std::string key((*combined)->document.Find("k")->text());
      EXPECT_LT(last, key);
      last = key;
      found[key] = (*combined)->document.Find("n")->as_int();
    }
    EXPECT_EQ(found, expected);
  }
}

TEST(Binary, ValuesComeBackAsTheyWere) {
  for (const char* text :
       {"null", "true", "false", "0", "-1", "9223372036854775807", "-9223372036854775808",
        "18446744073709551615", "1.5", "-0.0", "1e400", R"("")", R"("a\u0000b")", "[]", "{}",
        R"({"a":[1,{"b":[null,true]}],"c":"text","d":12345678901234567890123})"}) {
    std::string bytes;
    AppendBinary(J(text), &bytes);
    const std::optional<Value> again = ReadBinary(bytes, TestArena());
    ASSERT_TRUE(again.has_value()) << text;
    EXPECT_EQ(ToJson(*again), text);
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(ReadBinary(bytes.substr(0, size), TestArena()).has_value()) << text << size;
    }
    EXPECT_FALSE(ReadBinary(bytes + '\0', TestArena()).has_value());
  }
  EXPECT_FALSE(ReadBinary("\x07\xff\xff\xff\xff\xff\xff\xff\xff\x01", TestArena()).has_value());
}

}  // namespace
}  // namespace fjord::doc
