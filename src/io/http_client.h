// An HTTP client on libcurl: sends a request once and says what is known when there is no answer.
//
// libcurl sends a request once more when a kept connection turns out to be closed; so a request
// whose repetition could do harm gets a connection of its own. Redirects are not followed, and
// messages name the address without its query, user or password. Proxies are those of the
// environment (https_proxy, no_proxy).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace fjord {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// Whether sending a request twice could do harm. GET and HEAD are always harmless.
enum class Repetition { kForbidden, kHarmless };

struct HttpRequest {
  std::string method = "GET";
  std::string url;  // http:// or https://, percent-encoded; sent as it is
  HttpHeaders headers;
  std::string_view body;  // must live until Send returns
  Repetition repetition = Repetition::kForbidden;
  absl::Duration timeout = absl::Seconds(60);
  uint64_t response_bytes_max = uint64_t{64} << 20;
};

struct HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case; of repeated ones the last
  std::string body;

  std::string Header(const std::string& name) const;  // empty when there is none
};

// Thread-safe. Keeps connections open between requests.
class HttpClient {
 public:
  HttpClient();
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Any answer of the server is OK, whatever its status. Without one:
  //   kUnavailable      the request surely did not reach the server (no such host, refused)
  //   kUnknown          it may have: the connection ended, time ran out, the answer was too large
  //   kInvalidArgument  the URL or a header is none
  absl::StatusOr<HttpResponse> Send(const HttpRequest& request);

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace fjord
