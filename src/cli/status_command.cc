#include "cli/status_command.h"

#include <iostream>

namespace fjord {

ExitCode RunStatus(const Config&, const StatusOptions&) {
  std::cerr << "fjord status: not yet: this version of fjord cannot do it\n";
  return ExitCode::kFailure;
}

}  // namespace fjord
