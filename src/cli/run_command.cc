#include "cli/run_command.h"

#include "cli/runner.h"

namespace fjord {

ExitCode RunRun(const Config& config, const RunOptions&) {
  return RunReplications(config, RunUntil::kStopped);
}

}  // namespace fjord
