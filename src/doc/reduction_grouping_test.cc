// Whatever is reduced first, the outcome is that of reducing in order.
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/strings.h"
#include "doc/reduction_test_support.h"

namespace fjord::doc {
namespace {

constexpr const char* kSchema = R"({
  "if": {"properties": {"op": {"const": "d"}}, "required": ["op"]},
  "then": {"reduce": {"strategy": "merge", "delete": true}},
  "else": {"reduce": {"strategy": "merge"}},
  "properties": {
    "sum": {"reduce": {"strategy": "sum"}},
    "decimal": {"reduce": {"strategy": "sum"}},
    "min": {"reduce": {"strategy": "minimize"}},
    "max": {"reduce": {"strategy": "maximize", "key": ["/k"]},
            "properties": {"n": {"reduce": {"strategy": "sum"}}}},
    "first": {"reduce": {"strategy": "firstWriteWins"}},
    "list": {"reduce": {"strategy": "append"}},
    "gone": {"if": {"const": null}, "then": {"reduce": {"strategy": "lastWriteWins", "delete": true}},
             "else": {"reduce": {"strategy": "sum"}}},
    "once": {"reduce": {"strategy": "lastWriteWins", "associative": false}},
    "items": {"reduce": {"strategy": "merge", "key": ["/k"]},
              "items": {"if": {"required": ["del"]},
                        "then": {"reduce": {"strategy": "merge", "delete": true}},
                        "else": {"reduce": {"strategy": "merge"}},
                        "properties": {"n": {"reduce": {"strategy": "sum"}}}}},
    "set": {"reduce": {"strategy": "set"},
            "additionalProperties": {"additionalProperties": {"reduce": {"strategy": "sum"}}}}
  }})";

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  int Below(int bound) { return static_cast<int>(random_() % static_cast<uint32_t>(bound)); }

  std::string Document() {
    std::vector<std::string> members = {StrCat("\"op\":\"", Below(8) == 0 ? "d" : "c", "\"")};
    const auto maybe = [&](std::string_view name, const std::string& value) {
      if (Below(3) == 0) members.push_back(StrCat("\"", name, "\":", value));
    };
    maybe("sum", StrCat(Below(100) - 50));
    maybe("decimal", StrCat("\"", Below(100) - 50, ".", Below(1000), "\""));
    maybe("min", StrCat(Below(10)));
    maybe("max", StrCat("{\"k\":", Below(3), ",\"n\":", Below(9), "}"));
    maybe("first", StrCat(Below(10)));
    maybe("list", StrCat("[", Below(10), "]"));
    maybe("gone", Below(3) == 0 ? "null" : StrCat(Below(10)));
    maybe("once", StrCat(Below(2)));
    maybe("items", Items());
    maybe("set", Set());
    return StrCat("{", Join(members, ","), "}");
  }

 private:
  std::string Items() {
    std::vector<std::string> items;
    for (int k = 0; k < 4; ++k) {
      if (Below(2) == 0) continue;
      items.push_back(
          StrCat("{\"k\":", k, ",\"n\":", Below(9), Below(4) == 0 ? ",\"del\":1}" : "}"));
    }
    return StrCat("[", Join(items, ","), "]");
  }

  std::string Entries() {
    std::vector<std::string> entries;
    for (int k = 0; k < 4; ++k) {
      if (Below(2) == 0) entries.push_back(StrCat("\"", k, "\":", Below(9)));
    }
    return StrCat("{", Join(entries, ","), "}");
  }

  std::string Set() {
    const int other = Below(3);
    const std::string add = StrCat("\"add\":", Entries());
    if (other == 0) return StrCat("{", add, "}");
    return StrCat("{", add, ",\"", other == 1 ? "remove" : "intersect", "\":", Entries(), "}");
  }

  std::mt19937 random_;
};

class Grouping : public testing::TestWithParam<uint32_t> {
 protected:
  Grouping() : schema_(*Schema::Compile(J(kSchema), "", {})), reducer_(schema_) {}

  absl::StatusOr<Reduced> Reduce(const Value* lhs, const Value& rhs, ReduceMode mode) {
    if (const absl::Status status = reducer_.Prepare(rhs); !status.ok()) return status;
    return reducer_.Reduce(lhs, mode, arena_);
  }

  // All of them in order, onto nothing.
  std::string Full(const std::vector<Value>& documents) {
    std::optional<Value> state;
    for (const Value& document : documents) {
      const absl::StatusOr<Reduced> reduced =
          Reduce(state ? &*state : nullptr, document, ReduceMode::kFull);
      if (!reduced.ok()) return Show(reduced);
      state.reset();
      if (reduced->outcome == Reduced::Outcome::kValue) state = reduced->value;
    }
    return state ? ToJson(*state) : kDeleted;
  }

  // Neighbours at random, as long as some can be reduced.
  std::vector<Value> ReduceSome(std::vector<Value> documents, Generator& random) {
    for (int tries = 0; tries < 20 && documents.size() > 1; ++tries) {
      const auto at = static_cast<size_t>(random.Below(static_cast<int>(documents.size()) - 1));
      const absl::StatusOr<Reduced> reduced =
          Reduce(&documents[at], documents[at + 1], ReduceMode::kPartial);
      EXPECT_TRUE(reduced.ok()) << reduced.status();
      if (!reduced.ok() || reduced->outcome != Reduced::Outcome::kValue) continue;
      documents[at] = reduced->value;
      documents.erase(documents.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
    return documents;
  }

  Arena arena_;
  Schema schema_;
  Reducer reducer_;
};

TEST_P(Grouping, AnyOneGivesTheSame) {
  Generator random(GetParam());
  size_t reduced = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<Value> documents;
    std::string texts;
    for (int i = 2 + random.Below(5); i > 0; --i) {
      const std::string text = random.Document();
      StrAppend(&texts, text, "\n");
      documents.push_back(J(text));
    }
    const std::vector<Value> fewer = ReduceSome(documents, random);
    reduced += documents.size() - fewer.size();
    ASSERT_EQ(Full(fewer), Full(documents)) << "seed " << GetParam() << "\n" << texts;
  }
  EXPECT_GT(reduced, 100);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Grouping, testing::Range(uint32_t{1}, uint32_t{11}));

}  // namespace
}  // namespace fjord::doc
