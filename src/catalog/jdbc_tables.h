// The SQLite file of the embedded catalog: the tables of Iceberg's JDBC catalog, layout V1, as
// PyIceberg and Java make them.
//
//   iceberg_tables                (catalog_name, table_namespace, table_name) -> metadata_location,
//   previous_metadata_location,
//                                 iceberg_type ('TABLE' or null; 'VIEW' rows are left alone)
//   iceberg_namespace_properties  (catalog_name, namespace, property_key) -> property_value;
//   'exists' marks one without any
//
// The levels of a namespace are joined with '.', as the other implementations do: a level that
// holds a dot and two levels are the same row.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/sqlite.h"
#include "catalog/catalog.h"

namespace fjord {

// Replaces the location of a table's metadata if it is still `expected`; without
// `expected`, adds the table.
struct LocationSwap {
  TableIdent ident;
  std::optional<std::string> expected;
  std::string next;
};

// Thread-safe: one connection behind a mutex. Other processes may use the file at the same time.
class JdbcTables {
 public:
  // Makes the file when it is missing; adds the column that a V0 file lacks.
  static absl::StatusOr<std::unique_ptr<JdbcTables>> Open(const std::string& path,
                                                          std::string catalog_name);

  // kNotFound.
  absl::StatusOr<std::string> Location(const TableIdent& ident);
  absl::StatusOr<std::vector<TableIdent>> TablesIn(const Namespace& ns);
  // All swaps in one transaction. kAborted: an expected location has changed; kAlreadyExists: a
  // table to add is there. Both, and every other code but kUnknown: nothing is in.
  absl::Status Swap(const std::vector<LocationSwap>& swaps);
  absl::Status Drop(const TableIdent& ident);
  absl::Status Rename(const TableIdent& from, const TableIdent& to);

  absl::StatusOr<bool> NamespaceExists(const Namespace& ns);
  absl::StatusOr<std::vector<Namespace>> NamespacesBelow(const Namespace& parent);
  absl::StatusOr<std::map<std::string, std::string>> Properties(const Namespace& ns);
  // kAlreadyExists.
  absl::Status CreateNamespace(const Namespace& ns,
                               const std::map<std::string, std::string>& properties);
  absl::StatusOr<PropertiesChange> ChangeProperties(
      const Namespace& ns, const std::vector<std::string>& removals,
      const std::map<std::string, std::string>& updates);
  absl::Status DropNamespace(const Namespace& ns);

 private:
  JdbcTables(std::unique_ptr<SqliteDatabase> db, std::string catalog_name)
      : db_(std::move(db)), catalog_name_(std::move(catalog_name)) {}

  // The methods below want mutex_ held. Parameter 0 is the catalog's name; `values` follow.
  absl::StatusOr<SqliteStatement> Bound(std::string_view sql,
                                        const std::vector<std::string>& values);
  absl::StatusOr<int64_t> Change(std::string_view sql, const std::vector<std::string>& values);
  absl::Status SwapOne(const LocationSwap& swap);
  absl::StatusOr<bool> Exists(const Namespace& ns);
  // Runs `work` in one transaction; an error of `work` takes it back. kUnknown
  // when the end of it failed.
  template <class Work>
  absl::Status Transaction(const Work& work);

  std::mutex mutex_;
  const std::unique_ptr<SqliteDatabase> db_;  // guarded by mutex_
  const std::string catalog_name_;
};

}  // namespace fjord
