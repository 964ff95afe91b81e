// Where a running process tells what it knows, for `fjord status`:
// <stateDir>/<replication>/status.json.
#pragma once

#include <string>

#include "replicate/replication.h"
#include "spec/config.h"

namespace fjord {

std::string StatusFile(const Config& config, const std::string& replication);
// Replaces the file as a whole. A state directory that cannot be written shows elsewhere.
void WriteStatusFile(const Config& config, const ReplicationStatus& status);

}  // namespace fjord
