#include "cli/demo_command.h"

#include <iostream>

namespace fjord {

ExitCode RunDemo(const DemoOptions&) {
  std::cerr << "fjord demo: not yet: this version of fjord cannot do it\n";
  return ExitCode::kFailure;
}

}  // namespace fjord
