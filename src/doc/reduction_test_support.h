// Tables of reductions, for the tests.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/status.h"
#include "doc/reducer.h"
#include "doc/serialize.h"
#include "doc/test_support.h"

namespace fjord::doc {

// Instead of a document.
inline constexpr const char* kAbsent = nullptr;
inline constexpr const char* kDeleted = "(deleted)";
inline constexpr const char* kBoth = "(not associative)";

inline std::string Show(const absl::StatusOr<Reduced>& reduced) {
  if (!reduced.ok()) return "error: " + std::string(Message(reduced.status()));
  switch (reduced->outcome) {
    case Reduced::Outcome::kValue: return ToJson(reduced->value);
    case Reduced::Outcome::kDeleted: return kDeleted;
    case Reduced::Outcome::kNotAssociative: return kBoth;
  }
  return "";
}

inline std::string ReduceTexts(const Schema& schema, const char* lhs, const char* rhs,
                               ReduceMode mode) {
  Reducer reducer(schema);
  const Value right = J(rhs);
  if (const absl::Status status = reducer.Prepare(right); !status.ok()) return Show(status);
  if (lhs == kAbsent) return Show(reducer.Reduce(nullptr, mode, TestArena()));
  const Value left = J(lhs);
  return Show(reducer.Reduce(&left, mode, TestArena()));
}

struct ReductionCase {
  const char* lhs;
  const char* rhs;
  // What comes out; of an error "error: " and a part of its message.
  const char* partial;
  const char* full;
};

inline void ExpectOutcome(const std::string& found, std::string_view expected,
                          const std::string& what) {
  if (expected.starts_with("error: ")) {
    EXPECT_TRUE(found.starts_with("error: ") && found.find(expected.substr(7)) != std::string::npos)
        << what << "\nfound " << found << "\nexpected " << expected;
  } else {
    EXPECT_EQ(found, expected) << what;
  }
}

inline void ExpectReductions(const char* schema_text, std::initializer_list<ReductionCase> cases) {
  const absl::StatusOr<Schema> schema = Schema::Compile(J(schema_text), "", {});
  ASSERT_TRUE(schema.ok()) << schema.status();
  for (const ReductionCase& c : cases) {
    const std::string what =
        std::string(schema_text) + "\n" + (c.lhs == kAbsent ? "(absent)" : c.lhs) + " . " + c.rhs;
    ExpectOutcome(ReduceTexts(*schema, c.lhs, c.rhs, ReduceMode::kPartial), c.partial,
                  what + " partial");
    ExpectOutcome(ReduceTexts(*schema, c.lhs, c.rhs, ReduceMode::kFull), c.full, what + " full");
  }
}

// A case whose outcome does not depend on the mode.
inline ReductionCase Same(const char* lhs, const char* rhs, const char* expected) {
  return {lhs, rhs, expected, expected};
}

}  // namespace fjord::doc
