// `fjord check`: a read-only look at source, catalog and storage; exit 1 when
// something has to be done.
#pragma once

#include "cli/exit_code.h"
#include "cli/options.h"
#include "spec/config.h"

namespace fjord {

ExitCode RunCheck(const Config& config, const CheckOptions& options);

}  // namespace fjord
