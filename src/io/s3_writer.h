// How objects get into a bucket: conditional PUTs, and multipart uploads for what
// is larger than one part.
//
// An object that we make carries a random mark in its metadata. A request that was sent twice
// because its answer was lost is told by the mark from somebody else's object of the same name.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/object_store.h"
#include "io/s3_client.h"

namespace fjord {

// Thread-safe.
class S3Writer {
 public:
  explicit S3Writer(std::shared_ptr<S3Client> client) : client_(std::move(client)) {}

  absl::Status Put(const S3Location& location, std::string_view bytes);
  absl::Status Replace(const S3Location& location, std::string_view bytes);

  struct Upload {
    std::string id;
    std::string mark;
    std::vector<std::string> etags;  // of the parts so far
    uint64_t size = 0;
  };
  absl::StatusOr<Upload> Begin(const S3Location& location);
  absl::Status AddPart(const S3Location& location, std::string_view bytes, Upload* upload);
  absl::Status Complete(const S3Location& location, const Upload& upload);
  absl::Status AbortUpload(const S3Location& location, const Upload& upload);

 private:
  // Sends with `If-None-Match: *` unless the server is known not to implement it.
  absl::StatusOr<HttpResponse> SendConditional(S3Request request);
  // What is known of the object under a name that somebody took.
  enum class Owner { kOurs, kOther, kUnmarked };
  absl::StatusOr<Owner> OwnerOf(const S3Location& location, std::string_view mark, uint64_t size);

  const std::shared_ptr<S3Client> client_;
  std::atomic<bool> conditional_ = true;
};

std::unique_ptr<WriteStream> MakeS3WriteStream(std::shared_ptr<S3Writer> writer,
                                               S3Location location);

}  // namespace fjord
