#include "cli/discover_command.h"

#include <iostream>

namespace fjord {

ExitCode RunDiscover(const Config&, const DiscoverOptions&) {
  std::cerr << "fjord discover: not yet: this version of fjord cannot do it\n";
  return ExitCode::kFailure;
}

}  // namespace fjord
