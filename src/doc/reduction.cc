#include "doc/reduction.h"

#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "doc/compare.h"

namespace fjord::doc {
namespace {

// The place that `pointer` names inside of `value`; "" is the value.
std::strong_ordering CompareOneAt(const Pointer& pointer, const Value& a, const Value& b) {
  const Value* const x = pointer.Find(a);
  const Value* const y = pointer.Find(b);
  if (x == nullptr || y == nullptr) return (x != nullptr) <=> (y != nullptr);
  return Compare(*x, *y);
}

}  // namespace

std::strong_ordering CompareAt(const std::vector<Pointer>& key, const Value& a, const Value& b) {
  if (key.empty()) return Compare(a, b);
  for (const Pointer& pointer : key) {
    if (const auto order = CompareOneAt(pointer, a, b); order != 0) return order;
  }
  return std::strong_ordering::equal;
}

bool IsSortedBy(const std::vector<Pointer>& key, std::span<const Value> items) {
  for (size_t i = 1; i < items.size(); ++i) {
    if (CompareAt(key, items[i - 1], items[i]) >= 0) return false;
  }
  return true;
}

Step Reduction::Fail(const Value& place, std::string message) {
  place_ = &place;
  message_ = std::move(message);
  return {Step::Kind::kError, {}};
}

Step Reduction::Apply(const Value* lhs, const Value& rhs) {
  static const Strategy kDefault;
  const Strategy* const* const found = strategies_.Find(&rhs);
  const Strategy& strategy = found == nullptr ? kDefault : **found;
  if (lhs != nullptr && lhs_deletes_.Find(lhs) != nullptr &&
      strategy.kind != Strategy::Kind::kLastWriteWins) {
    return Step::NotAssociative();
  }
  return ApplyStrategy(strategy, lhs, rhs);
}

Step Reduction::ApplyStrategy(const Strategy& strategy, const Value* lhs, const Value& rhs) {
  switch (strategy.kind) {
    case Strategy::Kind::kLastWriteWins: return LastWriteWins(strategy, lhs, rhs);
    case Strategy::Kind::kFirstWriteWins: return Step::Of(lhs == nullptr ? rhs : *lhs);
    case Strategy::Kind::kAppend: return Append(lhs, rhs);
    case Strategy::Kind::kSum: return Sum(lhs, rhs);
    case Strategy::Kind::kMinimize:
    case Strategy::Kind::kMaximize: return Extreme(strategy, lhs, rhs);
    case Strategy::Kind::kMerge: return Merge(strategy, lhs, rhs);
    case Strategy::Kind::kSet: return Set(strategy, lhs, rhs);
    case Strategy::Kind::kJsonSchemaMerge: return MergeSchemas(lhs, rhs);
  }
  return Step::Of(rhs);
}

Step Reduction::LastWriteWins(const Strategy& strategy, const Value* lhs, const Value& rhs) {
  if (full()) {
    const bool deletes = strategy.at_full == Strategy::AtFullReduction::kDelete;
    return deletes ? Step::Deleted() : Step::Of(rhs);
  }
  if (strategy.partial == Strategy::Partial::kOnlyWhenEqual && lhs != nullptr &&
      !Equal(*lhs, rhs)) {
    return Step::NotAssociative();
  }
  return Step::Of(rhs);
}

Step Reduction::Append(const Value* lhs, const Value& rhs) {
  if (lhs == nullptr) return Step::Of(rhs);
  if (lhs->is_null()) return Step::Of(*lhs);
  if (!lhs->is_array() || !rhs.is_array()) {
    return Fail(rhs, StrCat("append joins two arrays, not ", KindName(lhs->kind()), " and ",
                            KindName(rhs.kind())));
  }
  const std::span<const Value> a = lhs->items();
  const std::span<const Value> b = rhs.items();
  Value* const items = arena_.AllocateArray<Value>(a.size() + b.size());
  std::copy(a.begin(), a.end(), items);
  std::copy(b.begin(), b.end(), items + a.size());
  return Step::Of(Value::Array({items, a.size() + b.size()}));
}

Step Reduction::Sum(const Value* lhs, const Value& rhs) {
  const absl::StatusOr<Value> sum = SumValues(lhs, rhs, arena_);
  if (!sum.ok()) return Fail(rhs, std::string(Message(sum.status())));
  return Step::Of(*sum);
}

Step Reduction::Extreme(const Strategy& strategy, const Value* lhs, const Value& rhs) {
  const bool keyed = !strategy.key.empty();
  if (keyed && (rhs.is_scalar() || (lhs != nullptr && lhs->is_scalar()))) {
    return Fail(rhs, "minimize and maximize with a key take objects and arrays, not scalars");
  }
  if (lhs == nullptr) return keyed ? MergeValues({}, nullptr, rhs) : Step::Of(rhs);
  auto order = CompareAt(strategy.key, *lhs, rhs);
  if (strategy.kind == Strategy::Kind::kMaximize) order = 0 <=> order;
  if (order < 0) return Step::Of(*lhs);
  if (!keyed) return Step::Of(rhs);
  return MergeValues({}, order == 0 ? lhs : nullptr, rhs);
}

}  // namespace fjord::doc
