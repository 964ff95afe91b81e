#include "catalog/rest_server.h"

#include "base/status.h"
#include "catalog/rest_service.h"

namespace fjord {
namespace {

constexpr uint64_t kRequestBytesMax = uint64_t{64} << 20;

class Server : public CatalogServer {
 public:
  Server(CatalogServerOptions options, Catalog* catalog) : service_(std::move(options), catalog) {}
  absl::Status Listen(const std::string& host, int port) {
    ASSIGN_OR_RETURN(
        http_, HttpServer::Start(
                   {.host = host, .port = port, .request_bytes_max = kRequestBytesMax},
                   [this](const HttpServerRequest& request) { return service_.Handle(request); }));
    return absl::OkStatus();
  }
  int port() const override { return http_->port(); }

 private:
  const RestService service_;
  std::unique_ptr<HttpServer> http_;  // after service_, so that it stops first
};

}  // namespace

absl::StatusOr<std::unique_ptr<CatalogServer>> CatalogServer::Start(CatalogServerOptions options,
                                                                    Catalog* catalog) {
  auto server = std::make_unique<Server>(options, catalog);
  RETURN_IF_ERROR(server->Listen(options.host, options.port));
  return std::unique_ptr<CatalogServer>(std::move(server));
}

}  // namespace fjord
