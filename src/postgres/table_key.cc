// The parts of catalog.h that need no server: names of tables, and which columns identify a row.
#include <optional>

#include "base/status.h"
#include "base/strings.h"
#include "postgres/catalog.h"

namespace fjord {
namespace {

struct PatternPart {
  std::string text;
  bool quoted = false;
};

// One name from the front of `rest`, up to a dot or the end.
absl::StatusOr<PatternPart> TakeName(std::string_view& rest) {
  PatternPart part;
  if (rest.empty() || rest.front() != '"') {
    const size_t end = rest.find('.');
    part.text = std::string(rest.substr(0, end));
    rest.remove_prefix(std::min(end, rest.size()));
    if (part.text.find('"') != std::string::npos) {
      return absl::InvalidArgumentError(
          "a double quote in the middle of a name: quote the whole name and double it");
    }
  } else {
    part.quoted = true;
    size_t i = 1;
    while (true) {
      if (i >= rest.size()) return absl::InvalidArgumentError("a double quote is not closed");
      if (rest[i] == '"' && (i + 1 >= rest.size() || rest[i + 1] != '"')) break;
      i += rest[i] == '"' ? 1 : 0;
      part.text += rest[i++];
    }
    rest.remove_prefix(i + 1);
  }
  if (part.text.empty()) return absl::InvalidArgumentError("a name is empty");
  return part;
}

absl::StatusOr<TablePattern> ParsePattern(std::string_view rest) {
  ASSIGN_OR_RETURN(const PatternPart schema, TakeName(rest));
  if (rest.empty() || rest.front() != '.')
    return absl::InvalidArgumentError("the schema is missing");
  rest.remove_prefix(1);
  ASSIGN_OR_RETURN(const PatternPart name, TakeName(rest));
  if (!rest.empty())
    return absl::InvalidArgumentError("there is something behind the table's name");
  if (!schema.quoted && schema.text.find('*') != std::string::npos) {
    return absl::InvalidArgumentError("a star cannot stand in the schema");
  }
  if (!name.quoted && name.text == "*") return TablePattern{.schema = schema.text};
  if (!name.quoted && name.text.find('*') != std::string::npos) {
    return absl::InvalidArgumentError(
        "a star stands for all tables of a schema, it cannot be a part of a name");
  }
  return TablePattern{.schema = schema.text, .name = name.text};
}

KeyChoice Columns(const CandidateKey& key) {
  return {.kind = KeyChoice::Kind::kColumns, .attnums = key.attnums};
}

// The best unique index: the primary key, else the one with the lowest oid.
const CandidateKey* BestKey(const TableInfo& table) {
  for (const CandidateKey& key : table.keys) {
    if (key.is_primary && key.is_usable) return &key;
  }
  const CandidateKey* best = nullptr;
  for (const CandidateKey& key : table.keys) {
    if (key.is_usable && (best == nullptr || key.index < best->index)) best = &key;
  }
  return best;
}

KeyChoice NoKey(const TableInfo& table, std::string_view reason) {
  const std::string name = QuoteQualified(table.schema, table.name);
  KeyChoice none{.reason = std::string(reason)};
  const CandidateKey* best = BestKey(table);
  if (best == nullptr) {
    none.remedy = StrCat("ALTER TABLE ", name, " ADD PRIMARY KEY (…)");
  } else if (best->is_primary) {
    none.remedy = StrCat("ALTER TABLE ", name, " REPLICA IDENTITY DEFAULT");
  } else {
    none.remedy =
        StrCat("ALTER TABLE ", name, " REPLICA IDENTITY USING INDEX ", QuoteIdent(best->name));
  }
  return none;
}

}  // namespace

absl::StatusOr<TablePattern> ParseTablePattern(std::string_view text) {
  auto pattern = ParsePattern(text);
  if (pattern.ok()) return pattern;
  return absl::InvalidArgumentError(
      StrCat("\"", text, "\" is no table: ", pattern.status().message(),
             "; write schema.table or schema.*, and names with dots in double quotes"));
}

KeyChoice ChooseKey(const TableInfo& table) {
  switch (table.replica_identity) {
    case ReplicaIdentity::kNothing:
      return NoKey(table,
                   "REPLICA IDENTITY is NOTHING: PostgreSQL does not say which row an UPDATE or "
                   "DELETE changed");
    case ReplicaIdentity::kDefault:
      for (const CandidateKey& key : table.keys) {
        if (!key.is_primary) continue;
        if (key.is_usable) return Columns(key);
        return NoKey(table,
                     "the primary key is deferrable, not valid, or has a generated column, so "
                     "PostgreSQL does "
                     "not send it as identity");
      }
      return NoKey(
          table,
          "it has no primary key: PostgreSQL does not say which row an UPDATE or DELETE changed");
    case ReplicaIdentity::kIndex:
      for (const CandidateKey& key : table.keys) {
        if (key.is_replica_identity && key.is_usable) return Columns(key);
      }
      return NoKey(table,
                   "the index of its REPLICA IDENTITY USING INDEX is gone or cannot be used");
    case ReplicaIdentity::kFull: {
      const CandidateKey* best = BestKey(table);
      if (best != nullptr) return Columns(*best);
      return {.kind = KeyChoice::Kind::kWholeRow};
    }
  }
  return {};
}

}  // namespace fjord
