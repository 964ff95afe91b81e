// `fjord run`: everything that `init` does where it was not done, then the stream
// until SIGINT or SIGTERM.
#pragma once

#include "cli/exit_code.h"
#include "cli/options.h"
#include "spec/config.h"

namespace fjord {

ExitCode RunRun(const Config& config, const RunOptions& options);

}  // namespace fjord
