#include "cli/version_command.h"

#include <iostream>

namespace fjord {

ExitCode RunVersion() {
  std::cout << "fjord " << FJORD_VERSION << "\n";
  return ExitCode::kClean;
}

}  // namespace fjord
