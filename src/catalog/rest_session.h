// The conversation with one Iceberg REST catalog: its configuration, paths, and the bearer token.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "base/secret.h"
#include "catalog/rest_catalog.h"
#include "catalog/rest_error.h"
#include "io/http_client.h"

namespace fjord {

struct RestCall {
  RestRequestKind kind = RestRequestKind::kRead;
  std::string method = "GET";
  std::string path;   // behind "/v1/<prefix>", percent-encoded, begins with a slash
  std::string query;  // percent-encoded, without the question mark
  HttpHeaders headers;
  std::optional<Json> body;
};

// Thread-safe. Sends each call once; only a call that the server refused for its token is sent
// again, with a new token.
class RestSession {
 public:
  static absl::StatusOr<std::unique_ptr<RestSession>> Open(RestCatalogOptions options);

  // The answer's JSON (null without a body) when the status is 2xx; else the outcome by
  // rest_error.h, with the method, the path and the server's message.
  absl::StatusOr<Json> Send(const RestCall& call);

  // "POST /v1/{prefix}/transactions/commit"
  bool Offers(const std::string& endpoint) const { return endpoints_.contains(endpoint); }
  // One segment of a path, or a value of a query.
  std::string NamespaceSegment(const std::vector<std::string>& levels) const;

 private:
  struct Token {
    Secret text;
    absl::Time renew_at = absl::InfiniteFuture();
  };

  explicit RestSession(RestCatalogOptions options);
  absl::Status Configure();
  void Apply(const Json& config);
  absl::StatusOr<HttpResponse> SendTo(const std::string& url, const RestCall& call);
  absl::StatusOr<HttpResponse> SendWith(const Token& token, const std::string& url,
                                        const RestCall& call, const std::string& body);
  absl::StatusOr<Token> CurrentToken();
  // A new token in place of `refused`, unless another thread has fetched one already.
  absl::StatusOr<Token> NewToken(const Token& refused);
  absl::StatusOr<Token> FetchToken();

  RestCatalogOptions options_;
  HttpClient http_;
  std::map<std::string, std::string> settings_;  // of the client and the server, merged
  std::set<std::string> endpoints_;
  std::string base_;  // "https://host/v1/prefix"
  std::string separator_ = "%1F";
  std::mutex token_mutex_;
  std::optional<Token> token_;  // guarded by token_mutex_
};

}  // namespace fjord
