#include "io/sigv4.h"

#include <algorithm>

#include "base/digest.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

std::string SigningKey(const S3Credentials& credentials, std::string_view date,
                       std::string_view region) {
  std::string key = HmacSha256(StrCat("AWS4", credentials.secret_access_key.Reveal()), date);
  key = HmacSha256(key, region);
  key = HmacSha256(key, "s3");
  return HmacSha256(key, "aws4_request");
}

}  // namespace

std::string CanonicalQuery(std::vector<std::pair<std::string, std::string>> query) {
  for (auto& [name, value] : query) {
    name = PercentEncode(name);
    value = PercentEncode(value);
  }
  std::sort(query.begin(), query.end());
  std::string out;
  for (const auto& [name, value] : query) StrAppend(&out, out.empty() ? "" : "&", name, "=", value);
  return out;
}

std::vector<std::pair<std::string, std::string>> SignV4(const SigV4Request& request,
                                                        const S3Credentials& credentials,
                                                        std::string_view region, absl::Time now) {
  const std::string time = absl::FormatTime("%Y%m%dT%H%M%SZ", now, absl::UTCTimeZone());
  const std::string date = time.substr(0, 8);
  std::vector<std::pair<std::string, std::string>> headers = request.headers;
  headers.emplace_back("host", request.host);
  headers.emplace_back("x-amz-content-sha256", request.payload_sha256);
  headers.emplace_back("x-amz-date", time);
  if (!credentials.session_token.empty()) {
    headers.emplace_back("x-amz-security-token", credentials.session_token.Reveal());
  }
  std::sort(headers.begin(), headers.end());

  std::string canonical_headers;
  std::string names;
  for (const auto& [name, value] : headers) {
    StrAppend(&canonical_headers, name, ":", Trim(value), "\n");
    StrAppend(&names, names.empty() ? "" : ";", name);
  }
  const std::string canonical =
      StrCat(request.method, "\n", request.path, "\n", CanonicalQuery(request.query), "\n",
             canonical_headers, "\n", names, "\n", request.payload_sha256);
  const std::string scope = StrCat(date, "/", region, "/s3/aws4_request");
  const std::string to_sign =
      StrCat(kAlgorithm, "\n", time, "\n", scope, "\n", Hex(Sha256(canonical)));
  const std::string signature = Hex(HmacSha256(SigningKey(credentials, date, region), to_sign));
  headers.emplace_back("authorization",
                       StrCat(kAlgorithm, " Credential=", credentials.access_key_id, "/", scope,
                              ",SignedHeaders=", names, ",Signature=", signature));
  return headers;
}

}  // namespace fjord
