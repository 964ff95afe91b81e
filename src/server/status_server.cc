#include "server/status_server.h"

#include "base/status.h"
#include "io/http_server.h"

namespace fjord {
namespace {

HttpServerResponse Answer(const HttpServerRequest& request, const StatusPages& pages) {
  if (request.method != "GET") return {.status = 405, .body = "only GET\n"};
  if (request.path == "/healthz") return {.body = "ok\n"};
  if (request.path == "/readyz") {
    return pages.ready() ? HttpServerResponse{.body = "ready\n"}
                         : HttpServerResponse{.status = 503, .body = "not ready\n"};
  }
  if (request.path == "/metrics")
    return {.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = pages.metrics()};
  return {.status = 404, .body = "there are /healthz, /readyz and /metrics\n"};
}

}  // namespace

StatusServer::StatusServer(std::unique_ptr<HttpServer> http) : http_(std::move(http)) {}
StatusServer::~StatusServer() = default;
int StatusServer::port() const { return http_->port(); }

absl::StatusOr<std::unique_ptr<StatusServer>> StatusServer::Start(const std::string& host, int port,
                                                                  StatusPages pages) {
  ASSIGN_OR_RETURN(std::unique_ptr<HttpServer> http,
                   HttpServer::Start({.host = host, .port = port},
                                     [pages = std::move(pages)](const HttpServerRequest& request) {
                                       return Answer(request, pages);
                                     }));
  return std::unique_ptr<StatusServer>(new StatusServer(std::move(http)));
}

}  // namespace fjord
