// Error handling: absl::Status everywhere, and the few macros that keep it readable.
//
// The code of a status tells the caller what to do (docs/architecture.md, "Errors"):
//   kUnavailable        retry later
//   kAborted            conflict: refresh and retry
//   kUnknown            the outcome of a commit is not known: reconcile, never repeat blindly
//   kFailedPrecondition a person must act
//   kDataLoss           bytes are wrong
//   kInvalidArgument    the caller's input is wrong
#pragma once

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace fjord {

// The same code and payloads with "context: " in front of the message. An OK status stays OK.
absl::Status Annotate(const absl::Status& status, std::string_view context);

// The message without the code, for people.
std::string_view Message(const absl::Status& status);

}  // namespace fjord

#define FJORD_CONCAT_INNER(a, b) a##b
#define FJORD_CONCAT(a, b) FJORD_CONCAT_INNER(a, b)

#define RETURN_IF_ERROR(expr)                                     \
  do {                                                            \
    if (absl::Status fjord_status = (expr); !fjord_status.ok()) { \
      return fjord_status;                                        \
    }                                                             \
  } while (false)

// ASSIGN_OR_RETURN(auto x, F()): x = the value, or return the status.
#define ASSIGN_OR_RETURN(lhs, expr) \
  FJORD_ASSIGN_OR_RETURN_IMPL(FJORD_CONCAT(fjord_statusor_, __LINE__), lhs, expr)
#define FJORD_ASSIGN_OR_RETURN_IMPL(var, lhs, expr) \
  auto var = (expr);                                \
  if (!var.ok()) return std::move(var).status();    \
  lhs = *std::move(var)
