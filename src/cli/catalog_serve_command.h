// `fjord catalog serve`: the embedded catalog over the Iceberg REST protocol,
// until SIGINT or SIGTERM.
#pragma once

#include "cli/exit_code.h"
#include "cli/options.h"
#include "spec/config.h"

namespace fjord {

ExitCode RunCatalogServe(const Config& config, const CatalogServeOptions& options);

}  // namespace fjord
