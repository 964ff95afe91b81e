// `run` and `init`: every replication of the configuration on a thread of its own, until a signal
// or until nothing can run.
#pragma once

#include "cli/exit_code.h"
#include "replicate/replication.h"
#include "spec/config.h"

namespace fjord {

ExitCode RunReplications(const Config& config, RunUntil until);

}  // namespace fjord
