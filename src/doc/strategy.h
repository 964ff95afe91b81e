// The keywords `reduce` and `redact` of schemas, as data.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "doc/pointer.h"
#include "doc/value.h"

namespace fjord::doc {

// How two values of one location become one.
struct Strategy {
  enum class Kind : uint8_t {
    kLastWriteWins,
    kFirstWriteWins,
    kAppend,
    kSum,
    kMinimize,
    kMaximize,
    kMerge,
    kSet,
    kJsonSchemaMerge,
  };
  enum class AtFullReduction : uint8_t { kKeep, kDelete };
  // Whether two values may be reduced while there may be an older one.
  enum class Partial : uint8_t { kAllowed, kOnlyWhenEqual };

  Kind kind = Kind::kLastWriteWins;
  AtFullReduction at_full = AtFullReduction::kKeep;
  Partial partial = Partial::kAllowed;
  std::vector<Pointer> key;

  friend bool operator==(const Strategy&, const Strategy&) = default;
};

// The value of `reduce`. kInvalidArgument names what is wrong and what would be right.
absl::StatusOr<Strategy> ParseStrategy(const Value& keyword);

enum class Redaction : uint8_t { kBlock, kSha256 };

// The value of `redact`.
absl::StatusOr<Redaction> ParseRedaction(const Value& keyword);

}  // namespace fjord::doc
