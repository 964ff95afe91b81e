// Internal to the reducer: one reduction, place by place.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "doc/arena.h"
#include "doc/place_map.h"
#include "doc/pointer.h"
#include "doc/reducer.h"
#include "doc/strategy.h"
#include "doc/value.h"

namespace fjord::doc {

// Of a place.
struct Step {
  enum class Kind : uint8_t { kValue, kDeleted, kNotAssociative, kError };
  Kind kind;
  Value value;

  static Step Of(const Value& value) { return {Kind::kValue, value}; }
  static Step Deleted() { return {Kind::kDeleted, {}}; }
  static Step NotAssociative() { return {Kind::kNotAssociative, {}}; }
  // The reduction as a whole ends.
  bool ends() const { return kind == Kind::kNotAssociative || kind == Kind::kError; }
};

class Reduction {
 public:
  Reduction(const PlaceMap<const Strategy*>& strategies, const PlaceMap<bool>& lhs_deletes,
            ReduceMode mode, Arena& arena)
      : strategies_(strategies), lhs_deletes_(lhs_deletes), mode_(mode), arena_(arena) {}

  // `lhs` is null when the place is not there on that side.
  Step Apply(const Value* lhs, const Value& rhs);

  // After Step::Kind::kError.
  const std::string& message() const { return message_; }
  const Value* place() const { return place_; }

 private:
  using Key = std::vector<Pointer>;

  bool full() const { return mode_ == ReduceMode::kFull; }
  Step Fail(const Value& place, std::string message);

  // reduction.cc
  Step ApplyStrategy(const Strategy& strategy, const Value* lhs, const Value& rhs);
  Step LastWriteWins(const Strategy& strategy, const Value* lhs, const Value& rhs);
  Step Append(const Value* lhs, const Value& rhs);
  Step Sum(const Value* lhs, const Value& rhs);
  Step Extreme(const Strategy& strategy, const Value* lhs, const Value& rhs);

  // reduction_merge.cc
  Step Merge(const Strategy& strategy, const Value* lhs, const Value& rhs);
  Step MergeValues(const Key& key, const Value* lhs, const Value& rhs);
  Step MergeObjects(std::span<const Member> lhs, std::span<const Member> rhs);
  Step MergeByIndex(std::span<const Value> lhs, std::span<const Value> rhs);
  Step MergeByKey(const Key& key, std::span<const Value> lhs, std::span<const Value> rhs);

  // reduction_set.cc
  struct SetTerms;
  Step Set(const Strategy& strategy, const Value* lhs, const Value& rhs);
  bool ReadTerms(const Value& side, SetTerms* terms);
  bool CheckTerms(const Key& key, const SetTerms& lhs, const SetTerms& rhs);
  bool CheckTerm(const Key& key, const Value* term, const Value** first);
  Step SetAdd(const Key& key, const SetTerms& lhs, const SetTerms& rhs);
  Step SetOther(const Key& key, const SetTerms& lhs, const SetTerms& rhs);
  Step Union(const Key& key, const Value* lhs, const Value* rhs);
  enum class Keep : uint8_t { kCommon, kOthers };
  // The items of `from` whose key is, or is not, in `by`.
  Value Filter(const Key& key, const Value& from, const Value& by, Keep keep);

  // reduction_schema.cc
  Step MergeSchemas(const Value* lhs, const Value& rhs);

  const PlaceMap<const Strategy*>& strategies_;
  const PlaceMap<bool>& lhs_deletes_;
  ReduceMode mode_;
  Arena& arena_;
  std::string message_;
  const Value* place_ = nullptr;
};

// By the values at the pointers, one after another: what is not there comes before null. Without
// pointers, by the values themselves.
std::strong_ordering CompareAt(const std::vector<Pointer>& key, const Value& a, const Value& b);

// Strictly ascending.
bool IsSortedBy(const std::vector<Pointer>& key, std::span<const Value> items);

// 0 + rhs when there is no lhs. An error's message says what cannot be added.
absl::StatusOr<Value> SumValues(const Value* lhs, const Value& rhs, Arena& arena);

}  // namespace fjord::doc
