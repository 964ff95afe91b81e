// What a replication finds at its source when it starts: identity, tables, publications. Reads, and
// makes the publications.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "postgres/catalog.h"
#include "postgres/connection.h"
#include "postgres/publication.h"
#include "postgres/slot.h"
#include "postgres/table_definition.h"
#include "replicate/replication.h"

namespace fjord {

struct SourceTable {
  const ReplicatedTableOptions* options = nullptr;
  std::string name;               // "public.orders"
  std::optional<TableInfo> info;  // nothing: it is not there
  KeyChoice key;
  std::string refusal;  // why the table cannot be replicated; empty: it can
};

struct SourceView {
  ServerInfo server;
  SourceIdentity identity;
  std::vector<TimelineEnd> history;
  std::optional<SlotState> slot;
  std::vector<SourceTable> tables;  // in the order of the options
  std::map<Oid, TableDefinition> definitions;
  // Publication rows by relation.
  std::map<Oid, PublishedTable> published;
  std::vector<std::string> publications;  // that are in use: what the stream asks for
};

// Judges which tables can be replicated. Pure.
void JudgeTables(std::vector<SourceTable>& tables);

// Connects and looks. Makes or extends the publications when something is missing:
// kFailedPrecondition with the statements to run when the role may not.
absl::StatusOr<SourceView> PrepareSource(const ReplicationOptions& options);

// Identity and slot again, for each reconnect.
absl::StatusOr<SourceView> LookAgain(const ReplicationOptions& options);

}  // namespace fjord
