// /healthz, /readyz and /metrics of a running process.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace fjord {

class HttpServer;

struct StatusPages {
  std::function<bool()> ready;           // every table streams
  std::function<std::string()> metrics;  // Prometheus text
};

// Serves until it is destroyed. The functions are called from any thread.
class StatusServer {
 public:
  static absl::StatusOr<std::unique_ptr<StatusServer>> Start(const std::string& host, int port,
                                                             StatusPages pages);
  ~StatusServer();
  int port() const;

 private:
  explicit StatusServer(std::unique_ptr<HttpServer> http);
  std::unique_ptr<HttpServer> http_;
};

}  // namespace fjord
