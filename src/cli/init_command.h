// `fjord init`: slot, publication and first copy, with progress; goes on where it was stopped.
#pragma once

#include "cli/exit_code.h"
#include "cli/options.h"
#include "spec/config.h"

namespace fjord {

ExitCode RunInit(const Config& config, const InitOptions& options);

}  // namespace fjord
