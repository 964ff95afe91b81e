#include "cli/run_command.h"

#include <iostream>

namespace fjord {

ExitCode RunRun(const Config&, const RunOptions&) {
  std::cerr << "fjord run: not yet: this version of fjord cannot do it\n";
  return ExitCode::kFailure;
}

}  // namespace fjord
