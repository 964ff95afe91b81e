// Parsing of the command line.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "cli/exit_code.h"
#include "cli/options.h"

namespace fjord {

// The program has nothing to do but print `text` (to standard output when the code is kClean, else
// to standard error) and end.
struct EndWithText {
  std::string text;
  ExitCode code;
};

// `arguments` without the program's name.
std::variant<CommandLine, EndWithText> ParseCommandLine(std::vector<std::string> arguments);

}  // namespace fjord
