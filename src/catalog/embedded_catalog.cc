#include "catalog/embedded_catalog.h"

#include <filesystem>
#include <mutex>
#include <optional>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/sqlite.h"
#include "base/status.h"
#include "base/strings.h"
#include "io/object_store.h"

namespace fjord {
namespace {

constexpr char kSchema[] =
    "CREATE TABLE IF NOT EXISTS iceberg_tables ("
    "catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL, "
    "metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), iceberg_type VARCHAR(5), "
    "PRIMARY KEY (catalog_name, table_namespace, table_name));"
    "CREATE TABLE IF NOT EXISTS iceberg_namespace_properties ("
    "catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL, property_key VARCHAR(255) NOT NULL, "
    "property_value VARCHAR(1000), PRIMARY KEY (catalog_name, namespace, property_key));";

constexpr size_t kCachedTablesMax = 4096;
constexpr int kCommitTriesMax = 20;

int64_t NowMs() { return absl::ToUnixMillis(absl::Now()); }

// A folder name that any store takes, one for each name: everything but the plain characters is percent-encoded.
std::string SafeSegment(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (plain) {
      out.push_back(c);
    } else {
      out += absl::StrFormat("%%%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

// "00012-<uuid>.metadata.json" -> 12; -1 when the name is of another form.
int64_t VersionOf(std::string_view location) {
  const size_t slash = location.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? location : location.substr(slash + 1);
  const size_t dash = name.find('-');
  if (dash == std::string_view::npos) return -1;
  return ParseInt<int64_t>(name.substr(0, dash)).value_or(-1);
}

absl::StatusOr<std::unique_ptr<SqliteDatabase>> OpenDatabase(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteDatabase> db, SqliteDatabase::Open(path));
  // WAL lets readers of other processes go on while a commit is written; FULL makes a commit durable when it returns.
  RETURN_IF_ERROR(db->Exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"));
  RETURN_IF_ERROR(db->Exec(kSchema));
  return db;
}

// A database appears with its tables in it: readers look at the file as soon as it is there.
absl::Status MakeDatabase(const std::string& path) {
  if (std::filesystem::exists(path)) return absl::OkStatus();
  const std::string temporary = StrCat(path, ".", Hex(RandomBytes(6)), ".tmp");
  RETURN_IF_ERROR(OpenDatabase(temporary).status());
  std::error_code error;
  std::filesystem::create_hard_link(temporary, path, error);  // somebody else's that came first stays
  std::filesystem::remove(temporary, error);
  return absl::OkStatus();
}

class EmbeddedCatalog : public Catalog {
 public:
  EmbeddedCatalog(EmbeddedCatalogOptions options, ObjectStore* store, std::unique_ptr<SqliteDatabase> db)
      : options_(std::move(options)), store_(store), db_(std::move(db)) {}

  absl::StatusOr<std::vector<Namespace>> ListNamespaces(const Namespace& parent) override {
    std::lock_guard lock(mutex_);
    ASSIGN_OR_RETURN(SqliteStatement query,
                     db_->Prepare("SELECT DISTINCT namespace FROM iceberg_namespace_properties WHERE catalog_name = ? "
                                  "UNION SELECT DISTINCT table_namespace FROM iceberg_tables WHERE catalog_name = ? ORDER BY 1"));
    query.Bind(0, options_.name);
    query.Bind(1, options_.name);
    std::vector<std::vector<std::string>> namespaces;
    while (true) {
      ASSIGN_OR_RETURN(const bool row, query.Step());
      if (!row) return namespaces;
      Namespace ns = Split(query.Text(0).value_or(""), '.');
      if (ns.size() != parent.size() + 1 || !std::equal(parent.begin(), parent.end(), ns.begin())) continue;
      namespaces.push_back(std::move(ns));
    }
  }

  absl::Status CreateNamespace(const std::vector<std::string>& ns) override {
    std::lock_guard lock(mutex_);
    ASSIGN_OR_RETURN(SqliteStatement insert,
                     db_->Prepare("INSERT OR IGNORE INTO iceberg_namespace_properties VALUES (?, ?, 'exists', 'true')"));
    insert.Bind(0, options_.name);
    insert.Bind(1, Join(ns, "."));
    return insert.Step().status();
  }

  absl::StatusOr<std::vector<TableIdent>> ListTables(const std::vector<std::string>& ns) override {
    std::lock_guard lock(mutex_);
    ASSIGN_OR_RETURN(SqliteStatement query,
                     db_->Prepare("SELECT table_name FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ? "
                                  "AND (iceberg_type IS NULL OR iceberg_type = 'TABLE') ORDER BY 1"));
    query.Bind(0, options_.name);
    query.Bind(1, Join(ns, "."));
    std::vector<TableIdent> tables;
    while (true) {
      ASSIGN_OR_RETURN(const bool row, query.Step());
      if (!row) return tables;
      tables.push_back({ns, query.Text(0).value_or("")});
    }
  }

  absl::StatusOr<LoadedTable> LoadTable(const TableIdent& ident) override {
    ASSIGN_OR_RETURN(const std::string location, Location(ident));
    return Read(ident, location);
  }

  absl::StatusOr<LoadedTable> CreateTable(const TableIdent& ident, const TableCreation& creation) override {
    NewTable table{.schema = creation.schema, .location = creation.location, .properties = creation.properties};
    if (table.location.empty()) {
      table.location = options_.warehouse;
      for (const std::string& level : ident.ns) StrAppend(&table.location, "/", SafeSegment(level));
      StrAppend(&table.location, "/", SafeSegment(ident.name));
    }
    LoadedTable loaded;
    ASSIGN_OR_RETURN(loaded.metadata, MakeTable(table, NowMs()));
    RETURN_IF_ERROR(WriteMetadata(loaded, 0));
    {
      std::lock_guard lock(mutex_);
      ASSIGN_OR_RETURN(SqliteStatement insert,
                       db_->Prepare("INSERT INTO iceberg_tables VALUES (?, ?, ?, ?, NULL, 'TABLE')"));
      insert.Bind(0, options_.name);
      insert.Bind(1, Join(ident.ns, "."));
      insert.Bind(2, ident.name);
      insert.Bind(3, loaded.metadata_location);
      const absl::Status status = insert.Step().status();
      if (absl::IsAlreadyExists(status)) return absl::AlreadyExistsError(StrCat("table ", ident.ToString(), " exists"));
      RETURN_IF_ERROR(status);
      Remember(ident, loaded);
    }
    WriteHint(loaded);
    return loaded;
  }

  absl::StatusOr<LoadedTable> CommitTable(const TableIdent& ident, const CommitRequest& request) override {
    // Somebody else's commit between reading and replacing is no conflict by itself: the requirements decide.
    for (int i = 0; i < kCommitTriesMax; ++i) {
      ASSIGN_OR_RETURN(const LoadedTable base, LoadTable(ident));
      RETURN_IF_ERROR(CheckRequirements(request.requirements, &base.metadata));
      LoadedTable next;
      ASSIGN_OR_RETURN(next.metadata, ApplyUpdates(base.metadata, request.updates, NowMs()));
      const std::vector<std::string> fallen = LogPrevious(base, next.metadata);
      RETURN_IF_ERROR(WriteMetadata(next, VersionOf(base.metadata_location) + 1));
      ASSIGN_OR_RETURN(const bool replaced, Replace(ident, base.metadata_location, next));
      if (replaced) {
        WriteHint(next);
        for (const std::string& location : fallen) store_->Delete(location).IgnoreError();  // because it is only litter
        return next;
      }
      store_->Delete(next.metadata_location).IgnoreError();  // because nothing names it
    }
    return absl::UnavailableError(StrCat("table ", ident.ToString(), " is committed to by others all the time"));
  }

  absl::Status DropTable(const TableIdent& ident) override {
    std::lock_guard lock(mutex_);
    ASSIGN_OR_RETURN(SqliteStatement drop,
                     db_->Prepare("DELETE FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?"));
    drop.Bind(0, options_.name);
    drop.Bind(1, Join(ident.ns, "."));
    drop.Bind(2, ident.name);
    RETURN_IF_ERROR(drop.Step().status());
    cache_.erase(ident.ToString());
    return db_->changes() == 1 ? absl::OkStatus() : absl::NotFoundError(StrCat("no table ", ident.ToString()));
  }

 private:
  absl::StatusOr<std::string> Location(const TableIdent& ident) {
    std::lock_guard lock(mutex_);
    ASSIGN_OR_RETURN(SqliteStatement query,
                     db_->Prepare("SELECT metadata_location FROM iceberg_tables WHERE catalog_name = ? AND "
                                  "table_namespace = ? AND table_name = ? AND (iceberg_type IS NULL OR iceberg_type = 'TABLE')"));
    query.Bind(0, options_.name);
    query.Bind(1, Join(ident.ns, "."));
    query.Bind(2, ident.name);
    ASSIGN_OR_RETURN(const bool row, query.Step());
    if (!row) return absl::NotFoundError(StrCat("no table ", ident.ToString(), " in the catalog"));
    return query.Text(0).value_or("");
  }

  // A metadata file never changes, so what was read under its name holds.
  absl::StatusOr<LoadedTable> Read(const TableIdent& ident, const std::string& location) {
    {
      std::lock_guard lock(mutex_);
      const auto it = cache_.find(ident.ToString());
      if (it != cache_.end() && it->second.metadata_location == location) return it->second;
    }
    ASSIGN_OR_RETURN(const std::string text, store_->Get(location));
    const absl::StatusOr<Json> json = Json::Parse(text);
    if (!json.ok()) return absl::DataLossError(StrCat(location, ": ", Message(json.status())));
    LoadedTable loaded{.metadata_location = location};
    absl::StatusOr<TableMetadata> metadata = MetadataFromJson(*json);
    if (!metadata.ok()) return Annotate(metadata.status(), location);
    loaded.metadata = *std::move(metadata);
    std::lock_guard lock(mutex_);
    Remember(ident, loaded);
    return loaded;
  }

  void Remember(const TableIdent& ident, const LoadedTable& loaded) {
    if (cache_.size() >= kCachedTablesMax) cache_.clear();
    cache_[ident.ToString()] = loaded;
  }

  absl::Status WriteMetadata(LoadedTable& loaded, int64_t version) {
    loaded.metadata_location = absl::StrFormat("%s/metadata/%05d-%s.metadata.json", loaded.metadata.location,
                                               std::max<int64_t>(0, version), RandomUuid());
    return store_->Put(loaded.metadata_location, MetadataToJson(loaded.metadata).Dump());
  }

  // Puts the base's file on the log; returns the files that may be deleted after a certain commit.
  static std::vector<std::string> LogPrevious(const LoadedTable& base, TableMetadata& next) {
    next.metadata_log.push_back({base.metadata_location, base.metadata.last_updated_ms});
    size_t most = 100;
    if (const auto it = next.properties.find("write.metadata.previous-versions-max"); it != next.properties.end()) {
      most = std::max<size_t>(1, ParseInt<size_t>(it->second).value_or(most));
    }
    std::vector<std::string> fallen;
    const auto remove = next.properties.find("write.metadata.delete-after-commit.enabled");
    while (next.metadata_log.size() > most) {
      if (remove != next.properties.end() && remove->second == "true") fallen.push_back(next.metadata_log.front().metadata_file);
      next.metadata_log.erase(next.metadata_log.begin());
    }
    return fallen;
  }

  absl::StatusOr<bool> Replace(const TableIdent& ident, const std::string& expected, const LoadedTable& next) {
    std::lock_guard lock(mutex_);
    ASSIGN_OR_RETURN(SqliteStatement update,
                     db_->Prepare("UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ? WHERE "
                                  "catalog_name = ? AND table_namespace = ? AND table_name = ? AND metadata_location = ?"));
    update.Bind(0, next.metadata_location);
    update.Bind(1, expected);
    update.Bind(2, options_.name);
    update.Bind(3, Join(ident.ns, "."));
    update.Bind(4, ident.name);
    update.Bind(5, expected);
    const absl::Status status = update.Step().status();
    // A failed write of one statement is rolled back by SQLite, but whether a failing sync came before or after is not ours to guess.
    if (!status.ok()) return absl::IsUnavailable(status) ? status : absl::UnknownError(StrCat(Message(status)));
    if (db_->changes() == 0) return false;
    Remember(ident, next);
    return true;
  }

  // A hint that is late or missing costs a reader freshness, never truth.
  void WriteHint(const LoadedTable& loaded) {
    if (!loaded.metadata.location.starts_with("file:") && !loaded.metadata.location.starts_with("/")) return;
    const size_t slash = loaded.metadata_location.rfind('/');
    std::string name = loaded.metadata_location.substr(slash + 1);
    name.resize(name.size() - std::string_view(".metadata.json").size());
    const absl::Status status = store_->Replace(StrCat(loaded.metadata.location, "/metadata/version-hint.text"), name);
    if (!status.ok()) LogWarning("the version hint could not be written", {{"reason", Message(status)}});
  }

  const EmbeddedCatalogOptions options_;
  ObjectStore* const store_;
  std::mutex mutex_;
  std::unique_ptr<SqliteDatabase> db_;
  std::map<std::string, LoadedTable> cache_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Catalog>> OpenEmbeddedCatalog(EmbeddedCatalogOptions options, ObjectStore* store) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(options.database).parent_path(), error);
  if (error) {
    return absl::FailedPreconditionError(StrCat("cannot make the folder of ", options.database, ": ", error.message()));
  }
  RETURN_IF_ERROR(MakeDatabase(options.database));
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteDatabase> db, OpenDatabase(options.database));
  return std::make_unique<EmbeddedCatalog>(std::move(options), store, std::move(db));
}

}  // namespace fjord
