#include "cli/check_command.h"

#include <iostream>

namespace fjord {

ExitCode RunCheck(const Config&, const CheckOptions&) {
  std::cerr << "fjord check: not yet: this version of fjord cannot do it\n";
  return ExitCode::kFailure;
}

}  // namespace fjord
