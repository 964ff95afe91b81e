// What the S3 store makes of answers that a healthy server does not give: lost,
// throttled, refused, half true.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <mutex>

#include "absl/time/clock.h"
#include "base/status.h"
#include "base/strings.h"
#include "io/http_server.h"
#include "io/s3_store.h"

namespace fjord {
namespace {

using testing::HasSubstr;
using testing::Not;

enum class Work { kNotDone, kDone };

struct Answer {
  int status = 500;
  std::string code;  // of the error in the body
  Work work = Work::kNotDone;
  std::map<std::string, std::string> headers;
};

// A bucket in memory that gives the planned answers first. With Work::kDone it does what was asked
// before it lies about it.
class ScriptedS3 {
 public:
  ScriptedS3()
      : server_(*HttpServer::Start({.request_bytes_max = 64 << 20},
                                   [this](const auto& r) { return Serve(r); })) {}

  std::string endpoint() const { return StrCat("http://127.0.0.1:", server_->port()); }
  void Plan(std::vector<Answer> answers) {
    const std::lock_guard lock(mutex_);
    planned_.assign(answers.begin(), answers.end());
  }
  void PutByOther(const std::string& path, std::string bytes) {
    const std::lock_guard lock(mutex_);
    objects_[path] = {std::move(bytes), "somebody else"};
  }
  std::vector<HttpServerRequest> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  struct Object {
    std::string bytes;
    std::string mark;
  };

  static std::string HeaderOf(const HttpServerRequest& request, const std::string& name) {
    const auto at = request.headers.find(name);
    return at == request.headers.end() ? "" : at->second;
  }
  static std::string ErrorBody(std::string_view code) {
    return StrCat("<Error><Code>", code,
                  "</Code><Message>said &lt;so&gt;</Message><Region>eu-north-1</Region></Error>");
  }

  HttpServerResponse Serve(const HttpServerRequest& request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    if (planned_.empty()) return Do(request);
    const Answer answer = planned_.front();
    planned_.pop_front();
    if (answer.work == Work::kDone) Do(request);
    return {.status = answer.status,
            .body = answer.code.empty() ? "" : ErrorBody(answer.code),
            .headers = answer.headers};
  }

  HttpServerResponse Do(const HttpServerRequest& request) {
    if (request.query.contains("uploads")) {
      upload_mark_ = HeaderOf(request, "x-amz-meta-fjord-mark");
      parts_.clear();
      return {.body = "<R><UploadId>7</UploadId></R>"};
    }
    if (request.query.contains("partNumber")) {
      parts_ += request.body;
      return {.headers = {{"ETag", "\"part\""}}};
    }
    if (request.method == "POST") return Complete(request);
    if (request.method == "PUT")
      return Put(request, request.body, HeaderOf(request, "x-amz-meta-fjord-mark"));
    if (request.method == "DELETE") return {.status = 204};
    const auto at = objects_.find(request.path);
    if (at == objects_.end()) return {.status = 404, .body = ErrorBody("NoSuchKey")};
    return {.body = at->second.bytes, .headers = {{"x-amz-meta-fjord-mark", at->second.mark}}};
  }

  HttpServerResponse Put(const HttpServerRequest& request, const std::string& bytes,
                         const std::string& mark) {
    const bool conditional = HeaderOf(request, "if-none-match") == "*";
    if (conditional && objects_.contains(request.path))
      return {.status = 412, .body = ErrorBody("PreconditionFailed")};
    objects_[request.path] = {bytes, mark};
    return {};
  }

  HttpServerResponse Complete(const HttpServerRequest& request) {
    if (upload_mark_.empty()) return {.status = 404, .body = ErrorBody("NoSuchUpload")};
    HttpServerResponse response = Put(request, parts_, upload_mark_);
    if (response.status == 200) upload_mark_.clear();
    return response;
  }

  std::mutex mutex_;
  std::map<std::string, Object> objects_;
  std::deque<Answer> planned_;
  std::vector<HttpServerRequest> requests_;
  std::string upload_mark_;
  std::string parts_;
  const std::unique_ptr<HttpServer> server_;
};

constexpr uint64_t kUploadBytes = (uint64_t{8} << 20) + 1;
const Answer kPartIsTaken = {.status = 200, .work = Work::kDone, .headers = {{"ETag", "\"part\""}}};

class S3AnswersTest : public testing::Test {
 protected:
  S3Options Options() {
    return {.endpoint = server_.endpoint(),
            .path_style = true,
            .credentials = {.access_key_id = "AK",
                            .secret_access_key = Secret("hush"),
                            .session_token = Secret("token")},
            .backoff_first = absl::Milliseconds(1)};
  }
  // An upload that has begun and sent its first part.
  std::unique_ptr<WriteStream> StartUpload() {
    auto stream = *store_->Create("s3://lake/large");
    EXPECT_EQ(stream->Write(std::string(kUploadBytes, 'x')), absl::OkStatus());
    return stream;
  }
  std::string ErrorAfter(Answer answer) {
    server_.Plan({std::move(answer)});
    const absl::Status status = store_->Get("s3://lake/a").status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(status.ToString(), Not(HasSubstr("hush")));
    EXPECT_THAT(status.ToString(), Not(HasSubstr("token")));
    return status.ToString();
  }

  ScriptedS3 server_;
  const std::unique_ptr<ObjectStore> store_ = *OpenS3Store(Options());
};

TEST_F(S3AnswersTest, APutWhoseAnswerWasLostIsRecognisedAsOurOwn) {
  server_.Plan({{.status = 500, .code = "InternalError", .work = Work::kDone}});
  EXPECT_EQ(store_->Put("s3://lake/a", "bytes"), absl::OkStatus());
  EXPECT_EQ(*store_->Get("s3://lake/a"), "bytes");
}

TEST_F(S3AnswersTest, AnObjectOfSomebodyElseIsNotOurOwnEvenAfterALostAnswer) {
  server_.PutByOther("/lake/a", "bytes");
  server_.Plan({{.status = 500}});
  EXPECT_TRUE(absl::IsAlreadyExists(store_->Put("s3://lake/a", "bytes")));
}

TEST_F(S3AnswersTest, AServerWithoutConditionalPutsIsAskedOnce) {
  server_.Plan({{.status = 501, .code = "NotImplemented"}});
  EXPECT_EQ(store_->Put("s3://lake/a", "1"), absl::OkStatus());
  EXPECT_EQ(store_->Put("s3://lake/b", "2"), absl::OkStatus());
  const auto requests = server_.requests();
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_TRUE(requests[0].headers.contains("if-none-match"));
  EXPECT_FALSE(requests[1].headers.contains("if-none-match"));
  EXPECT_FALSE(requests[2].headers.contains("if-none-match"));
}

TEST_F(S3AnswersTest, AThrottlingServerIsAskedAgainButNotForEver) {
  server_.Plan({{.status = 503, .code = "SlowDown"},
                {.status = 429},
                {.status = 409, .code = "ConditionalRequestConflict"}});
  EXPECT_EQ(store_->Put("s3://lake/a", "1"), absl::OkStatus());
  server_.Plan(std::vector<Answer>(100, {.status = 503, .code = "SlowDown"}));
  const absl::Status status = store_->Get("s3://lake/a").status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(status.ToString(), HasSubstr("SlowDown"));
  EXPECT_LT(server_.requests().size(), 20u);
}

// What comes next are the second part and the end of the upload.
TEST_F(S3AnswersTest, AnUploadWhoseEndWasLostIsRecognisedAsOurOwn) {
  const auto stream = StartUpload();
  server_.Plan({kPartIsTaken, {.status = 500, .work = Work::kDone}});
  EXPECT_EQ(stream->Close(), absl::OkStatus());
  EXPECT_EQ(server_.requests().back().method, "HEAD") << "the object's mark was not looked at";
  EXPECT_EQ(store_->Open("s3://lake/large").value()->size(), kUploadBytes);
}

TEST_F(S3AnswersTest, AnErrorUnderStatus200IsAnError) {
  const auto stream = StartUpload();
  server_.Plan({kPartIsTaken, {.status = 200, .code = "InternalError"}});
  EXPECT_EQ(stream->Close(), absl::OkStatus());
  const auto second = StartUpload();
  server_.Plan({kPartIsTaken, {.status = 200, .code = "InvalidPart"}});
  EXPECT_TRUE(absl::IsFailedPrecondition(second->Close()));
}

TEST_F(S3AnswersTest, AnUploadOverAnObjectOfSomebodyElseIsRefused) {
  const auto stream = StartUpload();
  server_.PutByOther("/lake/large", "x");
  EXPECT_TRUE(absl::IsAlreadyExists(stream->Close()));
  EXPECT_EQ(*store_->Get("s3://lake/large"), "x");
}

TEST_F(S3AnswersTest, AnUploadThatCannotEndIsAborted) {
  {
    const auto stream = StartUpload();
    server_.Plan({kPartIsTaken, {.status = 403, .code = "AccessDenied"}});
    EXPECT_TRUE(absl::IsFailedPrecondition(stream->Close()));
  }
  const HttpServerRequest last = server_.requests().back();
  EXPECT_EQ(last.method, "DELETE");
  EXPECT_TRUE(last.query.contains("uploadId"));
}

TEST_F(S3AnswersTest, RefusalsSayWhatToCheck) {
  EXPECT_THAT(ErrorAfter({.status = 403, .code = "SignatureDoesNotMatch"}),
              testing::AllOf(HasSubstr("bucket lake"), HasSubstr("lake.storage.s3.credential"),
                             HasSubstr("said <so>")));
  EXPECT_THAT(ErrorAfter({.status = 403, .code = "RequestTimeTooSkewed"}), HasSubstr("clock"));
  EXPECT_THAT(ErrorAfter({.status = 404, .code = "NoSuchBucket"}),
              HasSubstr("there is no bucket lake"));
  EXPECT_THAT(ErrorAfter({.status = 400, .code = "AuthorizationHeaderMalformed"}),
              testing::AllOf(HasSubstr("eu-north-1"), HasSubstr("lake.storage.s3.region")));
  EXPECT_THAT(ErrorAfter({.status = 301, .headers = {{"x-amz-bucket-region", "ap-south-1"}}}),
              HasSubstr("ap-south-1"));
}

TEST_F(S3AnswersTest, TheSessionTokenIsSentAndSigned) {
  ASSERT_TRUE(store_->Put("s3://lake/a", "1").ok());
  const HttpServerRequest request = server_.requests().front();
  EXPECT_EQ(request.headers.at("x-amz-security-token"), "token");
  EXPECT_THAT(request.headers.at("authorization"), HasSubstr("x-amz-security-token"));
  EXPECT_THAT(request.headers.at("authorization"), HasSubstr("if-none-match"));
}

class S3CredentialsTest : public S3AnswersTest {
 protected:
  // A store whose credentials live for `life`, which are numbered.
  std::unique_ptr<ObjectStore> StoreWithLife(absl::Duration life) {
    S3Options options = Options();
    options.credentials = {};
    options.provider = [this, life]() -> absl::StatusOr<S3Credentials> {
      if (!provider_status_.ok()) return provider_status_;
      return S3Credentials{.access_key_id = StrCat("AK", ++asked_),
                           .secret_access_key = Secret("hush"),
                           .expires = absl::Now() + life};
    };
    return *OpenS3Store(std::move(options));
  }
  std::string LastKeyId() { return server_.requests().back().headers.at("authorization"); }

  int asked_ = 0;
  absl::Status provider_status_;
};

TEST_F(S3CredentialsTest, ShortLivedOnesAreUsedForHalfOfTheirLife) {
  const auto store = StoreWithLife(absl::Seconds(60));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(store->Put(StrCat("s3://lake/", i), "").ok());
  EXPECT_EQ(asked_, 1);
}

TEST_F(S3CredentialsTest, ExpiredOnesAreReplaced) {
  const auto store = StoreWithLife(absl::ZeroDuration());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(store->Put(StrCat("s3://lake/", i), "").ok());
  EXPECT_EQ(asked_, 3);
  EXPECT_THAT(LastKeyId(), HasSubstr("AK3"));
}

TEST_F(S3CredentialsTest, OnesThatTheServerCallsExpiredAreReplacedAtOnce) {
  const auto store = StoreWithLife(absl::Hours(1));
  server_.Plan({{.status = 400, .code = "ExpiredToken"}});
  EXPECT_EQ(store->Put("s3://lake/a", "1"), absl::OkStatus());
  EXPECT_EQ(asked_, 2);
  EXPECT_THAT(LastKeyId(), HasSubstr("AK2"));
}

TEST_F(S3CredentialsTest, ARefusalWithoutAReasonIsTriedOnceWithNewOnes) {
  const auto store = StoreWithLife(absl::Hours(1));
  ASSERT_TRUE(store->Put("s3://lake/a", "1").ok());
  server_.Plan({{.status = 403}});
  EXPECT_TRUE(store->Open("s3://lake/a").ok());
  EXPECT_EQ(asked_, 2);
  server_.Plan({{.status = 403}, {.status = 403}});
  const absl::Status refused = store->Open("s3://lake/a").status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(refused.ToString(), HasSubstr("the catalog's role"));
  EXPECT_EQ(asked_, 3);
}

TEST_F(S3CredentialsTest, OnesThatStayExpiredMayPass) {
  const auto store = StoreWithLife(absl::Hours(1));
  server_.Plan(std::vector<Answer>(9, {.status = 400, .code = "ExpiredToken"}));
  const absl::Status status = store->Put("s3://lake/a", "1");
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(status.ToString(), HasSubstr("have expired"));
}

TEST_F(S3CredentialsTest, WithoutAnyTheProvidersErrorIsPassedOn) {
  provider_status_ = absl::UnavailableError("the catalog is away");
  const absl::Status status = StoreWithLife(absl::Hours(1))->Put("s3://lake/a", "1");
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(status.ToString(), HasSubstr("the catalog is away"));
}

}  // namespace
}  // namespace fjord
