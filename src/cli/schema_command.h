// `fjord schema`: prints the JSON Schema of the configuration file.
#pragma once

#include "cli/exit_code.h"

namespace fjord {

ExitCode RunSchema();

}  // namespace fjord
