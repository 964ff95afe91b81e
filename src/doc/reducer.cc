#include "doc/reducer.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "doc/pointer.h"
#include "doc/reduction.h"
#include "doc/schema_node.h"

namespace fjord::doc {
namespace {

bool Deletes(const Strategy& strategy) {
  return strategy.at_full == Strategy::AtFullReduction::kDelete;
}

}  // namespace

Reducer::Reducer(const Schema& schema)
    : validator_(schema, kReduceAnnotations),
      lhs_validator_(schema, kReduceAnnotations),
      schema_deletes_(std::any_of(schema.graph().strategies.begin(),
                                  schema.graph().strategies.end(), Deletes)) {}

absl::Status Reducer::Prepare(const Value& rhs) {
  rhs_ = &rhs;
  strategies_.Clear();
  RETURN_IF_ERROR(validator_.Check(rhs));
  for (const Annotation& annotation : validator_.annotations()) {
    const Strategy* const strategy = annotation.annotations->reduce;
    if (strategies_.Put(annotation.place, strategy) != strategy) {
      return absl::InvalidArgumentError(
          StrCat("conflicting strategies: two different reduce annotations apply at \"",
                 PointerTo(rhs, annotation.place).value_or(""), "\""));
    }
  }
  return absl::OkStatus();
}

// What a full reduction of the older document would have deleted is still in it, and must not be
// reduced onto.
absl::Status Reducer::FindDeletes(const Value& lhs) {
  RETURN_IF_ERROR(Annotate(lhs_validator_.Check(lhs), "the older document"));
  for (const Annotation& annotation : lhs_validator_.annotations()) {
    if (Deletes(*annotation.annotations->reduce)) lhs_deletes_.Put(annotation.place, true);
  }
  return absl::OkStatus();
}

absl::StatusOr<Reduced> Reducer::Reduce(const Value* lhs, ReduceMode mode, Arena& arena) {
  lhs_deletes_.Clear();
  if (mode == ReduceMode::kPartial && schema_deletes_ && lhs != nullptr) {
    RETURN_IF_ERROR(FindDeletes(*lhs));
  }
  Reduction reduction(strategies_, lhs_deletes_, mode, arena);
  const Step step = reduction.Apply(lhs, *rhs_);
  switch (step.kind) {
    case Step::Kind::kValue: return Reduced{Reduced::Outcome::kValue, step.value};
    case Step::Kind::kDeleted: return Reduced{Reduced::Outcome::kDeleted, {}};
    case Step::Kind::kNotAssociative: return Reduced{Reduced::Outcome::kNotAssociative, {}};
    case Step::Kind::kError: break;
  }
  return absl::InvalidArgumentError(StrCat("cannot reduce \"",
                                           PointerTo(*rhs_, reduction.place()).value_or(""),
                                           "\": ", reduction.message()));
}

}  // namespace fjord::doc
