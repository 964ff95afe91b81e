// The judgement of what source_check.cc gathered. Pure.
#include <algorithm>

#include "base/strings.h"
#include "postgres/source_check.h"

namespace fjord {
namespace {

using Findings = std::vector<Finding>;

void Add(Findings& findings, Severity severity, std::string subject, std::string what,
         std::string statement = "") {
  findings.push_back({severity, std::move(subject), std::move(what), std::move(statement)});
}

constexpr int kOldestVersion = 140000;

void JudgeServer(const SourceCheckOptions& options, const SourceFacts& facts, Findings& findings) {
  if (facts.server.version < kOldestVersion) {
    Add(findings, Severity::kError, "server",
        StrCat("PostgreSQL ", facts.server.version / 10'000, " is too old: 14 or later is needed"));
  }
  if (facts.wal_level != "logical") {
    Add(findings, Severity::kError, "server",
        StrCat("wal_level is ", facts.wal_level,
               "; it has to be logical, and the server restarted after the change"),
        "ALTER SYSTEM SET wal_level = 'logical'");
  }
  if (!facts.slot && facts.used_replication_slots >= facts.max_replication_slots) {
    Add(findings, Severity::kError, "server",
        StrCat("all ", facts.max_replication_slots,
               " replication slots are in use (max_replication_slots); "
               "restart the server after the change"),
        StrCat("ALTER SYSTEM SET max_replication_slots = ", facts.max_replication_slots + 5));
  }
  const bool streaming = facts.slot && facts.slot->active_pid;
  if (!streaming && facts.used_wal_senders >= facts.max_wal_senders) {
    Add(findings, Severity::kError, "server",
        StrCat("all ", facts.max_wal_senders,
               " WAL senders are in use (max_wal_senders); restart the server after "
               "the change"),
        StrCat("ALTER SYSTEM SET max_wal_senders = ", facts.max_wal_senders + 5));
  }
  if (facts.max_slot_wal_keep_size == "-1") {
    Add(findings, Severity::kInfo, "server",
        StrCat("max_slot_wal_keep_size is not limited: while nothing reads slot ", options.slot,
               ", WAL is kept without end and can fill the disk"));
  }
  if (!facts.idle_slot_timeout.empty() && facts.idle_slot_timeout != "0") {
    Add(findings, Severity::kWarning, "server",
        StrCat("idle_replication_slot_timeout is ", facts.idle_slot_timeout,
               ": after a stop of that length the slot is lost and every table has to be copied "
               "again"));
  }
  if (facts.server.encoding == "SQL_ASCII") {
    Add(findings, Severity::kWarning, "server",
        "the database's encoding is SQL_ASCII: text that is not UTF-8 counts as a value that the "
        "lake cannot hold");
  }
}

void JudgeRole(const SourceFacts& facts, Findings& findings) {
  const std::string role = QuoteIdent(facts.server.user);
  const bool can_replicate = facts.role_can_replicate || facts.role_is_superuser;
  if (!can_replicate) {
    Add(findings, Severity::kError, "role",
        StrCat("the role ", facts.server.user,
               " may not replicate (on a hosted server the provider's own role may "
               "give that right, for example GRANT rds_replication)"),
        StrCat("ALTER ROLE ", role, " REPLICATION"));
  }
  if (facts.replication_error.empty()) return;
  const bool pooler = facts.replication_error.find("startup parameter") != std::string::npos ||
                      facts.replication_error.find("bouncer") != std::string::npos ||
                      facts.replication_error.find("08P01") != std::string::npos;
  if (pooler) {
    Add(findings, Severity::kError, "connection",
        StrCat("the address belongs to a connection pooler, which passes no replication; give the "
               "address of the "
               "database itself (",
               facts.replication_error, ")"));
  } else if (can_replicate) {
    Add(findings, Severity::kError, "connection",
        StrCat("a replication session was refused: ", facts.replication_error));
  }
}

void JudgeSlot(const SourceCheckOptions& options, const SourceFacts& facts, Findings& findings) {
  if (!facts.slot) return;
  const SlotState& slot = *facts.slot;
  const std::string subject = StrCat("slot ", options.slot);
  const std::string drop = StrCat("SELECT pg_drop_replication_slot(", QuoteLiteral(slot.name), ")");
  if (!slot.is_logical || slot.plugin != "pgoutput" || slot.database != facts.server.database) {
    Add(findings, Severity::kError, subject,
        StrCat("it is not ours: ", slot.is_logical ? "logical" : "physical", ", plugin \"",
               slot.plugin, "\", database \"", slot.database,
               "\"; choose another name for the slot, or drop it"),
        drop);
    return;
  }
  if (!slot.invalidation.empty()) {
    Add(findings, Severity::kError, subject,
        StrCat("it is lost: ", slot.invalidation, "; every table has to be copied again"), drop);
    return;
  }
  if (slot.active_pid) {
    Add(findings, Severity::kWarning, subject,
        StrCat("it is in use by pid ", *slot.active_pid,
               " of the server; that is right only while `fjord run` works "
               "on this replication"),
        StrCat("SELECT pg_terminate_backend(", *slot.active_pid, ")"));
  }
  if (slot.wal_status == "unreserved") {
    Add(findings, Severity::kWarning, subject,
        "the server may remove WAL that it needs at the next checkpoint");
  }
}

// Putting a table without identity into a publication with updates would make PostgreSQL refuse the
// application's own UPDATE and DELETE; what has other faults, it would not take at all.
bool IsPublishable(const SourceFacts::Table& table) {
  return table.info.kind == RelationKind::kTable &&
         table.info.persistence == Persistence::kPermanent &&
         (table.append_only || ChooseKey(table.info).kind == KeyChoice::Kind::kColumns);
}

struct PublicationCase {
  std::string name;
  PublicationRole role;
  const std::optional<Publication>& existing;
};

void JudgePublication(const PublicationCase& publication, const SourceFacts& facts,
                      Findings& findings) {
  std::vector<QualifiedName> wanted;
  bool may_add = true;  // only the owner of a table may put it into a publication
  for (const SourceFacts::Table& table : facts.tables) {
    const bool is_here = table.append_only == (publication.role == PublicationRole::kAppendOnly);
    if (!is_here || !IsPublishable(table)) continue;
    wanted.push_back({table.info.schema, table.info.name});
    may_add = may_add && table.info.is_owner;
  }
  const auto statements =
      PlanPublication(publication.name, publication.role, publication.existing, wanted);
  const bool may = may_add && (publication.existing ? publication.existing->is_owner
                                                    : facts.can_create_in_database);
  for (const std::string& statement : statements) {
    const std::string_view what =
        publication.existing ? "it does not publish all that is needed" : "it does not exist";
    Add(findings, may ? Severity::kInfo : Severity::kError,
        StrCat("publication ", publication.name),
        may ? StrCat(what, "; `fjord init` will run this")
            : StrCat(what, ", and the role ", facts.server.user,
                     " may not change that; an owner of the tables has to"),
        statement);
  }
}

void JudgeRights(const SourceFacts& facts, const TableInfo& info, const std::string& subject,
                 Findings& findings) {
  const std::string name = QuoteQualified(info.schema, info.name);
  const std::string role = QuoteIdent(facts.server.user);
  if (!info.can_use_schema) {
    Add(findings, Severity::kError, subject,
        StrCat("the role may not use the schema ", info.schema),
        StrCat("GRANT USAGE ON SCHEMA ", QuoteIdent(info.schema), " TO ", role));
  }
  if (!info.can_select) {
    Add(findings, Severity::kError, subject, "the role may not read it",
        StrCat("GRANT SELECT ON ", name, " TO ", role));
  }
  if (info.row_security_active && !facts.role_bypasses_rls && !facts.role_is_superuser) {
    Add(findings, Severity::kError, subject,
        "row-level security would hide rows from the first copy",
        StrCat("ALTER ROLE ", role, " BYPASSRLS"));
  }
}

// False: it is nothing that could be replicated at all.
bool JudgeKind(const TableInfo& info, const std::string& subject, Findings& findings) {
  const std::string name = QuoteQualified(info.schema, info.name);
  switch (info.kind) {
    case RelationKind::kTable: break;
    case RelationKind::kPartitionedTable:
      Add(findings, Severity::kError, subject,
          "partitioned tables are not supported yet; name the partitions instead");
      return false;
    case RelationKind::kForeignTable:
      Add(findings, Severity::kError, subject,
          "it is a foreign table: its changes are not in this server's log");
      return false;
    case RelationKind::kView:
    case RelationKind::kMaterializedView:
      Add(findings, Severity::kError, subject, "it is a view; name the tables that it reads");
      return false;
    case RelationKind::kOther:
      Add(findings, Severity::kError, subject, "it is no table");
      return false;
  }
  switch (info.persistence) {
    case Persistence::kPermanent: break;
    case Persistence::kUnlogged:
      Add(findings, Severity::kError, subject,
          "it is unlogged: its changes are not in the server's log",
          StrCat("ALTER TABLE ", name, " SET LOGGED"));
      break;
    case Persistence::kTemporary:
      Add(findings, Severity::kError, subject, "it is a temporary table");
      return false;
  }
  return true;
}

void JudgeKey(const SourceFacts::Table& table, const std::string& subject, Findings& findings) {
  if (table.append_only) return;
  const KeyChoice key = ChooseKey(table.info);
  switch (key.kind) {
    case KeyChoice::Kind::kColumns: return;
    case KeyChoice::Kind::kNone:
      Add(findings, Severity::kError, subject,
          StrCat(key.reason, "; or set appendOnly: true if its rows never change"), key.remedy);
      return;
    case KeyChoice::Kind::kWholeRow:
      Add(findings, Severity::kError, subject,
          "it has no key, which REPLICA IDENTITY FULL alone does not replace yet; or set "
          "appendOnly: true if its rows "
          "never change",
          StrCat("ALTER TABLE ", QuoteQualified(table.info.schema, table.info.name),
                 " ADD PRIMARY KEY (…)"));
      return;
  }
}

void JudgeColumns(const TableInfo& info, const std::string& subject, Findings& findings) {
  std::vector<std::string> generated;
  for (const ColumnInfo& column : info.columns) {
    if (column.generated != 0) generated.push_back(column.name);
  }
  if (generated.size() == info.columns.size()) {
    Add(findings, Severity::kError, subject, "it has no columns that could be replicated");
  } else if (!generated.empty()) {
    Add(findings, Severity::kInfo, subject,
        StrCat("generated columns are left out: ", Join(generated, ", ")));
  }
  if (info.has_children) {
    Add(findings, Severity::kInfo, subject,
        "rows of tables that inherit from it are not part of it; name those tables too");
  }
}

}  // namespace

std::vector<Finding> JudgeTable(const SourceFacts& facts, const SourceFacts::Table& table) {
  Findings findings;
  const std::string subject = StrCat("table ", DisplayName(table.info));
  if (!JudgeKind(table.info, subject, findings)) return findings;
  JudgeRights(facts, table.info, subject, findings);
  JudgeKey(table, subject, findings);
  JudgeColumns(table.info, subject, findings);
  return findings;
}

std::vector<Finding> JudgeSource(const SourceCheckOptions& options, const SourceFacts& facts) {
  Findings findings;
  JudgeServer(options, facts, findings);
  JudgeRole(facts, findings);
  JudgeSlot(options, facts, findings);
  for (const CheckedTable& entry : facts.unmatched) {
    Add(findings, Severity::kError, StrCat("table ", entry.text),
        entry.pattern.name ? "there is no such table; names are taken as they are stored, and "
                             "PostgreSQL stores unquoted "
                             "names in lower case"
                           : "the schema has no tables, or does not exist");
  }
  for (const SourceFacts::Table& table : facts.tables) {
    const Findings of_table = JudgeTable(facts, table);
    findings.insert(findings.end(), of_table.begin(), of_table.end());
  }
  JudgePublication({options.publication, PublicationRole::kMain, facts.publication}, facts,
                   findings);
  JudgePublication({options.append_only_publication, PublicationRole::kAppendOnly,
                    facts.append_only_publication},
                   facts, findings);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
  return findings;
}

}  // namespace fjord
