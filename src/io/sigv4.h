// AWS Signature Version 4 for requests to S3: the signature goes into the Authorization header.
//
// All headers that are passed are signed. The path and the query's canonical form are those
// of S3: percent-encoded once.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "base/secret.h"

namespace fjord {

struct S3Credentials {
  std::string access_key_id;
  Secret secret_access_key = {};
  Secret session_token = {};  // empty: none
  absl::Time expires = absl::InfiniteFuture();
};

struct SigV4Request {
  std::string method;
  std::string host;  // with the port when it is not the scheme's own
  std::string path;  // percent-encoded, begins with '/'
  std::vector<std::pair<std::string, std::string>> query;  // not encoded
  std::vector<std::pair<std::string, std::string>>
      headers;                 // names in lower case; without host and x-amz-date
  std::string payload_sha256;  // hexadecimal
};

// The query as it is signed and must be sent: sorted, encoded, without '?'.
std::string CanonicalQuery(std::vector<std::pair<std::string, std::string>> query);

// All headers to send: the request's own, host, x-amz-date,
// x-amz-content-sha256, x-amz-security-token, authorization.
std::vector<std::pair<std::string, std::string>> SignV4(const SigV4Request& request,
                                                        const S3Credentials& credentials,
                                                        std::string_view region, absl::Time now);

}  // namespace fjord
