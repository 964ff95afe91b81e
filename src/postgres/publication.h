// Publications: what is in them, and the statements that put in what is missing.
//
// A replication has up to two: the main one, and one with publish = 'insert, truncate' for
// append-only tables that have no identity (in a publication with updates, PostgreSQL would refuse
// the application's own UPDATE and DELETE).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "postgres/connection.h"

namespace fjord {

// A row of the catalogue, by which one recognises that a table left and came back, or that
// something was altered.
struct CatalogRow {
  Oid oid;
  Xid xmin;
  friend bool operator==(const CatalogRow&, const CatalogRow&) = default;
};

struct PublishedTable {
  Oid relation;
  std::string schema;
  std::string name;
  CatalogRow publication;  // of pg_publication
  CatalogRow membership;   // of pg_publication_rel; zero when it comes by schema or ALL TABLES
  std::string row_filter;  // SQL expression; empty: all rows
  std::vector<int16_t> column_attnums;  // empty: all columns
};

struct Publication {
  std::string name;
  CatalogRow row;
  bool all_tables = false;
  bool insert = true;
  bool update = true;
  bool del = true;
  bool truncate = true;
  bool via_partition_root = false;
  bool is_owner = false;               // may the current role alter it
  std::vector<std::string> schemas;    // FOR TABLES IN SCHEMA
  std::vector<PublishedTable> tables;  // everything that it publishes, by (schema, name)
};
// Nothing when there is none.
absl::StatusOr<std::optional<Publication>> ReadPublication(Connection& session,
                                                           std::string_view name);

struct QualifiedName {
  std::string schema;
  std::string name;
  friend auto operator<=>(const QualifiedName&, const QualifiedName&) = default;
};
enum class PublicationRole { kMain, kAppendOnly };
// Statements that make `existing` (nothing: it is to be created) publish `wanted` and the role's
// operations, in the order to run them; none when it does already. Never takes anything out. Empty
// `wanted`: none. Pure.
std::vector<std::string> PlanPublication(std::string_view name, PublicationRole role,
                                         const std::optional<Publication>& existing,
                                         const std::vector<QualifiedName>& wanted);

}  // namespace fjord
