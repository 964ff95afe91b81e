// The strategy `set`: a place holds what is to be added to a set and what is to be taken away from
// what was in it before: {"add", "remove"} or {"add", "intersect"}.
#include <array>
#include <utility>

#include "base/strings.h"
#include "doc/reduction.h"

namespace fjord::doc {

struct Reduction::SetTerms {
  const Value* add = nullptr;
  const Value* remove = nullptr;
  const Value* intersect = nullptr;
};

Step Reduction::Set(const Strategy& strategy, const Value* lhs, const Value& rhs) {
  SetTerms left;
  SetTerms right;
  if (!ReadTerms(rhs, &right) || (lhs != nullptr && !ReadTerms(*lhs, &left)) ||
      !CheckTerms(strategy.key, left, right)) {
    place_ = &rhs;
    return {Step::Kind::kError, {}};
  }
  std::array<Member, 2> terms;
  size_t count = 0;
  if (left.add != nullptr || right.add != nullptr) {
    const Step add = SetAdd(strategy.key, left, right);
    if (add.ends()) return add;
    terms[count++] = {Name("add"), add.value};
  }
  // At a full reduction there is nothing before it that could be taken away.
  const bool has_other = left.remove != nullptr || right.remove != nullptr ||
                         left.intersect != nullptr || right.intersect != nullptr;
  if (!full() && has_other) {
    const Step other = SetOther(strategy.key, left, right);
    if (other.ends()) return other;
    const bool intersects = left.intersect != nullptr || right.intersect != nullptr;
    terms[count++] = {Name(intersects ? "intersect" : "remove"), other.value};
  }
  return Step::Of(MakeObject({terms.data(), count}, arena_));
}

bool Reduction::ReadTerms(const Value& side, SetTerms* terms) {
  if (!side.is_object()) {
    message_ =
        StrCat("set takes {\"add\", \"remove\" or \"intersect\"}, not ", KindName(side.kind()));
    return false;
  }
  for (const Member& member : side.members()) {
    const std::string_view name = member.name.text();
    if (name == "add") {
      terms->add = &member.value;
    } else if (name == "remove") {
      terms->remove = &member.value;
    } else if (name == "intersect") {
      terms->intersect = &member.value;
    } else {
      message_ = StrCat("set has the terms add, remove and intersect, not \"", name, "\"");
      return false;
    }
  }
  if (terms->remove == nullptr || terms->intersect == nullptr) return true;
  message_ = "set has either remove or intersect, not both";
  return false;
}

bool Reduction::CheckTerms(const Key& key, const SetTerms& lhs, const SetTerms& rhs) {
  const Value* first = nullptr;
  for (const SetTerms* const side : {&lhs, &rhs}) {
    for (const Value* const term : {side->add, side->remove, side->intersect}) {
      if (!CheckTerm(key, term, &first)) return false;
    }
  }
  return true;
}

bool Reduction::CheckTerm(const Key& key, const Value* term, const Value** first) {
  if (term == nullptr) return true;
  if (*first == nullptr) *first = term;
  if (term->is_scalar() || term->kind() != (*first)->kind()) {
    message_ = "the terms of a set are all objects, or all arrays";
    return false;
  }
  if (term->is_object() || IsSortedBy(key, term->items())) return true;
  message_ = "the arrays of a set have to be sorted by its key, without duplicates";
  return false;
}

// (left ∩ right.intersect) ∪ right.add, or (left − right.remove) ∪ right.add.
Step Reduction::SetAdd(const Key& key, const SetTerms& lhs, const SetTerms& rhs) {
  Value kept;
  const Value* left = lhs.add;
  if (left != nullptr && rhs.intersect != nullptr) {
    kept = Filter(key, *left, *rhs.intersect, Keep::kCommon);
    left = &kept;
  } else if (left != nullptr && rhs.remove != nullptr) {
    kept = Filter(key, *left, *rhs.remove, Keep::kOthers);
    left = &kept;
  }
  return Union(key, left, rhs.add);
}

// What both sides together do to what was there before.
Step Reduction::SetOther(const Key& key, const SetTerms& lhs, const SetTerms& rhs) {
  if (lhs.intersect != nullptr) {
    if (rhs.intersect != nullptr) {
      return Step::Of(Filter(key, *lhs.intersect, *rhs.intersect, Keep::kCommon));
    }
    if (rhs.remove == nullptr) return Step::Of(*lhs.intersect);
    return Step::Of(Filter(key, *lhs.intersect, *rhs.remove, Keep::kOthers));
  }
  if (rhs.intersect != nullptr) {
    if (lhs.remove == nullptr) return Step::Of(*rhs.intersect);
    return Step::Of(Filter(key, *rhs.intersect, *lhs.remove, Keep::kOthers));
  }
  return Union(key, lhs.remove, rhs.remove);
}

Step Reduction::Union(const Key& key, const Value* lhs, const Value* rhs) {
  if (rhs == nullptr) return Step::Of(*lhs);
  if (rhs->is_object()) {
    return MergeObjects(lhs == nullptr ? std::span<const Member>() : lhs->members(),
                        rhs->members());
  }
  return MergeByKey(key, lhs == nullptr ? std::span<const Value>() : lhs->items(), rhs->items());
}

Value Reduction::Filter(const Key& key, const Value& from, const Value& by, Keep keep) {
  const auto wanted = [keep](bool found) { return found == (keep == Keep::kCommon); };
  size_t count = 0;
  if (from.is_object()) {
    Member* const kept = arena_.AllocateArray<Member>(from.size());
    for (const Member& member : from.members()) {
      if (wanted(by.Find(member.name) != nullptr)) kept[count++] = member;
    }
    return Value::Object({kept, count});
  }
  Value* const kept = arena_.AllocateArray<Value>(from.size());
  size_t at = 0;
  for (const Value& item : from.items()) {
    while (at < by.size() && CompareAt(key, by.items()[at], item) < 0) ++at;
    if (wanted(at < by.size() && CompareAt(key, by.items()[at], item) == 0)) kept[count++] = item;
  }
  return Value::Array({kept, count});
}

}  // namespace fjord::doc
