#include "io/s3_client.h"

#include <algorithm>
#include <cmath>

#include "absl/time/clock.h"
#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"
#include "io/s3_xml.h"

namespace fjord {
namespace {

constexpr int kTries = 5;
constexpr absl::Duration kBackoffMax = absl::Seconds(5);
constexpr absl::Duration kRefreshBeforeMax = absl::Minutes(5);
constexpr absl::Duration kRefreshAgain = absl::Seconds(10);
constexpr size_t kMessageBytesMax = 300;
// The time that a request may take: this, and a second for each MiB that is sent or received.
constexpr absl::Duration kTimeout = absl::Seconds(60);
constexpr uint64_t kBytesPerSecondMin = uint64_t{1} << 20;

// Doubles from try to try; between half of it and all of it, so that clients do
// not come back together.
absl::Duration Backoff(absl::Duration first, int tries) {
  const absl::Duration whole = std::min(kBackoffMax, first * std::pow(2, tries));
  return whole * (0.5 + 0.5 * static_cast<double>(RandomU64() % 1024) / 1024);
}

bool IsExpiredToken(const S3Error& error) {
  return error.code == "ExpiredToken" || error.code == "ExpiredTokenException";
}

// An answer to HEAD has no body that could say so, and some servers forget what has expired.
bool MayBeExpiredToken(const S3Request& request, int status, const S3Error& error) {
  if (request.method == "HEAD") return status == 400 || status == 403;
  return error.code == "InvalidAccessKeyId" || error.code == "InvalidToken" ||
         error.code == "InvalidTokenId";
}

bool MayPass(int status, const S3Error& error) {
  return status == 429 || status == 500 || status == 502 || status == 503 || status == 504 ||
         error.code == "SlowDown" || error.code == "RequestTimeout" ||
         error.code == "InternalError" || error.code == "ConditionalRequestConflict";
}

// "us-east-1" when `error` or a header names the bucket's own region.
std::string RegionOf(const HttpResponse& response) {
  if (std::string region = response.Header("x-amz-bucket-region"); !region.empty()) return region;
  const absl::StatusOr<XmlElement> root = ParseXml(response.body);
  return root.ok() ? root->TextOf("Region") : "";
}

bool IsWrongRegion(int status, const S3Error& error) {
  return status == 301 || status == 307 || error.code == "PermanentRedirect" ||
         error.code == "AuthorizationHeaderMalformed" ||
         error.code == "IllegalLocationConstraintException";
}

std::string EncodePath(std::string_view key) {
  std::vector<std::string> segments = Split(key, '/');
  for (std::string& segment : segments) segment = PercentEncode(segment);
  return Join(segments, "/");
}

}  // namespace

absl::StatusOr<S3Location> ParseS3Location(std::string_view location) {
  const size_t scheme = location.find("://");
  if (scheme == std::string_view::npos ||
      !(location.starts_with("s3://") || location.starts_with("s3a://"))) {
    return absl::InvalidArgumentError(StrCat("not a location in S3 (s3://bucket/key): ", location));
  }
  const std::string_view rest = location.substr(scheme + 3);
  const std::string_view bucket = rest.substr(0, rest.find('/'));
  if (bucket.empty())
    return absl::InvalidArgumentError(StrCat("a location without a bucket: ", location));
  if (bucket.find_first_of("@:?#%") != std::string_view::npos) {
    return absl::InvalidArgumentError(StrCat("not the name of a bucket: ", bucket));
  }
  const std::string_view key = rest.size() > bucket.size() ? rest.substr(bucket.size() + 1) : "";
  return S3Location{std::string(location.substr(0, scheme)), std::string(bucket), std::string(key)};
}

S3Error ParseS3Error(std::string_view body) {
  const absl::StatusOr<XmlElement> root = ParseXml(body);
  if (!root.ok() || root->name != "Error") return {};
  return {root->TextOf("Code"), root->TextOf("Message").substr(0, kMessageBytesMax)};
}

S3Client::S3Client(S3Options options)
    : options_(std::move(options)),
      http_(options_.http == nullptr ? std::make_shared<HttpClient>() : options_.http) {
  const std::string_view suffix =
      options_.region.starts_with("cn-") ? ".amazonaws.com.cn" : ".amazonaws.com";
  const std::string endpoint = options_.endpoint.empty()
                                   ? StrCat("https://s3.", options_.region, suffix)
                                   : options_.endpoint;
  const size_t host = endpoint.find("://") + 3;
  const size_t path = std::min(endpoint.find('/', host), endpoint.size());
  scheme_ = endpoint.substr(0, host);
  host_ = endpoint.substr(host, path - host);
  prefix_ = endpoint.substr(path);
  while (prefix_.ends_with("/")) prefix_.pop_back();
  // The Host header that is signed goes without the scheme's own port.
  const std::string_view port = scheme_ == "https://" ? ":443" : ":80";
  if (host_.ends_with(port)) host_.erase(host_.size() - port.size());
  credentials_.expires = absl::InfinitePast();
}

S3Client::Target S3Client::TargetOf(const S3Request& request) const {
  // A certificate for *.host does not cover a bucket whose name has dots.
  const bool path_style = options_.path_style || request.bucket.find('.') != std::string::npos;
  const std::string key = EncodePath(request.key);
  if (path_style) return {host_, StrCat(prefix_, "/", request.bucket, "/", key)};
  return {StrCat(request.bucket, ".", host_), StrCat(prefix_, "/", key)};
}

absl::StatusOr<S3Credentials> S3Client::Credentials() {
  if (!options_.provider) return options_.credentials;
  const std::lock_guard lock(mutex_);
  const absl::Time now = absl::Now();
  if (now < refresh_at_) return credentials_;
  absl::StatusOr<S3Credentials> fresh = options_.provider();
  if (fresh.ok()) {
    credentials_ = *std::move(fresh);
    // Those that live for a minute are not asked for at every request.
    refresh_at_ =
        credentials_.expires - std::min(kRefreshBeforeMax, (credentials_.expires - now) / 2);
  } else if (now < credentials_.expires) {
    refresh_at_ = now + kRefreshAgain;
  } else {
    return Annotate(fresh.status(), "credentials for S3");
  }
  return credentials_;
}

void S3Client::ForgetCredentials() {
  const std::lock_guard lock(mutex_);
  credentials_.expires = refresh_at_ = absl::InfinitePast();
}

absl::StatusOr<HttpResponse> S3Client::SendOnce(const S3Request& request,
                                                const std::string& payload_sha256) {
  ASSIGN_OR_RETURN(const S3Credentials credentials, Credentials());
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty()) {
    return absl::FailedPreconditionError(
        StrCat("no credentials for bucket ", request.bucket,
               ": set lake.storage.s3.credential, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY "
               "in the environment, or use a REST catalog that hands them out"));
  }
  const Target target = TargetOf(request);
  const SigV4Request to_sign{.method = request.method,
                             .host = target.host,
                             .path = target.path,
                             .query = request.query,
                             .headers = request.headers,
                             .payload_sha256 = payload_sha256};
  HttpRequest http{.method = request.method,
                   .url = StrCat(scheme_, target.host, target.path),
                   .headers = SignV4(to_sign, credentials, options_.region, absl::Now()),
                   .body = request.body,
                   .repetition = Repetition::kHarmless,
                   .response_bytes_max = request.response_bytes_max};
  if (!request.query.empty()) StrAppend(&http.url, "?", CanonicalQuery(request.query));
  const uint64_t bytes = request.body.size() + request.response_bytes_max;
  http.timeout = kTimeout + absl::Seconds(bytes / kBytesPerSecondMin);
  return http_->Send(http);
}

absl::StatusOr<HttpResponse> S3Client::Send(const S3Request& request) {
  const std::string payload_sha256 = Hex(Sha256(request.body));
  absl::StatusOr<HttpResponse> response;
  for (int tries = 0; tries < kTries; ++tries) {
    if (tries > 0) absl::SleepFor(Backoff(options_.backoff_first, tries - 1));
    response = SendOnce(request, payload_sha256);
    if (!response.ok()) {
      if (absl::IsUnavailable(response.status()) || absl::IsUnknown(response.status())) continue;
      return response;
    }
    // The end of a multipart upload may say an error under status 200; the body
    // of a GET is the object.
    const bool may_say_error = response->status / 100 != 2 || request.method == "POST";
    const S3Error error = may_say_error ? ParseS3Error(response->body) : S3Error{};
    const bool expired = IsExpiredToken(error) ||
                         (tries == 0 && MayBeExpiredToken(request, response->status, error));
    if (options_.provider && expired) {
      ForgetCredentials();
    } else if (!MayPass(response->status, error)) {
      return response;
    }
  }
  if (!response.ok()) return absl::UnavailableError(StrCat(Message(response.status())));
  return response;
}

absl::StatusOr<HttpResponse> S3Client::SendOk(const S3Request& request) {
  ASSIGN_OR_RETURN(HttpResponse response, Send(request));
  if (response.status / 100 != 2) return ErrorOf(request, response);
  return response;
}

absl::Status S3Client::ErrorOf(const S3Request& request, const HttpResponse& response) const {
  const S3Error error = ParseS3Error(response.body);
  std::string what = StrCat(request.method, " s3://", request.bucket, "/", request.key, ": ");
  const std::string said = StrCat("status ", response.status, error.code.empty() ? "" : " ",
                                  error.code, error.message.empty() ? "" : ": ", error.message);
  if (error.code == "NoSuchBucket") {
    return absl::FailedPreconditionError(
        StrCat(what, "there is no bucket ", request.bucket, ": make it, or correct the warehouse"));
  }
  if (IsWrongRegion(response.status, error)) {
    const std::string region = RegionOf(response);
    return absl::FailedPreconditionError(StrCat(what, "bucket ", request.bucket,
                                                " is not in region ", options_.region,
                                                region.empty() ? "" : StrCat(" but in ", region),
                                                ": correct lake.storage.s3.region (", said, ")"));
  }
  if (error.code == "RequestTimeTooSkewed") {
    return absl::FailedPreconditionError(
        StrCat(what, "this machine's clock is wrong (", said, ")"));
  }
  if (IsExpiredToken(error) && options_.provider) {
    return absl::UnavailableError(
        StrCat(what, "the credentials that the catalog handed out have expired (", said, ")"));
  }
  if (response.status == 401 || response.status == 403) {
    const std::string_view source =
        options_.provider ? "the catalog's role for this table, whose credentials it handed out,"
                          : "lake.storage.s3.credential (or the AWS_… environment)";
    return absl::FailedPreconditionError(StrCat(what, "bucket ", request.bucket,
                                                " refuses access: check ", source,
                                                " and its rights on the bucket (", said, ")"));
  }
  if (response.status == 404) return absl::NotFoundError(StrCat(what, said));
  if (response.status >= 500 || response.status == 429 || response.status == 409) {
    return absl::UnavailableError(StrCat(what, said));
  }
  return absl::FailedPreconditionError(StrCat(what, said));
}

}  // namespace fjord
