// What the exit status of `fjord` says. Service managers and scripts rely on
// it (docs/guide.md, "Exit codes").
#pragma once

#include "absl/status/status.h"

namespace fjord {

enum class ExitCode : int {
  kClean = 0,
  kFailure = 1,         // start me again; of `check`: something was found
  kUsage = 2,           // bad command line
  kNotReady = 3,        // of `status`: not ready
  kUnavailable = 75,    // a dependency stayed away past the start-up window
  kConfiguration = 78,  // the configuration is wrong
  kSourceGone = 79,     // the source can no longer continue: resynchronise
};

// The code for an error that ends a command: kUnavailable 75, kInvalidArgument 78, else 1. What 79
// is for is known only where it happens.
ExitCode ExitCodeFor(const absl::Status& status);

}  // namespace fjord
