// What the catalog server answers to one request: the Iceberg REST protocol without the network.
//
// Errors have the protocol's JSON form. What a status of the catalog becomes:
//   kNotFound 404 · kAlreadyExists, kAborted 409 · kInvalidArgument 400 · kUnauthenticated 401 ·
//   kUnimplemented 406 · kFailedPrecondition, kPermissionDenied 403 (409 for a namespace that is
//   not empty) · kUnavailable 503 with Retry-After, since it is surely not in · everything else
//   500, which a client takes as an unknown outcome.
// Dropping never deletes files, also when the client asks for a purge.
#pragma once

#include "catalog/catalog.h"
#include "catalog/rest_server.h"
#include "io/http_server.h"

namespace fjord {

// Thread-safe. `catalog` outlives the service.
class RestService {
 public:
  RestService(CatalogServerOptions options, Catalog* catalog);
  HttpServerResponse Handle(const HttpServerRequest& request) const;

 private:
  absl::StatusOr<HttpServerResponse> Route(const HttpServerRequest& request) const;
  absl::StatusOr<HttpServerResponse> RouteNamespaces(const HttpServerRequest& request,
                                                     const std::vector<std::string>& path) const;
  absl::StatusOr<HttpServerResponse> RouteTable(const HttpServerRequest& request,
                                                const TableIdent& ident) const;
  HttpServerResponse Config() const;
  absl::StatusOr<HttpServerResponse> ListNamespaces(const HttpServerRequest& request) const;
  absl::StatusOr<HttpServerResponse> CreateNamespace(const HttpServerRequest& request) const;
  absl::StatusOr<HttpServerResponse> OneNamespace(const HttpServerRequest& request,
                                                  const Namespace& ns) const;
  absl::StatusOr<HttpServerResponse> ChangeNamespace(const HttpServerRequest& request,
                                                     const Namespace& ns) const;
  absl::StatusOr<HttpServerResponse> ListTables(const Namespace& ns) const;
  absl::StatusOr<HttpServerResponse> CreateTable(const HttpServerRequest& request,
                                                 const Namespace& ns) const;
  absl::StatusOr<HttpServerResponse> RegisterTable(const HttpServerRequest& request,
                                                   const Namespace& ns) const;
  absl::StatusOr<HttpServerResponse> LoadTable(const HttpServerRequest& request,
                                               const TableIdent& ident) const;
  absl::StatusOr<HttpServerResponse> CommitTable(const HttpServerRequest& request,
                                                 const TableIdent& ident) const;
  absl::StatusOr<HttpServerResponse> RenameTable(const HttpServerRequest& request) const;
  absl::StatusOr<HttpServerResponse> CommitTransaction(const HttpServerRequest& request) const;
  // Where a client may have tables written.
  absl::Status CheckLocation(std::string_view location) const;
  absl::Status CheckLocations(const CommitRequest& commit) const;
  absl::Status CheckProperties(const std::map<std::string, std::string>& properties) const;

  const CatalogServerOptions options_;
  Catalog* const catalog_;
};

}  // namespace fjord
