#include "catalog/table_store.h"

#include <set>

#include "base/status.h"
#include "base/strings.h"
#include "io/http_client.h"

namespace fjord {
namespace {

bool IsInS3(std::string_view location) {
  return location.starts_with("s3://") || location.starts_with("s3a://");
}

std::string WithSlash(std::string location) {
  return location.ends_with('/') ? location : location + "/";
}

// Where the catalog lets objects of the table be, and where its credentials differ.
std::set<std::string> PrefixesOf(const LoadedTable& table) {
  std::set<std::string> roots;
  if (IsInS3(table.metadata.location)) roots.insert(WithSlash(table.metadata.location));
  for (const char* name : {"write.data.path", "write.metadata.path"}) {
    const auto it = table.metadata.properties.find(name);
    if (it != table.metadata.properties.end() && IsInS3(it->second))
      roots.insert(WithSlash(it->second));
  }
  std::set<std::string> prefixes = roots;
  for (const StorageCredential& credential : table.storage.credentials) {
    // One around a root, like the bucket, may be that of many tables: it is found through the root.
    bool around = false;
    for (const std::string& root : roots) around |= root.starts_with(credential.prefix);
    if (!around && IsInS3(credential.prefix)) prefixes.insert(credential.prefix);
  }
  return prefixes;
}

bool SameAddress(const S3Settings& a, const S3Settings& b) {
  return a.endpoint == b.endpoint && a.region == b.region && a.path_style == b.path_style;
}

}  // namespace

TableStore::TableStore(TableStoreOptions options, std::shared_ptr<HttpClient> http,
                       std::shared_ptr<ObjectStore> others)
    : options_(std::move(options)), http_(std::move(http)), others_(std::move(others)) {}

absl::StatusOr<std::unique_ptr<TableStore>> TableStore::Open(TableStoreOptions options) {
  auto http = std::make_shared<HttpClient>();
  S3Options others = OptionsOf(Over(options.configured, options.environment));
  others.http = http;
  ASSIGN_OR_RETURN(std::shared_ptr<ObjectStore> store, OpenS3Store(std::move(others)));
  return std::unique_ptr<TableStore>(
      new TableStore(std::move(options), std::move(http), std::move(store)));
}

TableStore::Route TableStore::MakeRoute(const TableIdent& ident, const std::string& prefix,
                                        const TableStorage& storage,
                                        const std::shared_ptr<VendedKeys>& keys) const {
  const S3Settings told = S3SettingsOf(storage.ConfigFor(prefix));
  Route route{.ident = ident,
              .settings = Over(options_.configured, Over(told, options_.environment)),
              .vended = told.has_keys() && !options_.configured.has_keys(),
              .store = nullptr};
  S3Options options = OptionsOf(route.settings);
  options.http = http_;
  if (route.vended) {
    options.provider = ProviderOf(keys, prefix);
  } else if (!route.settings.has_keys()) {
    options.provider = [ident] { return NoKeysError(ident); };
  }
  route.store = OpenS3Store(std::move(options));
  if (!route.store.ok())
    route.store = Annotate(route.store.status(), StrCat("storage of table ", ident.ToString()));
  route.settings.credentials = {};
  return route;
}

void TableStore::OnLoaded(Catalog& catalog, const TableIdent& ident, const LoadedTable& table) {
  const std::set<std::string> prefixes = PrefixesOf(table);
  const std::lock_guard lock(mutex_);
  std::shared_ptr<VendedKeys>& keys = keys_[ident];
  if (keys == nullptr) keys = std::make_shared<VendedKeys>(&catalog, ident);
  keys->Told(table.storage);
  std::erase_if(routes_, [&](const auto& entry) {
    return entry.second.ident == ident && !prefixes.contains(entry.first);
  });
  for (const std::string& prefix : prefixes) {
    Route route = MakeRoute(ident, prefix, table.storage, keys);
    const auto it = routes_.find(prefix);
    // A store that goes on keeps its keys until they run out.
    const bool goes_on = it != routes_.end() && it->second.ident == ident && route.vended &&
                         it->second.vended && SameAddress(it->second.settings, route.settings);
    if (!goes_on) routes_.insert_or_assign(prefix, std::move(route));
  }
}

absl::StatusOr<std::shared_ptr<ObjectStore>> TableStore::StoreOf(std::string_view location) const {
  const std::lock_guard lock(mutex_);
  // Backwards from the location, the first that fits is the longest.
  for (auto it = routes_.upper_bound(std::string(location)); it != routes_.begin();) {
    --it;
    if (location.starts_with(it->first)) return it->second.store;
  }
  return others_;
}

absl::Status TableStore::Put(std::string_view location, std::string_view bytes) {
  ASSIGN_OR_RETURN(const auto store, StoreOf(location));
  return store->Put(location, bytes);
}
absl::Status TableStore::Replace(std::string_view location, std::string_view bytes) {
  ASSIGN_OR_RETURN(const auto store, StoreOf(location));
  return store->Replace(location, bytes);
}
absl::StatusOr<std::unique_ptr<WriteStream>> TableStore::Create(std::string_view location) {
  ASSIGN_OR_RETURN(const auto store, StoreOf(location));
  return store->Create(location);
}
absl::StatusOr<std::string> TableStore::Get(std::string_view location) {
  ASSIGN_OR_RETURN(const auto store, StoreOf(location));
  return store->Get(location);
}
absl::StatusOr<std::unique_ptr<ReadableObject>> TableStore::Open(std::string_view location) {
  ASSIGN_OR_RETURN(const auto store, StoreOf(location));
  return store->Open(location);
}
absl::StatusOr<std::vector<ObjectInfo>> TableStore::List(std::string_view prefix) {
  ASSIGN_OR_RETURN(const auto store, StoreOf(prefix));
  return store->List(prefix);
}
absl::Status TableStore::Delete(std::string_view location) {
  ASSIGN_OR_RETURN(const auto store, StoreOf(location));
  return store->Delete(location);
}

}  // namespace fjord
