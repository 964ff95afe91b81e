// `fjord status`: per table: rows, lag, state, watermark; exit 3 when not ready.
#pragma once

#include "cli/exit_code.h"
#include "cli/options.h"
#include "spec/config.h"

namespace fjord {

ExitCode RunStatus(const Config& config, const StatusOptions& options);

}  // namespace fjord
