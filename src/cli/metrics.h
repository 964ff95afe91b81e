// The metrics of a running process, rendered from what its replications say of themselves.
#pragma once

#include <string>
#include <vector>

#include "replicate/replication.h"

namespace fjord {

// Prometheus text.
std::string RenderMetrics(const std::vector<ReplicationStatus>& all);

}  // namespace fjord
