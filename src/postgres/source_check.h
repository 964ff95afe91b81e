// Is the source ready to be replicated? Looks only, and says for each thing that is missing the
// statement that helps.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "postgres/catalog.h"
#include "postgres/connection.h"
#include "postgres/publication.h"
#include "postgres/slot.h"

namespace fjord {

enum class Severity {
  kError,    // replication (of this table) cannot work
  kWarning,  // works, but somebody should know
  kInfo,
};
struct Finding {
  Severity severity = Severity::kError;
  std::string subject;    // "server", "role", "slot fjord_shop", "table public.orders"
  std::string what;       // a sentence
  std::string statement;  // to type, or empty
};

// A configured entry.
struct CheckedTable {
  TablePattern pattern;
  std::string text;  // as configured
  bool append_only = false;
};
struct SourceCheckOptions {
  ConnectionOptions connection;
  std::string slot;
  std::string publication;
  std::string append_only_publication;
  std::vector<CheckedTable> tables;
};

// Everything that the findings are judged from.
struct SourceFacts {
  ServerInfo server;
  std::string wal_level;
  int max_replication_slots = 0;
  int used_replication_slots = 0;
  int max_wal_senders = 0;
  int used_wal_senders = 0;
  std::string max_slot_wal_keep_size;  // as SHOW prints it; "-1" no limit
  std::string idle_slot_timeout;       // PostgreSQL 18; empty before
  bool role_can_replicate = false;
  bool role_is_superuser = false;
  bool role_bypasses_rls = false;
  bool can_create_in_database = false;
  std::string replication_error;  // why a replication session could not be opened; empty: it could
  std::optional<SlotState> slot;
  std::optional<Publication> publication;
  std::optional<Publication> append_only_publication;
  struct Table {
    TableInfo info;
    bool append_only = false;
  };
  std::vector<Table> tables;
  std::vector<CheckedTable> unmatched;  // entries that matched no table
};

// Connects (an error: not even that worked) and reads the facts. Changes nothing.
absl::StatusOr<SourceFacts> GatherSourceFacts(const SourceCheckOptions& options);
// Pure. Errors first.
std::vector<Finding> JudgeSource(const SourceCheckOptions& options, const SourceFacts& facts);

// Findings for one table alone, whatever its publication. Pure.
std::vector<Finding> JudgeTable(const SourceFacts& facts, const SourceFacts::Table& table);

}  // namespace fjord
