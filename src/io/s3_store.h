// Objects of S3 buckets, Amazon's or those of any server with the same API. Locations are
// s3://bucket/key (s3a:// too).
//
// Put relies on the server's `If-None-Match: *`. A server that does not know it gets plain PUTs;
// there only the uniqueness of names prevents overwriting.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "io/object_store.h"
#include "io/sigv4.h"

namespace fjord {

class HttpClient;

// Credentials that expire: called by one thread at a time, five minutes before the last ones
// expire, or when half of a shorter life is over.
using S3CredentialsProvider = std::function<absl::StatusOr<S3Credentials>()>;

struct S3Options {
  std::string endpoint;  // empty: Amazon's of the region
  std::string region = "us-east-1";
  bool path_style = false;         // https://endpoint/bucket rather than https://bucket.endpoint
  S3Credentials credentials = {};  // unless there is a provider
  S3CredentialsProvider provider = {};
  std::shared_ptr<HttpClient> http = {};  // shared by several stores; none: one of its own
  absl::Duration backoff_first = absl::Milliseconds(200);  // doubles from try to try, up to 5 s
};

// kInvalidArgument when the endpoint is no http:// or https:// address.
absl::StatusOr<std::unique_ptr<ObjectStore>> OpenS3Store(S3Options options);

}  // namespace fjord
