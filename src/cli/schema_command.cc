#include "cli/schema_command.h"

#include <iostream>

#include "spec/grammar.h"

namespace fjord {

ExitCode RunSchema() {
  std::cout << ConfigJsonSchema() << "\n";
  return ExitCode::kClean;
}

}  // namespace fjord
