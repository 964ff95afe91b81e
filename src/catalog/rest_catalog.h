// Client of an Iceberg REST catalog (Iceberg REST OpenAPI specification).
//
// Commits are sent once: nothing here or below repeats a request that may have been carried out.
// What a status code means for a commit is one table, OutcomeOfCommit in rest_error.h.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/secret.h"
#include "catalog/catalog.h"

namespace fjord {

// Whether the catalog is asked for keys with which to reach a table's objects.
enum class AccessDelegation { kVendedCredentials, kNone };

using TableListener = std::function<void(Catalog&, const TableIdent&, const LoadedTable&)>;

struct RestCatalogOptions {
  std::string uri;        // "https://host/catalog", without /v1
  std::string warehouse;  // may be empty
  // At most one of both. Neither: no Authorization header.
  std::optional<Secret> token;  // bearer token
  std::optional<Secret>
      credential;  // "client-id:client-secret", or a secret alone: OAuth2 client credentials
  std::string scope = "catalog";
  std::string oauth2_uri;  // empty: <uri>/v1/oauth/tokens
  std::map<std::string, std::string>
      properties;  // further client settings: audience, resource, header.<name>, prefix, …
  AccessDelegation delegation = AccessDelegation::kVendedCredentials;
  // Told of every table that is loaded, made or staged, before the caller gets it; by several
  // threads at once.
  TableListener on_loaded;
  absl::Duration timeout = absl::Seconds(60);  // of one request
};

// Asks the catalog for its configuration: kUnavailable when it does not answer, kUnauthenticated,
// kPermissionDenied.
absl::StatusOr<std::unique_ptr<Catalog>> OpenRestCatalog(RestCatalogOptions options);

}  // namespace fjord
