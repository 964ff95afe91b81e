// The names of all tables that could be replicated.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "postgres/connection.h"
#include "postgres/publication.h"

namespace fjord {

// Ordinary and partitioned tables outside the system's schemas, partitions left
// out, by (schema, name).
absl::StatusOr<std::vector<QualifiedName>> ListTableNames(Connection& session);

}  // namespace fjord
