// `fjord demo`: a private PostgreSQL, sample data, a lake beside it, changes, and a query.
#pragma once

#include "cli/exit_code.h"
#include "cli/options.h"

namespace fjord {

ExitCode RunDemo(const DemoOptions& options);

}  // namespace fjord
