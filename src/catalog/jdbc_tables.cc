#include "catalog/jdbc_tables.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr char kTables[] =
    "CREATE TABLE IF NOT EXISTS iceberg_tables ("
    "catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, "
    "table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000), "
    "previous_metadata_location VARCHAR(1000), iceberg_type VARCHAR(5), "
    "PRIMARY KEY (catalog_name, table_namespace, table_name));"
    "CREATE TABLE IF NOT EXISTS iceberg_namespace_properties ("
    "catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL, "
    "property_key VARCHAR(255) NOT NULL, property_value VARCHAR(1000), "
    "PRIMARY KEY (catalog_name, namespace, property_key));";

// What a namespace without properties has, so that it is there.
constexpr char kExistsKey[] = "exists";

absl::Status AddMissingColumn(SqliteDatabase& db) {
  {
    ASSIGN_OR_RETURN(
        SqliteStatement query,
        db.Prepare(
            "SELECT 1 FROM pragma_table_info('iceberg_tables') WHERE name = 'iceberg_type'"));
    ASSIGN_OR_RETURN(const bool there, query.Step());
    if (there) return absl::OkStatus();
  }
  return db.Exec("ALTER TABLE iceberg_tables ADD COLUMN iceberg_type VARCHAR(5)");
}

absl::StatusOr<std::unique_ptr<SqliteDatabase>> OpenDatabase(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteDatabase> db, SqliteDatabase::Open(path));
  // WAL lets readers of other processes go on while a commit is written; FULL makes a commit
  // durable when it returns.
  RETURN_IF_ERROR(db->Exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"));
  RETURN_IF_ERROR(db->Exec(kTables));
  RETURN_IF_ERROR(AddMissingColumn(*db));
  return db;
}

// A database appears with its tables in it: readers look at the file as soon as it is there.
absl::Status MakeDatabase(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) return absl::OkStatus();
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) {
    return absl::FailedPreconditionError(
        StrCat("cannot make the folder of ", path, ": ", error.message()));
  }
  const std::string temporary = StrCat(path, ".", Hex(RandomBytes(6)), ".tmp");
  RETURN_IF_ERROR(OpenDatabase(temporary).status());
  // Somebody else's that came first stays.
  std::filesystem::create_hard_link(temporary, path, error);
  std::filesystem::remove(temporary, error);
  return absl::OkStatus();
}

std::string JoinLevels(const Namespace& ns) { return Join(ns, "."); }

absl::Status NoTable(const TableIdent& ident) {
  return absl::NotFoundError(StrCat("no table ", ident.ToString(), " in the catalog"));
}
absl::Status NoNamespace(const Namespace& ns) {
  return absl::NotFoundError(StrCat("no namespace ", JoinLevels(ns), " in the catalog"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<JdbcTables>> JdbcTables::Open(const std::string& path,
                                                             std::string catalog_name) {
  RETURN_IF_ERROR(MakeDatabase(path));
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteDatabase> db, OpenDatabase(path));
  return std::unique_ptr<JdbcTables>(new JdbcTables(std::move(db), std::move(catalog_name)));
}

absl::StatusOr<SqliteStatement> JdbcTables::Bound(std::string_view sql,
                                                  const std::vector<std::string>& values) {
  ASSIGN_OR_RETURN(SqliteStatement statement, db_->Prepare(sql));
  statement.Bind(0, catalog_name_);
  for (size_t i = 0; i < values.size(); ++i) statement.Bind(static_cast<int>(i) + 1, values[i]);
  return statement;
}

absl::StatusOr<int64_t> JdbcTables::Change(std::string_view sql,
                                           const std::vector<std::string>& values) {
  ASSIGN_OR_RETURN(SqliteStatement statement, Bound(sql, values));
  RETURN_IF_ERROR(statement.Step().status());
  return db_->changes();
}

template <class Work>
absl::Status JdbcTables::Transaction(const Work& work) {
  // The write lock is taken at the start: whoever waits for it does so before having read anything.
  RETURN_IF_ERROR(db_->Exec("BEGIN IMMEDIATE"));
  absl::Status status = work();
  if (status.ok()) {
    status = db_->Exec("COMMIT");
    if (status.ok()) return status;
    // A sync that failed may have come after the bytes were on the disk.
    status = absl::UnknownError(
        StrCat("the end of the catalog's transaction failed: ", Message(status)));
  }
  db_->Exec("ROLLBACK").IgnoreError();  // because SQLite may have rolled back by itself
  return status;
}

absl::StatusOr<std::string> JdbcTables::Location(const TableIdent& ident) {
  std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(SqliteStatement query,
                   Bound("SELECT metadata_location FROM iceberg_tables WHERE catalog_name = ? AND "
                         "table_namespace = ? AND table_name = ? AND "
                         "(iceberg_type IS NULL OR iceberg_type = 'TABLE')",
                         {JoinLevels(ident.ns), ident.name}));
  ASSIGN_OR_RETURN(const bool row, query.Step());
  if (!row) return NoTable(ident);
  return query.Text(0).value_or("");
}

absl::StatusOr<std::vector<TableIdent>> JdbcTables::TablesIn(const Namespace& ns) {
  std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(const bool exists, Exists(ns));
  if (!exists) return NoNamespace(ns);
  ASSIGN_OR_RETURN(SqliteStatement query,
                   Bound("SELECT table_name FROM iceberg_tables WHERE catalog_name = ? AND "
                         "table_namespace = ? AND (iceberg_type IS NULL OR iceberg_type = 'TABLE') "
                         "ORDER BY 1",
                         {JoinLevels(ns)}));
  std::vector<TableIdent> tables;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, query.Step());
    if (!row) return tables;
    tables.push_back({ns, query.Text(0).value_or("")});
  }
}

absl::Status JdbcTables::SwapOne(const LocationSwap& swap) {
  const std::string ns = JoinLevels(swap.ident.ns);
  if (!swap.expected) {
    absl::Status added =
        Change(
            "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, "
            "metadata_location, previous_metadata_location, iceberg_type) "
            "VALUES (?, ?, ?, ?, NULL, 'TABLE')",
            {ns, swap.ident.name, swap.next})
            .status();
    if (!absl::IsAlreadyExists(added)) return added;
    return absl::AlreadyExistsError(
        StrCat("a table or view ", swap.ident.ToString(), " exists in the catalog"));
  }
  ASSIGN_OR_RETURN(
      const int64_t changed,
      Change("UPDATE iceberg_tables SET metadata_location = ?4, previous_metadata_location = ?5 "
             "WHERE catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3 AND "
             "metadata_location = ?5",
             {ns, swap.ident.name, swap.next, *swap.expected}));
  if (changed == 1) return absl::OkStatus();
  return absl::AbortedError(StrCat(swap.ident.ToString(), " was committed to by somebody else"));
}

absl::Status JdbcTables::Swap(const std::vector<LocationSwap>& swaps) {
  std::lock_guard lock(mutex_);
  return Transaction([&]() -> absl::Status {
    for (const LocationSwap& swap : swaps) RETURN_IF_ERROR(SwapOne(swap));
    return absl::OkStatus();
  });
}

absl::Status JdbcTables::Drop(const TableIdent& ident) {
  std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(
      const int64_t changed,
      Change("DELETE FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ? "
             "AND table_name = ? AND (iceberg_type IS NULL OR iceberg_type = 'TABLE')",
             {JoinLevels(ident.ns), ident.name}));
  return changed == 1 ? absl::OkStatus() : NoTable(ident);
}

absl::Status JdbcTables::Rename(const TableIdent& from, const TableIdent& to) {
  std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(const bool exists, Exists(to.ns));
  if (!exists) return NoNamespace(to.ns);
  const absl::StatusOr<int64_t> changed = Change(
      "UPDATE iceberg_tables SET table_namespace = ?4, table_name = ?5 WHERE "
      "catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3 AND "
      "(iceberg_type IS NULL OR iceberg_type = 'TABLE')",
      {JoinLevels(from.ns), from.name, JoinLevels(to.ns), to.name});
  if (absl::IsAlreadyExists(changed.status())) {
    return absl::AlreadyExistsError(StrCat("a table or view ", to.ToString(), " exists"));
  }
  RETURN_IF_ERROR(changed.status());
  return *changed == 1 ? absl::OkStatus() : NoTable(from);
}

absl::StatusOr<bool> JdbcTables::Exists(const Namespace& ns) {
  // A namespace is there when it has a property or a table, or when one below it has.
  ASSIGN_OR_RETURN(
      SqliteStatement query,
      Bound("SELECT 1 FROM iceberg_namespace_properties WHERE catalog_name = ?1 AND "
            "(namespace = ?2 OR substr(namespace, 1, length(?2) + 1) = ?2 || '.') UNION ALL "
            "SELECT 1 FROM iceberg_tables WHERE catalog_name = ?1 AND "
            "(table_namespace = ?2 OR substr(table_namespace, 1, length(?2) + 1) = ?2 || '.') "
            "LIMIT 1",
            {JoinLevels(ns)}));
  return query.Step();
}

absl::StatusOr<bool> JdbcTables::NamespaceExists(const Namespace& ns) {
  std::lock_guard lock(mutex_);
  return Exists(ns);
}

absl::StatusOr<std::vector<Namespace>> JdbcTables::NamespacesBelow(const Namespace& parent) {
  std::lock_guard lock(mutex_);
  if (!parent.empty()) {
    ASSIGN_OR_RETURN(const bool exists, Exists(parent));
    if (!exists) return NoNamespace(parent);
  }
  ASSIGN_OR_RETURN(
      SqliteStatement query,
      Bound("SELECT namespace FROM iceberg_namespace_properties WHERE catalog_name = ?1 UNION "
            "SELECT table_namespace FROM iceberg_tables WHERE catalog_name = ?1",
            {}));
  const Namespace levels = parent.empty() ? Namespace{} : Split(JoinLevels(parent), '.');
  std::set<Namespace> found;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, query.Step());
    if (!row) break;
    Namespace ns = Split(query.Text(0).value_or(""), '.');
    if (ns.size() <= levels.size()) continue;
    if (!std::equal(levels.begin(), levels.end(), ns.begin())) continue;
    ns.resize(levels.size() + 1);
    found.insert(std::move(ns));
  }
  return std::vector<Namespace>(found.begin(), found.end());
}

absl::StatusOr<std::map<std::string, std::string>> JdbcTables::Properties(const Namespace& ns) {
  std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(const bool exists, Exists(ns));
  if (!exists) return NoNamespace(ns);
  ASSIGN_OR_RETURN(SqliteStatement query,
                   Bound("SELECT property_key, property_value FROM iceberg_namespace_properties "
                         "WHERE catalog_name = ? AND namespace = ?",
                         {JoinLevels(ns)}));
  std::map<std::string, std::string> properties;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, query.Step());
    if (!row) return properties;
    properties[query.Text(0).value_or("")] = query.Text(1).value_or("");
  }
}

absl::Status JdbcTables::CreateNamespace(const Namespace& ns,
                                         const std::map<std::string, std::string>& properties) {
  std::map<std::string, std::string> all = properties;
  all.try_emplace(kExistsKey, "true");
  std::lock_guard lock(mutex_);
  return Transaction([&]() -> absl::Status {
    ASSIGN_OR_RETURN(const bool exists, Exists(ns));
    if (exists) return absl::AlreadyExistsError(StrCat("namespace ", JoinLevels(ns), " exists"));
    for (const auto& [key, value] : all) {
      RETURN_IF_ERROR(Change("INSERT INTO iceberg_namespace_properties VALUES (?, ?, ?, ?)",
                             {JoinLevels(ns), key, value})
                          .status());
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<PropertiesChange> JdbcTables::ChangeProperties(
    const Namespace& ns, const std::vector<std::string>& removals,
    const std::map<std::string, std::string>& updates) {
  PropertiesChange change;
  std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(Transaction([&]() -> absl::Status {
    ASSIGN_OR_RETURN(const bool exists, Exists(ns));
    if (!exists) return NoNamespace(ns);
    for (const std::string& key : removals) {
      ASSIGN_OR_RETURN(const int64_t removed,
                       Change("DELETE FROM iceberg_namespace_properties WHERE catalog_name = ? AND "
                              "namespace = ? AND property_key = ?",
                              {JoinLevels(ns), key}));
      (removed > 0 ? change.removed : change.missing).push_back(key);
    }
    for (const auto& [key, value] : updates) {
      RETURN_IF_ERROR(
          Change("INSERT OR REPLACE INTO iceberg_namespace_properties VALUES (?, ?, ?, ?)",
                 {JoinLevels(ns), key, value})
              .status());
      change.updated.push_back(key);
    }
    return absl::OkStatus();
  }));
  return change;
}

absl::Status JdbcTables::DropNamespace(const Namespace& ns) {
  std::lock_guard lock(mutex_);
  return Transaction([&]() -> absl::Status {
    ASSIGN_OR_RETURN(const bool exists, Exists(ns));
    if (!exists) return NoNamespace(ns);
    RETURN_IF_ERROR(Change("DELETE FROM iceberg_namespace_properties WHERE catalog_name = ? AND "
                           "namespace = ?",
                           {JoinLevels(ns)})
                        .status());
    // What still makes it exist is a table or a namespace in it.
    ASSIGN_OR_RETURN(const bool still, Exists(ns));
    if (!still) return absl::OkStatus();
    return absl::FailedPreconditionError(StrCat("namespace ", JoinLevels(ns), " is not empty"));
  });
}

}  // namespace fjord
