// Serves any Catalog over the Iceberg REST protocol, so that DuckDB, PyIceberg, Spark and Trino
// attach to it.
//
// There is no authentication: it is meant for loopback, or for a network that is trusted as a
// whole. So no keys for the objects are handed out, and no endpoint or region either: DuckDB
// prefers even half a secret from the catalog to its user's own. Request bodies must be sent as
// application/json, which a web page of a stranger cannot do without asking first.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"

namespace fjord {

struct CatalogServerOptions {
  std::string host = "127.0.0.1";
  int port = 8181;  // 0: a free one
  // Tables may be created, moved and registered only at locations that begin
  // with this. Empty: anywhere.
  std::string locations_under;
};

// Answers from its own threads from Start until it is destroyed. Thread-safe.
class CatalogServer {
 public:
  virtual ~CatalogServer() = default;
  virtual int port() const = 0;

  // `catalog` outlives the server. kFailedPrecondition when the address cannot be bound.
  static absl::StatusOr<std::unique_ptr<CatalogServer>> Start(CatalogServerOptions options,
                                                              Catalog* catalog);
};

}  // namespace fjord
