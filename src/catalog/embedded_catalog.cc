#include "catalog/embedded_catalog.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/jdbc_tables.h"
#include "io/object_store.h"

namespace fjord {
namespace {

constexpr size_t kCachedTablesMax = 4096;
constexpr int kCommitTriesMax = 20;
constexpr size_t kPreviousVersionsDefault = 100;
constexpr std::string_view kMetadataSuffix = ".metadata.json";
constexpr char kMetadataPath[] = "write.metadata.path";

using SharedTable = std::shared_ptr<const LoadedTable>;

int64_t NowMs() { return absl::ToUnixMillis(absl::Now()); }

// A folder name that any store takes, one for each name: everything but the
// plain characters is percent-encoded.
std::string SafeSegment(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-';
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
  const std::string_view name =
      slash == std::string_view::npos ? location : location.substr(slash + 1);
  const size_t dash = name.find('-');
  if (dash == std::string_view::npos) return -1;
  return ParseInt<int64_t>(name.substr(0, dash)).value_or(-1);
}

std::string DefaultMetadataFolder(const TableMetadata& metadata) {
  return StrCat(metadata.location, "/metadata");
}

std::string MetadataFolder(const TableMetadata& metadata) {
  const auto it = metadata.properties.find(kMetadataPath);
  if (it == metadata.properties.end() || it->second.empty()) return DefaultMetadataFolder(metadata);
  std::string folder = it->second;
  while (folder.ends_with('/')) folder.pop_back();
  return folder;
}

// Puts the base's file on the log; returns the files that may be deleted after a certain commit.
std::vector<std::string> LogPrevious(const LoadedTable& base, TableMetadata& next) {
  next.metadata_log.push_back({base.metadata_location, base.metadata.last_updated_ms});
  size_t most = kPreviousVersionsDefault;
  if (const auto it = next.properties.find("write.metadata.previous-versions-max");
      it != next.properties.end()) {
    most = std::max<size_t>(1, ParseInt<size_t>(it->second).value_or(most));
  }
  if (next.metadata_log.size() <= most) return {};
  const auto first_kept = next.metadata_log.end() - static_cast<std::ptrdiff_t>(most);
  std::vector<std::string> fallen;
  const auto remove = next.properties.find("write.metadata.delete-after-commit.enabled");
  if (remove != next.properties.end() && remove->second == "true") {
    for (auto it = next.metadata_log.begin(); it != first_kept; ++it) {
      fallen.push_back(it->metadata_file);
    }
  }
  next.metadata_log.erase(next.metadata_log.begin(), first_kept);
  return fallen;
}

bool AssertsCreate(const Json& requirements) {
  if (!requirements.is_array()) return false;
  return std::any_of(
      requirements.array().begin(), requirements.array().end(), [](const Json& item) {
        const Json* type = item.Find("type");
        return type != nullptr && type->is_string() && type->as_string() == "assert-create";
      });
}

absl::Status CheckNames(const Namespace& ns) {
  if (ns.empty()) return absl::InvalidArgumentError("a namespace needs at least one level");
  for (const std::string& level : ns) {
    if (level.empty()) return absl::InvalidArgumentError("a level of the namespace has no name");
  }
  return absl::OkStatus();
}
absl::Status CheckNames(const TableIdent& ident) {
  if (ident.name.empty()) return absl::InvalidArgumentError("the table has no name");
  return CheckNames(ident.ns);
}

// One text for each row of the catalog, unlike TableIdent::ToString.
std::string KeyOf(const TableIdent& ident) {
  return StrCat(Join(ident.ns, "."), std::string_view("\0", 1), ident.name);
}

// One table of a commit: what it was, and what it is to be.
struct NextTable {
  TableIdent ident;
  SharedTable base;  // null: the table is created
  std::shared_ptr<LoadedTable> next;
  std::vector<std::string> fallen;  // metadata files that leave the log
};

class EmbeddedCatalog : public Catalog {
 public:
  EmbeddedCatalog(EmbeddedCatalogOptions options, ObjectStore* store,
                  std::unique_ptr<JdbcTables> tables)
      : options_(std::move(options)), store_(store), tables_(std::move(tables)) {}

  absl::StatusOr<std::vector<Namespace>> ListNamespaces(const Namespace& parent) override {
    return tables_->NamespacesBelow(parent);
  }
  absl::Status CreateNamespace(const Namespace& ns) override {
    const absl::Status status = CreateNamespaceWith(ns, {});
    return absl::IsAlreadyExists(status) ? absl::OkStatus() : status;
  }
  absl::StatusOr<std::vector<TableIdent>> ListTables(const Namespace& ns) override {
    return tables_->TablesIn(ns);
  }

  absl::StatusOr<LoadedTable> LoadTable(const TableIdent& ident) override {
    ASSIGN_OR_RETURN(const std::string location, tables_->Location(ident));
    ASSIGN_OR_RETURN(const SharedTable table, ReadNamed(ident, location));
    return *table;
  }

  absl::StatusOr<bool> TableExists(const TableIdent& ident) override {
    const absl::Status status = tables_->Location(ident).status();
    if (absl::IsNotFound(status)) return false;
    RETURN_IF_ERROR(status);
    return true;
  }

  absl::StatusOr<LoadedTable> CreateTable(const TableIdent& ident,
                                          const TableCreation& creation) override {
    ASSIGN_OR_RETURN(LoadedTable staged, StageTable(ident, creation));
    ASSIGN_OR_RETURN(const bool exists, TableExists(ident));
    if (exists) return absl::AlreadyExistsError(StrCat("table ", ident.ToString(), " exists"));
    const NextTable table{.ident = ident, .next = std::make_shared<LoadedTable>(std::move(staged))};
    RETURN_IF_ERROR(Publish({table}));
    return *table.next;
  }

  absl::StatusOr<LoadedTable> CommitTable(const TableIdent& ident,
                                          const CommitRequest& request) override {
    ASSIGN_OR_RETURN(const std::vector<NextTable> done, CommitAll({{ident, request}}));
    return *done[0].next;
  }

  bool SupportsAtomicCommits() const override { return true; }
  absl::Status CommitTables(const std::vector<TableCommit>& commits) override {
    return CommitAll(commits).status();
  }

  absl::Status DropTable(const TableIdent& ident) override {
    RETURN_IF_ERROR(tables_->Drop(ident));
    Forget(ident);
    return absl::OkStatus();
  }

  absl::StatusOr<LoadedTable> StageTable(const TableIdent& ident,
                                         const TableCreation& creation) override {
    RETURN_IF_ERROR(CheckNames(ident));
    ASSIGN_OR_RETURN(const bool exists, tables_->NamespaceExists(ident.ns));
    if (!exists) {
      return absl::NotFoundError(StrCat("no namespace ", Join(ident.ns, "."), " in the catalog"));
    }
    NewTable table{.schema = creation.schema,
                   .location = creation.location.empty() ? LocationOf(ident) : creation.location,
                   .partition_spec = creation.partition_spec,
                   .sort_order = creation.sort_order,
                   .properties = creation.properties};
    LoadedTable staged;
    ASSIGN_OR_RETURN(staged.metadata, MakeTable(table, NowMs()));
    return staged;
  }

  absl::StatusOr<LoadedTable> RegisterTable(const TableIdent& ident,
                                            const std::string& metadata_location) override {
    RETURN_IF_ERROR(CheckNames(ident));
    ASSIGN_OR_RETURN(const bool exists, tables_->NamespaceExists(ident.ns));
    if (!exists) {
      return absl::NotFoundError(StrCat("no namespace ", Join(ident.ns, "."), " in the catalog"));
    }
    ASSIGN_OR_RETURN(const SharedTable table, Read(ident, metadata_location));
    const absl::Status status = tables_->Swap({{ident, std::nullopt, metadata_location}});
    if (!status.ok()) Forget(ident);
    RETURN_IF_ERROR(status);
    WriteHint(ident, *table);
    return *table;
  }

  absl::Status RenameTable(const TableIdent& from, const TableIdent& to) override {
    RETURN_IF_ERROR(CheckNames(to));
    RETURN_IF_ERROR(tables_->Rename(from, to));
    Forget(from);
    return absl::OkStatus();
  }

  absl::StatusOr<std::map<std::string, std::string>> LoadNamespace(const Namespace& ns) override {
    return tables_->Properties(ns);
  }
  absl::Status CreateNamespaceWith(const Namespace& ns,
                                   const std::map<std::string, std::string>& properties) override {
    RETURN_IF_ERROR(CheckNames(ns));
    return tables_->CreateNamespace(ns, properties);
  }
  absl::StatusOr<PropertiesChange> ChangeNamespace(
      const Namespace& ns, const std::vector<std::string>& removals,
      const std::map<std::string, std::string>& updates) override {
    return tables_->ChangeProperties(ns, removals, updates);
  }
  absl::Status DropNamespace(const Namespace& ns) override { return tables_->DropNamespace(ns); }

 private:
  std::string LocationOf(const TableIdent& ident) const {
    std::string location = options_.warehouse;
    for (const std::string& level : ident.ns) StrAppend(&location, "/", SafeSegment(level));
    StrAppend(&location, "/", SafeSegment(ident.name));
    return location;
  }

  // A metadata file never changes, so what was read under its name holds.
  absl::StatusOr<SharedTable> Read(const TableIdent& ident, const std::string& location) {
    {
      std::lock_guard lock(cache_mutex_);
      const auto it = cache_.find(KeyOf(ident));
      if (it != cache_.end() && it->second->metadata_location == location) return it->second;
    }
    ASSIGN_OR_RETURN(const std::string text, store_->Get(location));
    const absl::StatusOr<Json> json = Json::Parse(text);
    if (!json.ok()) return absl::DataLossError(StrCat(location, ": ", Message(json.status())));
    absl::StatusOr<TableMetadata> metadata = MetadataFromJson(*json);
    if (!metadata.ok()) return Annotate(metadata.status(), location);
    auto table = std::make_shared<LoadedTable>();
    table->metadata = *std::move(metadata);
    table->metadata_location = location;
    Remember(ident, table);
    return table;
  }

  // The file that the catalog's row names. That it is missing does not mean that there is no table.
  absl::StatusOr<SharedTable> ReadNamed(const TableIdent& ident, const std::string& location) {
    absl::StatusOr<SharedTable> table = Read(ident, location);
    if (!absl::IsNotFound(table.status())) return table;
    return absl::DataLossError(StrCat("the catalog names ", location, " as the metadata of ",
                                      ident.ToString(), ", but there is no such file"));
  }

  void Remember(const TableIdent& ident, SharedTable table) {
    std::lock_guard lock(cache_mutex_);
    if (cache_.size() >= kCachedTablesMax) cache_.clear();
    cache_[KeyOf(ident)] = std::move(table);
  }
  void Forget(const TableIdent& ident) {
    std::lock_guard lock(cache_mutex_);
    cache_.erase(KeyOf(ident));
  }

  absl::StatusOr<NextTable> Prepare(const TableIdent& ident, const CommitRequest& request) {
    NextTable table{.ident = ident, .next = std::make_shared<LoadedTable>()};
    const absl::StatusOr<std::string> location = tables_->Location(ident);
    if (location.ok()) {
      ASSIGN_OR_RETURN(table.base, ReadNamed(ident, *location));
      RETURN_IF_ERROR(CheckRequirements(request.requirements, &table.base->metadata));
      ASSIGN_OR_RETURN(table.next->metadata,
                       ApplyUpdates(table.base->metadata, request.updates, NowMs()));
      table.fallen = LogPrevious(*table.base, table.next->metadata);
      return table;
    }
    if (!absl::IsNotFound(location.status()) || !AssertsCreate(request.requirements)) {
      return location.status();
    }
    RETURN_IF_ERROR(CheckRequirements(request.requirements, nullptr));
    ASSIGN_OR_RETURN(const bool exists, tables_->NamespaceExists(ident.ns));
    if (!exists) {
      return absl::NotFoundError(StrCat("no namespace ", Join(ident.ns, "."), " in the catalog"));
    }
    ASSIGN_OR_RETURN(table.next->metadata,
                     MakeTableFromUpdates(request.updates, LocationOf(ident), NowMs()));
    return table;
  }

  absl::StatusOr<std::vector<NextTable>> CommitAll(const std::vector<TableCommit>& commits) {
    std::set<std::string> names;
    for (const TableCommit& commit : commits) {
      RETURN_IF_ERROR(CheckNames(commit.ident));
      if (!names.insert(KeyOf(commit.ident)).second) {
        return absl::InvalidArgumentError(
            StrCat(commit.ident.ToString(), " is in the transaction twice"));
      }
    }
    // Somebody else's commit between reading and replacing is no conflict by
    // itself: the requirements decide.
    for (int i = 0; i < kCommitTriesMax; ++i) {
      std::vector<NextTable> tables;
      for (const TableCommit& commit : commits) {
        absl::StatusOr<NextTable> table = Prepare(commit.ident, commit.request);
        if (!table.ok()) return Annotate(table.status(), commit.ident.ToString());
        tables.push_back(*std::move(table));
      }
      const absl::Status status = Publish(tables);
      if (status.ok()) return tables;
      if (!absl::IsAborted(status) && !absl::IsAlreadyExists(status)) return status;
    }
    return absl::UnavailableError(
        StrCat(commits[0].ident.ToString(), ": others commit to it all the time"));
  }

  // Writes the metadata files, then names them in the catalog. Unless that may have happened, they
  // are deleted after an error.
  absl::Status Publish(const std::vector<NextTable>& tables) {
    std::vector<std::string> written;
    std::vector<LocationSwap> swaps;
    absl::Status status;
    for (const NextTable& table : tables) {
      status = WriteMetadata(table);
      if (!status.ok()) break;
      written.push_back(table.next->metadata_location);
      std::optional<std::string> expected;
      if (table.base != nullptr) expected = table.base->metadata_location;
      swaps.push_back({table.ident, std::move(expected), table.next->metadata_location});
    }
    if (status.ok()) status = tables_->Swap(swaps);
    if (!status.ok()) {
      if (!absl::IsUnknown(status)) DeleteFiles(written);
      return status;
    }
    for (const NextTable& table : tables) {
      Remember(table.ident, table.next);
      WriteHint(table.ident, *table.next);
      DeleteFiles(table.fallen);
    }
    return absl::OkStatus();
  }

  absl::Status WriteMetadata(const NextTable& table) {
    const int64_t version = table.base ? VersionOf(table.base->metadata_location) + 1 : 0;
    table.next->metadata_location =
        absl::StrFormat("%s/%05d-%s%s", MetadataFolder(table.next->metadata), version, RandomUuid(),
                        std::string(kMetadataSuffix));
    return store_->Put(table.next->metadata_location, MetadataToJson(table.next->metadata).Dump());
  }

  void DeleteFiles(const std::vector<std::string>& locations) {
    // Nothing names them any more; what stays is only litter.
    for (const std::string& location : locations) store_->Delete(location).IgnoreError();
  }

  // A hint that is late or missing costs a reader freshness, never truth. Two commits that end
  // together must not leave the older one's: whoever writes looks at the catalog afterwards.
  void WriteHint(const TableIdent& ident, const LoadedTable& table) {
    const std::string& location = table.metadata.location;
    if (!location.starts_with("file:") && !location.starts_with("/")) return;
    const std::string prefix = StrCat(DefaultMetadataFolder(table.metadata), "/");
    std::string named = table.metadata_location;
    while (named.starts_with(prefix) && named.ends_with(kMetadataSuffix)) {
      const absl::Status status = store_->Replace(
          StrCat(prefix, "version-hint.text"),
          named.substr(prefix.size(), named.size() - prefix.size() - kMetadataSuffix.size()));
      if (!status.ok()) {
        LogWarning("the version hint could not be written",
                   {{"table", ident.ToString()}, {"reason", Message(status)}});
        return;
      }
      const absl::StatusOr<std::string> now = tables_->Location(ident);
      if (!now.ok() || *now == named) return;
      named = *now;
    }
  }

  const EmbeddedCatalogOptions options_;
  ObjectStore* const store_;
  const std::unique_ptr<JdbcTables> tables_;
  std::mutex cache_mutex_;
  std::unordered_map<std::string, SharedTable> cache_;  // guarded by cache_mutex_
};

}  // namespace

absl::StatusOr<std::unique_ptr<Catalog>> OpenEmbeddedCatalog(EmbeddedCatalogOptions options,
                                                             ObjectStore* store) {
  ASSIGN_OR_RETURN(std::unique_ptr<JdbcTables> tables,
                   JdbcTables::Open(options.database, options.name));
  while (options.warehouse.ends_with('/')) options.warehouse.pop_back();
  return std::make_unique<EmbeddedCatalog>(std::move(options), store, std::move(tables));
}

}  // namespace fjord
