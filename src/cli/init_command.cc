#include "cli/init_command.h"

#include <iostream>

namespace fjord {

ExitCode RunInit(const Config&, const InitOptions&) {
  std::cerr << "fjord init: not yet: this version of fjord cannot do it\n";
  return ExitCode::kFailure;
}

}  // namespace fjord
