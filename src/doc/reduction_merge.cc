// The strategy `merge`.
#include <algorithm>

#include "base/strings.h"
#include "doc/reduction.h"

namespace fjord::doc {

Step Reduction::Merge(const Strategy& strategy, const Value* lhs, const Value& rhs) {
  if (rhs.is_scalar()) {
    return Fail(rhs, StrCat("merge takes objects and arrays, not ", KindName(rhs.kind())));
  }
  if (full() && strategy.at_full == Strategy::AtFullReduction::kDelete) return Step::Deleted();
  return MergeValues(strategy.key, lhs, rhs);
}

Step Reduction::MergeValues(const Key& key, const Value* lhs, const Value& rhs) {
  if (lhs != nullptr && lhs->kind() != rhs.kind()) {
    // What the older documents have there cannot be known yet.
    if (!full()) return Step::NotAssociative();
    lhs = nullptr;
  }
  if (rhs.is_object()) {
    return MergeObjects(lhs == nullptr ? std::span<const Member>() : lhs->members(), rhs.members());
  }
  const std::span<const Value> items = lhs == nullptr ? std::span<const Value>() : lhs->items();
  if (key.empty()) return MergeByIndex(items, rhs.items());
  if (!IsSortedBy(key, rhs.items())) {
    return Fail(rhs, "merge by a key needs an array that is sorted by it, without duplicates");
  }
  if (!IsSortedBy(key, items)) {
    return Fail(rhs, "merge by a key: the older array is not sorted by it, without duplicates");
  }
  return MergeByKey(key, items, rhs.items());
}

// Members are sorted by name on both sides.
Step Reduction::MergeObjects(std::span<const Member> lhs, std::span<const Member> rhs) {
  Member* const merged = arena_.AllocateArray<Member>(lhs.size() + rhs.size());
  size_t count = 0;
  size_t left = 0;
  for (const Member& member : rhs) {
    while (left < lhs.size() && lhs[left].name < member.name) merged[count++] = lhs[left++];
    const bool both = left < lhs.size() && lhs[left].name == member.name;
    const Step step = Apply(both ? &lhs[left].value : nullptr, member.value);
    if (step.ends()) return step;
    if (both) ++left;
    if (step.kind == Step::Kind::kValue) merged[count++] = {member.name, step.value};
  }
  while (left < lhs.size()) merged[count++] = lhs[left++];
  return Step::Of(Value::Object({merged, count}));
}

Step Reduction::MergeByIndex(std::span<const Value> lhs, std::span<const Value> rhs) {
  Value* const merged = arena_.AllocateArray<Value>(std::max(lhs.size(), rhs.size()));
  size_t count = 0;
  for (size_t i = 0; i < rhs.size(); ++i) {
    const Step step = Apply(i < lhs.size() ? &lhs[i] : nullptr, rhs[i]);
    if (step.ends()) return step;
    if (step.kind == Step::Kind::kValue) merged[count++] = step.value;
  }
  for (size_t i = rhs.size(); i < lhs.size(); ++i) merged[count++] = lhs[i];
  return Step::Of(Value::Array({merged, count}));
}

// Both sides are sorted by the key.
Step Reduction::MergeByKey(const Key& key, std::span<const Value> lhs, std::span<const Value> rhs) {
  Value* const merged = arena_.AllocateArray<Value>(lhs.size() + rhs.size());
  size_t count = 0;
  size_t left = 0;
  for (const Value& item : rhs) {
    auto order = std::strong_ordering::greater;
    while (left < lhs.size() && (order = CompareAt(key, lhs[left], item)) < 0) {
      merged[count++] = lhs[left++];
    }
    const bool both = left < lhs.size() && order == 0;
    const Step step = Apply(both ? &lhs[left] : nullptr, item);
    if (step.ends()) return step;
    if (both) ++left;
    if (step.kind == Step::Kind::kValue) merged[count++] = step.value;
  }
  while (left < lhs.size()) merged[count++] = lhs[left++];
  return Step::Of(Value::Array({merged, count}));
}

}  // namespace fjord::doc
