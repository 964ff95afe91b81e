// A catalog of Iceberg tables: the embedded one, or one behind the REST protocol.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iceberg/metadata.h"
#include "iceberg/table_update.h"

namespace fjord {

struct TableIdent {
  std::vector<std::string> ns;  // namespace levels
  std::string name;
  std::string ToString() const;  // "shop.orders"
  friend bool operator==(const TableIdent&, const TableIdent&) = default;
};

struct LoadedTable {
  TableMetadata metadata;
  std::string metadata_location;              // may be empty where a REST catalog does not say it
  std::map<std::string, std::string> config;  // storage settings and credentials from the catalog: never logged
};

struct TableCreation {
  Json schema;                                // Iceberg JSON; field ids are assigned by the catalog
  std::string location;                       // empty: the catalog chooses
  std::map<std::string, std::string> properties;
};

// Thread-safe. A commit's outcome is its code: OK it is in; kAborted a requirement failed, it is not in; kUnknown it may be in:
// look before doing anything else; kUnavailable it surely is not in and may be sent again. kNotFound: no such table.
class Catalog {
 public:
  virtual ~Catalog() = default;
  virtual absl::StatusOr<std::vector<std::vector<std::string>>> ListNamespaces() = 0;
  // No error when it exists.
  virtual absl::Status CreateNamespace(const std::vector<std::string>& ns) = 0;
  virtual absl::StatusOr<std::vector<TableIdent>> ListTables(const std::vector<std::string>& ns) = 0;
  virtual absl::StatusOr<LoadedTable> LoadTable(const TableIdent& ident) = 0;
  // kAlreadyExists.
  virtual absl::StatusOr<LoadedTable> CreateTable(const TableIdent& ident, const TableCreation& creation) = 0;
  virtual absl::StatusOr<LoadedTable> CommitTable(const TableIdent& ident, const CommitRequest& request) = 0;
  // Leaves the files.
  virtual absl::Status DropTable(const TableIdent& ident) = 0;
};

}  // namespace fjord
