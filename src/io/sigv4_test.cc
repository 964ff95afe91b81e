// Signatures that Amazon publishes as examples in the S3 documentation of Signature Version 4.
#include "io/sigv4.h"

#include <gmock/gmock.h>

#include <map>

#include "base/digest.h"
#include "base/strings.h"

namespace fjord {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

const absl::Time kExampleTime = absl::FromUnixSeconds(1369353600);  // 2013-05-24 00:00:00 UTC

S3Credentials ExampleCredentials() {
  return {.access_key_id = "AKIAIOSFODNN7EXAMPLE",
          .secret_access_key = Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
          .session_token = {}};
}

SigV4Request ExampleRequest(std::string method, std::string path, std::string_view body) {
  return {.method = std::move(method),
          .host = "examplebucket.s3.amazonaws.com",
          .path = std::move(path),
          .query = {},
          .headers = {},
          .payload_sha256 = Hex(Sha256(body))};
}

std::map<std::string, std::string> Sign(const SigV4Request& request,
                                        const S3Credentials& credentials) {
  const auto headers = SignV4(request, credentials, "us-east-1", kExampleTime);
  return {headers.begin(), headers.end()};
}

TEST(SigV4, GetObjectExample) {
  SigV4Request request = ExampleRequest("GET", "/test.txt", "");
  request.headers = {{"range", "bytes=0-9"}};
  auto headers = Sign(request, ExampleCredentials());
  EXPECT_EQ(headers["authorization"],
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  EXPECT_EQ(headers["x-amz-date"], "20130524T000000Z");
}

TEST(SigV4, PutObjectExample) {
  SigV4Request request = ExampleRequest("PUT", "/test%24file.text", "Welcome to Amazon S3.");
  request.headers = {{"date", "Fri, 24 May 2013 00:00:00 GMT"},
                     {"x-amz-storage-class", "REDUCED_REDUNDANCY"}};
  EXPECT_THAT(
      Sign(request, ExampleCredentials())["authorization"],
      EndsWith("Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"));
}

TEST(SigV4, QueryWithoutValueExample) {
  SigV4Request request = ExampleRequest("GET", "/", "");
  request.query = {{"lifecycle", ""}};
  EXPECT_THAT(
      Sign(request, ExampleCredentials())["authorization"],
      EndsWith("Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
}

TEST(SigV4, ListObjectsExampleWithTheQueryInAnyOrder) {
  SigV4Request request = ExampleRequest("GET", "/", "");
  request.query = {{"prefix", "J"}, {"max-keys", "2"}};
  EXPECT_THAT(
      Sign(request, ExampleCredentials())["authorization"],
      EndsWith("Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST(SigV4, SessionTokenIsSentAndSigned) {
  S3Credentials credentials = ExampleCredentials();
  credentials.session_token = Secret("token");
  auto headers = Sign(ExampleRequest("GET", "/", ""), credentials);
  EXPECT_EQ(headers["x-amz-security-token"], "token");
  EXPECT_THAT(headers["authorization"], HasSubstr("x-amz-date;x-amz-security-token,"));
}

TEST(SigV4, QueryValuesAreEncoded) {
  EXPECT_EQ(CanonicalQuery({{"prefix", "a b/c+"}}), "prefix=a%20b%2Fc%2B");
}

}  // namespace
}  // namespace fjord
