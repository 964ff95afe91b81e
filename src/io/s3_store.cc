#include "io/s3_store.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"
#include "io/s3_client.h"
#include "io/s3_writer.h"
#include "io/s3_xml.h"

namespace fjord {
namespace {

constexpr uint64_t kGetBytesMax = uint64_t{256} << 20;
constexpr uint64_t kReadBytesMax = uint64_t{32} << 20;  // of one request of ReadAt
constexpr uint64_t kErrorBytesMax = uint64_t{64} << 10;

S3Request RequestFor(std::string method, const S3Location& location) {
  return {.method = std::move(method), .bucket = location.bucket, .key = location.key};
}

class S3Object : public ReadableObject {
 public:
  S3Object(std::shared_ptr<S3Client> client, S3Location location, uint64_t size)
      : client_(std::move(client)), location_(std::move(location)), size_(size) {}

  uint64_t size() const override { return size_; }

  absl::Status ReadAt(uint64_t offset, char* out, size_t size) const override {
    while (size > 0) {
      const size_t n = std::min<uint64_t>(size, kReadBytesMax);
      RETURN_IF_ERROR(ReadOnce(offset, out, n));
      offset += n;
      out += n;
      size -= n;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status ReadOnce(uint64_t offset, char* out, size_t size) const {
    if (offset > size_ || size > size_ - offset) return Short();
    S3Request request = RequestFor("GET", location_);
    request.headers = {{"range", StrCat("bytes=", offset, "-", offset + size - 1)}};
    request.response_bytes_max = size + kErrorBytesMax;
    ASSIGN_OR_RETURN(const HttpResponse response, client_->Send(request));
    if (response.status == 416) return Short();
    if (response.status / 100 != 2) return client_->ErrorOf(request, response);
    // A server without ranges sends all of a small object, with status 200.
    const uint64_t skip = response.status == 206 ? 0 : offset;
    if (response.body.size() < skip + size) return Short();
    std::memcpy(out, response.body.data() + skip, size);
    return absl::OkStatus();
  }

  absl::Status Short() const {
    return absl::DataLossError(StrCat("s3://", location_.bucket, "/", location_.key,
                                      " is shorter than what is read of it"));
  }

  const std::shared_ptr<S3Client> client_;
  const S3Location location_;
  const uint64_t size_;
};

class S3Store : public ObjectStore {
 public:
  explicit S3Store(S3Options options)
      : client_(std::make_shared<S3Client>(std::move(options))),
        writer_(std::make_shared<S3Writer>(client_)) {}

  absl::Status Put(std::string_view location, std::string_view bytes) override {
    ASSIGN_OR_RETURN(const S3Location at, ParseS3Location(location));
    return writer_->Put(at, bytes);
  }

  absl::Status Replace(std::string_view location, std::string_view bytes) override {
    ASSIGN_OR_RETURN(const S3Location at, ParseS3Location(location));
    return writer_->Replace(at, bytes);
  }

  absl::StatusOr<std::unique_ptr<WriteStream>> Create(std::string_view location) override {
    ASSIGN_OR_RETURN(S3Location at, ParseS3Location(location));
    return MakeS3WriteStream(writer_, std::move(at));
  }

  absl::StatusOr<std::string> Get(std::string_view location) override {
    ASSIGN_OR_RETURN(const S3Location at, ParseS3Location(location));
    S3Request request = RequestFor("GET", at);
    request.response_bytes_max = kGetBytesMax;
    ASSIGN_OR_RETURN(HttpResponse response, client_->SendOk(request));
    return std::move(response.body);
  }

  absl::StatusOr<std::unique_ptr<ReadableObject>> Open(std::string_view location) override {
    ASSIGN_OR_RETURN(S3Location at, ParseS3Location(location));
    ASSIGN_OR_RETURN(const HttpResponse response, client_->SendOk(RequestFor("HEAD", at)));
    const auto size = ParseInt<uint64_t>(response.Header("content-length"));
    if (!size) return absl::DataLossError(StrCat(location, ": the server does not say the size"));
    return std::make_unique<S3Object>(client_, std::move(at), *size);
  }

  absl::StatusOr<std::vector<ObjectInfo>> List(std::string_view prefix) override {
    ASSIGN_OR_RETURN(const S3Location at, ParseS3Location(prefix));
    std::vector<ObjectInfo> found;
    std::string page;
    do {
      ASSIGN_OR_RETURN(std::string next, ListPage(at, page, &found));
      if (!next.empty() && next == page)
        return absl::DataLossError(StrCat("listing ", prefix, " does not advance"));
      page = std::move(next);
    } while (!page.empty());
    return found;
  }

  absl::Status Delete(std::string_view location) override {
    ASSIGN_OR_RETURN(const S3Location at, ParseS3Location(location));
    const absl::Status status = client_->SendOk(RequestFor("DELETE", at)).status();
    return absl::IsNotFound(status) ? absl::OkStatus() : status;
  }

 private:
  // Appends one page to `found`; the next page's token, empty after the last.
  absl::StatusOr<std::string> ListPage(const S3Location& prefix, const std::string& page,
                                       std::vector<ObjectInfo>* found) {
    S3Request request{.method = "GET",
                      .bucket = prefix.bucket,
                      .key = "",
                      .query = {{"list-type", "2"}, {"prefix", prefix.key}}};
    if (!page.empty()) request.query.emplace_back("continuation-token", page);
    ASSIGN_OR_RETURN(const HttpResponse response, client_->SendOk(request));
    ASSIGN_OR_RETURN(const XmlElement root, ParseXml(response.body));
    for (const XmlElement& entry : root.children) {
      if (entry.name != "Contents") continue;
      const auto size = ParseInt<uint64_t>(entry.TextOf("Size"));
      absl::Time modified;
      std::string error;
      if (!size ||
          !absl::ParseTime(absl::RFC3339_full, entry.TextOf("LastModified"), &modified, &error)) {
        return absl::DataLossError(
            StrCat("bucket ", prefix.bucket, ": the server lists an object without size or time"));
      }
      found->push_back({StrCat(prefix.scheme, "://", prefix.bucket, "/", entry.TextOf("Key")),
                        *size, absl::ToUnixMillis(modified)});
    }
    return root.TextOf("IsTruncated") == "true" ? root.TextOf("NextContinuationToken") : "";
  }

  const std::shared_ptr<S3Client> client_;
  const std::shared_ptr<S3Writer> writer_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ObjectStore>> OpenS3Store(S3Options options) {
  const std::string& endpoint = options.endpoint;
  if (!endpoint.empty()) {
    const bool has_scheme = endpoint.starts_with("http://") || endpoint.starts_with("https://");
    if (!has_scheme || endpoint.ends_with("://") ||
        endpoint.find_first_of("@?#") != std::string::npos) {
      return absl::InvalidArgumentError(
          "the S3 endpoint (lake.storage.s3.endpoint, or the catalog's) must be http://host[:port] "
          "or https://host[:port]");
    }
  }
  if (options.region.empty()) options.region = "us-east-1";
  return std::make_unique<S3Store>(std::move(options));
}

}  // namespace fjord
