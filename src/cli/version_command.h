// `fjord version`: prints name and version.
#pragma once

#include "cli/exit_code.h"

namespace fjord {

ExitCode RunVersion();

}  // namespace fjord
