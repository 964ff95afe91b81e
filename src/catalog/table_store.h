// Objects in S3 of all tables of one catalog. Each table's are reached with the endpoint, region
// and keys that the catalog hands out with it.
//
// The configuration goes before the catalog, and the catalog before the environment. Objects of no
// table that the store was told of are reached with the configuration and the environment alone.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "catalog/s3_settings.h"
#include "catalog/vended_keys.h"
#include "io/object_store.h"

namespace fjord {

class HttpClient;

struct TableStoreOptions {
  S3Settings configured;
  S3Settings environment;
};

// Thread-safe.
class TableStore : public ObjectStore {
 public:
  // kInvalidArgument when the endpoint is no http:// or https:// address.
  static absl::StatusOr<std::unique_ptr<TableStore>> Open(TableStoreOptions options);

  // What `catalog` said of a table last: for RestCatalogOptions::on_loaded. While objects of the
  // table are used, `catalog` is asked for new keys before the last ones expire.
  void OnLoaded(Catalog& catalog, const TableIdent& ident, const LoadedTable& table);

  absl::Status Put(std::string_view location, std::string_view bytes) override;
  absl::Status Replace(std::string_view location, std::string_view bytes) override;
  absl::StatusOr<std::unique_ptr<WriteStream>> Create(std::string_view location) override;
  absl::StatusOr<std::string> Get(std::string_view location) override;
  absl::StatusOr<std::unique_ptr<ReadableObject>> Open(std::string_view location) override;
  absl::StatusOr<std::vector<ObjectInfo>> List(std::string_view prefix) override;
  absl::Status Delete(std::string_view location) override;

 private:
  // The objects of one table below one prefix.
  struct Route {
    TableIdent ident;
    S3Settings settings;  // of everything but the keys
    bool vended = false;  // the keys are the catalog's
    absl::StatusOr<std::shared_ptr<ObjectStore>> store;
  };

  TableStore(TableStoreOptions options, std::shared_ptr<HttpClient> http,
             std::shared_ptr<ObjectStore> others);
  Route MakeRoute(const TableIdent& ident, const std::string& prefix, const TableStorage& storage,
                  const std::shared_ptr<VendedKeys>& keys) const;
  // The store of the longest prefix that fits.
  absl::StatusOr<std::shared_ptr<ObjectStore>> StoreOf(std::string_view location) const;

  const TableStoreOptions options_;
  const std::shared_ptr<HttpClient> http_;     // one for all, so that connections are shared
  const std::shared_ptr<ObjectStore> others_;  // for objects of no table
  mutable std::mutex mutex_;
  std::map<TableIdent, std::shared_ptr<VendedKeys>> keys_;  // guarded by mutex_
  std::map<std::string, Route> routes_;                     // by prefix; guarded by mutex_
};

}  // namespace fjord
