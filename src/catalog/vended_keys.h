// The S3 keys that a catalog hands out with one table, and newer ones when those run out.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "io/s3_store.h"

namespace fjord {

// Thread-safe. `catalog` must outlive every call of Next.
class VendedKeys {
 public:
  VendedKeys(Catalog* catalog, TableIdent ident) : catalog_(catalog), ident_(std::move(ident)) {}

  // What the catalog said last.
  void Told(TableStorage storage);

  // Keys for the objects below `prefix` that are not `used`: those that were told meanwhile, else
  // the catalog is asked, at its endpoint for credentials or by loading the table again (which
  // calls Told). It may answer with the same ones. kFailedPrecondition: it hands out none any more,
  // or the table is gone.
  absl::StatusOr<S3Credentials> Next(std::string_view prefix, const S3Credentials& used);

 private:
  std::optional<S3Credentials> Kept(std::string_view prefix) const;
  absl::Status AskForCredentials();

  Catalog* const catalog_;
  const TableIdent ident_;
  mutable std::mutex mutex_;  // not held while the catalog is asked, since that calls Told
  TableStorage storage_;      // guarded by mutex_
};

// Keys for `prefix`, each time others than the last. `keys` lives as long as the provider.
S3CredentialsProvider ProviderOf(std::shared_ptr<VendedKeys> keys, std::string prefix);

// What a person has to do when there are no keys from any source.
absl::Status NoKeysError(const TableIdent& ident);

}  // namespace fjord
