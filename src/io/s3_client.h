// Requests to an S3 server: addressed, signed, repeated, and their errors told apart.
//
// Every request may be sent more than once: names are unique and writers can tell
// their own object (s3_store).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "io/http_client.h"
#include "io/s3_store.h"
#include "io/sigv4.h"

namespace fjord {

// s3://bucket/key, s3a://bucket/key.
struct S3Location {
  std::string scheme;
  std::string bucket;
  std::string key;
};
absl::StatusOr<S3Location> ParseS3Location(std::string_view location);

struct S3Request {
  std::string method;
  std::string bucket;
  std::string key;  // not encoded; empty: the bucket itself
  std::vector<std::pair<std::string, std::string>> query = {};
  HttpHeaders headers = {};    // names in lower case
  std::string_view body = {};  // must live until Send returns
  uint64_t response_bytes_max = uint64_t{16} << 20;
};

struct S3Error {
  std::string code;     // "NoSuchKey"; empty when the server did not say
  std::string message;  // the server's text, cut
};
// What the body of an answer says; also of one with status 200.
S3Error ParseS3Error(std::string_view body);

// Thread-safe.
class S3Client {
 public:
  explicit S3Client(S3Options options);

  // The answer, whatever its status, after repeating what can be repeated;
  // kUnavailable when there is none.
  absl::StatusOr<HttpResponse> Send(const S3Request& request);
  // Send, and an error for every status but 2xx.
  absl::StatusOr<HttpResponse> SendOk(const S3Request& request);
  // kNotFound (404), kFailedPrecondition (rights, bucket, region), kUnavailable (5xx, 429).
  absl::Status ErrorOf(const S3Request& request, const HttpResponse& response) const;

 private:
  struct Target {
    std::string host;
    std::string path;
  };
  Target TargetOf(const S3Request& request) const;
  absl::StatusOr<HttpResponse> SendOnce(const S3Request& request,
                                        const std::string& payload_sha256);
  absl::StatusOr<S3Credentials> Credentials();
  void ForgetCredentials();

  const S3Options options_;
  std::string scheme_;  // "https://"
  std::string host_;    // of the endpoint, with the port
  std::string prefix_;  // path of the endpoint, without '/' at the end
  const std::shared_ptr<HttpClient> http_;
  std::mutex mutex_;
  S3Credentials credentials_;  // guarded by mutex_; the provider's, expired at first
  absl::Time refresh_at_ = absl::InfinitePast();  // guarded by mutex_
};

}  // namespace fjord
