// What handlers see of a request, limits, and the address. Bodies and
// headers of answers: http_client_test.
#include "io/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "base/status.h"
#include "base/strings.h"
#include "io/http_client.h"

namespace fjord {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string UrlOf(const HttpServer& server, std::string_view target) {
  return StrCat("http://127.0.0.1:", server.port(), target);
}

TEST(HttpServer, QueriesAreDecodedAndPathsAreNot) {
  const auto server = *HttpServer::Start({}, [](const HttpServerRequest& request) {
    std::string body = request.path;
    for (const auto& [name, value] : request.query) StrAppend(&body, " ", name, "=", value);
    return HttpServerResponse{.body = body};
  });
  HttpClient client;
  const auto answer = client.Send({.url = UrlOf(*server, "/a%1Fb%2Fc?x=1%202&x=3&empty=&y=%26")});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->body, "/a%1Fb%2Fc empty= x=1 2 x=3 y=&");
}

TEST(HttpServer, ABodyOverTheLimitNeverReachesTheHandler) {
  const auto server =
      *HttpServer::Start({.request_bytes_max = 100}, [](const HttpServerRequest& request) {
        return HttpServerResponse{.body = StrCat(request.body.size())};
      });
  HttpClient client;
  const auto send = [&](size_t size, HttpHeaders headers) {
    const std::string body(size, 'x');
    return client.Send({.method = "POST",
                        .url = UrlOf(*server, "/"),
                        .headers = std::move(headers),
                        .body = body});
  };
  EXPECT_EQ(send(100, {})->body, "100");
  EXPECT_EQ(send(101, {})->status, 413);
  EXPECT_EQ(send(100, {{"Transfer-Encoding", "chunked"}})->body, "100");
  const auto chunked = send(100'000, {{"Transfer-Encoding", "chunked"}});
  EXPECT_TRUE(!chunked.ok() || chunked->status >= 400);
}

TEST(HttpServer, AHandlerThatThrowsAnswers500AndTheServerGoesOn) {
  const auto server =
      *HttpServer::Start({}, [](const HttpServerRequest& request) -> HttpServerResponse {
        if (request.path == "/throw") throw std::runtime_error("a secret");
        return {.body = "fine"};
      });
  HttpClient client;
  const auto thrown = client.Send({.url = UrlOf(*server, "/throw")});
  ASSERT_TRUE(thrown.ok()) << thrown.status();
  EXPECT_EQ(thrown->status, 500);
  for (const auto& [name, value] : thrown->headers)
    EXPECT_THAT(value, Not(HasSubstr("secret"))) << name;
  EXPECT_EQ(client.Send({.url = UrlOf(*server, "/")})->body, "fine");
}

TEST(HttpServer, AnAddressInUseIsSaidAndFreeAgainAfterTheEnd) {
  const HttpHandler handler = [](const HttpServerRequest&) { return HttpServerResponse{}; };
  auto first = *HttpServer::Start({}, handler);
  const int port = first->port();
  const auto second = HttpServer::Start({.port = port}, handler);
  EXPECT_TRUE(absl::IsFailedPrecondition(second.status())) << second.status();
  EXPECT_THAT(second.status().ToString(), HasSubstr(StrCat("127.0.0.1:", port)));
  first.reset();
  const auto third = HttpServer::Start({.port = port}, handler);
  EXPECT_TRUE(third.ok()) << third.status();
}

TEST(HttpServer, AnAnswerWithoutContentHasNone) {
  const auto server = *HttpServer::Start({}, [](const HttpServerRequest& request) {
    return HttpServerResponse{.status = request.method == "DELETE" ? 204 : 200, .body = "body"};
  });
  HttpClient client;
  const auto deleted = client.Send({.method = "DELETE", .url = UrlOf(*server, "/")});
  EXPECT_EQ(deleted->status, 204);
  EXPECT_EQ(deleted->body, "");
  EXPECT_EQ(client.Send({.method = "HEAD", .url = UrlOf(*server, "/")})->Header("content-length"),
            "4");
}

}  // namespace
}  // namespace fjord
