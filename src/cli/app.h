// The program: parse, load the configuration, run one command.
#pragma once

namespace fjord {

// The exit status of the process.
int Main(int argc, char** argv);

}  // namespace fjord
