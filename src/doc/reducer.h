// Two documents of one key become one, as the `reduce` annotations of their schema say. The
// strategies and their edge cases: docs/architecture.md, "Documents", and the tests.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "doc/arena.h"
#include "doc/place_map.h"
#include "doc/schema.h"
#include "doc/validator.h"
#include "doc/value.h"

namespace fjord::doc {

enum class ReduceMode : uint8_t {
  kPartial,  // older documents may exist that are not at hand: nothing is deleted
  kFull,     // the left side is everything that there was
};

struct Reduced {
  enum class Outcome : uint8_t {
    kValue,
    kDeleted,         // full only
    kNotAssociative,  // partial only: both documents have to be kept until a full reduction
  };
  Outcome outcome;
  Value value;
};

// Confined to one thread; the schema outlives it.
class Reducer {
 public:
  explicit Reducer(const Schema& schema);

  // Validates the newer document, whose annotations choose the strategies. It must stay where it is
  // until the last Reduce. kInvalidArgument when it is not valid, or when two strategies claim one
  // place.
  absl::Status Prepare(const Value& rhs);

  // The older document, null when there is none, and the prepared one. The result lies in `arena`
  // and shares parts with both. kInvalidArgument when a strategy cannot work on what it finds.
  absl::StatusOr<Reduced> Reduce(const Value* lhs, ReduceMode mode, Arena& arena);

 private:
  absl::Status FindDeletes(const Value& lhs);

  Validator validator_;
  Validator lhs_validator_;
  bool schema_deletes_;
  const Value* rhs_ = nullptr;
  PlaceMap<const Strategy*> strategies_;
  PlaceMap<bool> lhs_deletes_;
};

}  // namespace fjord::doc
