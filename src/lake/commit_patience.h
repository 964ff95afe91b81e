// How long a commit without a clear answer is pursued.
#pragma once

#include "absl/time/time.h"

namespace fjord {

struct CommitPatience {
  int sends_max = 5;
  int looks_max = 3;                               // in a row, when the catalog cannot be read
  absl::Duration pause = absl::Milliseconds(200);  // doubles with each try
};

}  // namespace fjord
