#include "cli/init_command.h"

#include "cli/runner.h"

namespace fjord {

ExitCode RunInit(const Config& config, const InitOptions&) {
  return RunReplications(config, RunUntil::kCopied);
}

}  // namespace fjord
