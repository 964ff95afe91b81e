// What the stream does not say: that rows got other values without any change of a row (ALTER
// COLUMN … TYPE … USING, a column dropped and added again), or do not come any more (dropped,
// renamed, taken out of the publication). Read from the catalogue, which takes no lock on any
// table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "postgres/connection.h"
#include "postgres/publication.h"

namespace fjord {

// Small and durable: part of the control record.
struct TableDefinition {
  std::string columns;      // digest of numbers, names, types
  std::string column_rows;  // digest of the catalogue's row versions of the columns
  uint32_t relfilenode = 0;
  std::string key;  // attribute numbers in the order in which they are hashed: "3 1"
  friend bool operator==(const TableDefinition&, const TableDefinition&) = default;
};

struct FoundTable {
  Oid oid;
  std::string schema;
  std::string name;
  bool identity_is_full = false;
  std::string identity;        // of DEFAULT and USING INDEX: attribute numbers, sorted; empty: none
  TableDefinition definition;  // without `key`, which is a choice
};

struct WatchedTable {
  Oid oid;
  std::vector<int16_t> columns;  // that are replicated; empty: all
};
// Those that are still there.
absl::StatusOr<std::vector<FoundTable>> FindTables(Connection& session,
                                                   const std::vector<WatchedTable>& tables);

// Empty when the rows of a table that was `before` are still those that went through the stream;
// else what happened. (VACUUM FULL gives a table another file, SET DEFAULT gives a column another
// row of the catalogue; only what computes the values of a column anew does both at once.) Pure.
std::string DefinitionDifference(const TableDefinition& before, const TableDefinition& now);

struct PublicationMember {
  CatalogRow publication;
  bool inserts = false;  // publishes INSERT and TRUNCATE
  bool changes = false;  // and UPDATE and DELETE
  Oid relation;          // zero: it names no table
  CatalogRow membership;
};
// At least one for a publication that is there.
absl::StatusOr<std::vector<PublicationMember>> FindMembers(Connection& session,
                                                           const std::string& publication);

std::string FormatAttnums(const std::vector<int16_t>& attnums);

}  // namespace fjord
