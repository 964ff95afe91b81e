// `run` and `init`: every replication of the configuration on a thread of its own, until a signal
// or until nothing can run.
#pragma once

#include "cli/exit_code.h"
#include "replicate/replication.h"
#include "spec/config.h"

namespace fjord {

ExitCode RunReplications(const Config& config, RunUntil until);

// Where a running process tells what it knows, for `fjord status`:
// <stateDir>/<replication>/status.json.
std::string StatusFile(const Config& config, const std::string& replication);
std::string FormatStatus(const ReplicationStatus& status);

}  // namespace fjord
