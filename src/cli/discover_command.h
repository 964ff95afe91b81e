// `fjord discover`: proposes the tables section, as YAML on standard output.
#pragma once

#include "cli/exit_code.h"
#include "cli/options.h"
#include "spec/config.h"

namespace fjord {

// A replication without tables comes with the pattern "*.*".
ExitCode RunDiscover(const Config& config, const DiscoverOptions& options);

}  // namespace fjord
