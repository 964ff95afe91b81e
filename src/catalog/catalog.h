// A catalog of Iceberg tables: the embedded one (embedded_catalog.h), or one behind the Iceberg
// REST protocol (rest_catalog.h).
//
// What lake and replicate need is pure virtual. The operations of an administrator, which only the
// catalog server passes on, answer kUnimplemented where a catalog does not offer them.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "iceberg/metadata.h"
#include "iceberg/table_update.h"

namespace fjord {

using Namespace = std::vector<std::string>;  // its levels; empty: the root

struct TableIdent {
  Namespace ns;
  std::string name;
  std::string ToString() const;  // "shop.orders"
  friend auto operator<=>(const TableIdent&, const TableIdent&) = default;
};

// Credentials for the objects below one prefix: the longest prefix that fits a
// location wins, before TableStorage::config.
struct StorageCredential {
  std::string prefix;
  std::map<std::string, std::string> config;
};

// How the objects of a table are reached, as the catalog says it (Iceberg REST specification,
// `config` and `storage-credentials`). Holds secrets: never logged.
struct TableStorage {
  std::map<std::string, std::string> config;
  std::vector<StorageCredential> credentials;

  // What holds for the objects at `location`: config with the nearest credential's entries over it.
  std::map<std::string, std::string> ConfigFor(std::string_view location) const;
};

struct LoadedTable {
  TableMetadata metadata;
  std::string metadata_location;  // empty: staged only, or a REST catalog does not say it
  TableStorage storage;           // empty in the answer to a commit
};

struct TableCreation {
  Json schema;           // Iceberg JSON; field ids are assigned by the catalog
  std::string location;  // empty: the catalog chooses
  std::map<std::string, std::string> properties;  // "format-version" among them is the version
  Json partition_spec;                            // null: unpartitioned
  Json sort_order;                                // null: unsorted
};

struct TableCommit {
  TableIdent ident;
  CommitRequest request;
};

struct PropertiesChange {
  std::vector<std::string> removed;
  std::vector<std::string> updated;
  std::vector<std::string> missing;
};

// Thread-safe. A commit's outcome is its code:
//   OK              it is in
//   kAborted        a requirement failed: it is not in
//   kUnknown        it may be in: look before doing anything else
//   kUnavailable    it surely is not in, and may be sent again
//   kNotFound       no such table
//   kInvalidArgument, kFailedPrecondition, kPermissionDenied, kUnauthenticated   not in; a person
//   must act
// A catalog that gives a conflict for a commit that is in after all (an answer was lost, somebody
// repeated the request) cannot be told from one that rejects: judge kAborted too by looking, once a
// request may have reached it.
class Catalog {
 public:
  virtual ~Catalog() = default;

  // The namespaces right below `parent`. kNotFound.
  virtual absl::StatusOr<std::vector<Namespace>> ListNamespaces(const Namespace& parent) = 0;
  // No error when it exists.
  virtual absl::Status CreateNamespace(const Namespace& ns) = 0;
  // kNotFound when the namespace does not exist.
  virtual absl::StatusOr<std::vector<TableIdent>> ListTables(const Namespace& ns) = 0;
  virtual absl::StatusOr<LoadedTable> LoadTable(const TableIdent& ident) = 0;
  virtual absl::StatusOr<bool> TableExists(const TableIdent& ident);
  // kAlreadyExists; kNotFound when the namespace does not exist. kUnknown: it
  // may have been created.
  virtual absl::StatusOr<LoadedTable> CreateTable(const TableIdent& ident,
                                                  const TableCreation& creation) = 0;
  // With the requirement assert-create: creates the table from the updates.
  virtual absl::StatusOr<LoadedTable> CommitTable(const TableIdent& ident,
                                                  const CommitRequest& request) = 0;
  // Renews TableStorage::credentials. kUnimplemented: load the table again.
  virtual absl::StatusOr<std::vector<StorageCredential>> LoadCredentials(const TableIdent& ident);
  // Leaves the files.
  virtual absl::Status DropTable(const TableIdent& ident) = 0;

  // True: CommitTables is all or nothing.
  virtual bool SupportsAtomicCommits() const { return false; }
  // All of them or none; the codes of CommitTable. kUnimplemented without SupportsAtomicCommits.
  virtual absl::Status CommitTables(const std::vector<TableCommit>& commits);

  // What CreateTable would make, without making it; a commit with assert-create makes it.
  virtual absl::StatusOr<LoadedTable> StageTable(const TableIdent& ident,
                                                 const TableCreation& creation);
  // Makes the metadata file that somebody else wrote a table of this catalog.
  virtual absl::StatusOr<LoadedTable> RegisterTable(const TableIdent& ident,
                                                    const std::string& metadata_location);
  virtual absl::Status RenameTable(const TableIdent& from, const TableIdent& to);
  virtual absl::StatusOr<std::map<std::string, std::string>> LoadNamespace(const Namespace& ns);
  // kAlreadyExists.
  virtual absl::Status CreateNamespaceWith(const Namespace& ns,
                                           const std::map<std::string, std::string>& properties);
  virtual absl::StatusOr<PropertiesChange> ChangeNamespace(
      const Namespace& ns, const std::vector<std::string>& removals,
      const std::map<std::string, std::string>& updates);
  // kFailedPrecondition when it is not empty.
  virtual absl::Status DropNamespace(const Namespace& ns);
};

}  // namespace fjord
