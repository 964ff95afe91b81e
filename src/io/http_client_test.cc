// What the client says when there is no answer, and that it sends a request once.
#include "io/http_client.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/status.h"
#include "base/strings.h"
#include "io/http_server.h"

namespace fjord {
namespace {

using testing::HasSubstr;
using testing::Not;

// A listening socket on loopback.
class Listener {
 public:
  Listener() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(fd_, 16), 0);
    EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { close(fd_); }
  int fd() const { return fd_; }
  std::string url() const { return StrCat("http://127.0.0.1:", port_, "/x?secret=hush"); }

 private:
  const int fd_;
  int port_ = 0;
};

// Answers the first request of a connection if it is a GET, and closes the connection at any other
// request without an answer. Each connection has a thread.
class ClosingServer {
 public:
  ClosingServer() : thread_([this] { Run(); }) {}
  ~ClosingServer() {
    stop_ = true;
    thread_.join();
  }
  std::string url() const { return listener_.url(); }
  int requests() const { return requests_; }

 private:
  bool Readable(int fd) const {
    pollfd poll_fd{.fd = fd, .events = POLLIN, .revents = 0};
    while (!stop_) {
      if (poll(&poll_fd, 1, 20) > 0) return true;
    }
    return false;
  }
  void Run() {
    std::vector<std::jthread> connections;
    while (Readable(listener_.fd())) {
      const int fd = accept(listener_.fd(), nullptr, nullptr);
      connections.emplace_back([this, fd] { Serve(fd); });
    }
  }
  void Serve(int fd) {
    char bytes[4096];
    for (int i = 0; Readable(fd); ++i) {
      const ssize_t size = read(fd, bytes, sizeof(bytes));
      if (size <= 0) break;
      ++requests_;
      if (i > 0 || !std::string_view(bytes, size).starts_with("GET")) break;
      constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
      EXPECT_EQ(write(fd, kAnswer.data(), kAnswer.size()), std::ssize(kAnswer));
    }
    close(fd);
  }

  const Listener listener_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> requests_ = 0;
  std::thread thread_;
};

TEST(HttpClient, ALostAnswerIsUnknownAndTheRequestWasSentOnce) {
  ClosingServer server;
  HttpClient client;
  // Leaves a kept connection, on which libcurl would repeat a request that gets no answer.
  EXPECT_EQ(client.Send({.url = server.url()})->body, "ok");
  const auto lost = client.Send({.method = "POST", .url = server.url(), .body = "a"});
  EXPECT_TRUE(absl::IsUnknown(lost.status())) << lost.status();
  EXPECT_EQ(server.requests(), 2);
}

TEST(HttpClient, ARefusedConnectionIsUnavailable) {
  std::string url;
  {
    url = Listener().url();
  }
  HttpClient client;
  const auto answer = client.Send({.method = "POST", .url = url, .body = "a"});
  EXPECT_TRUE(absl::IsUnavailable(answer.status())) << answer.status();
  EXPECT_THAT(answer.status().ToString(), Not(HasSubstr("hush")));
}

TEST(HttpClient, TimeThatRunsOutAfterSendingIsUnknown) {
  const Listener listener;  // takes connections, answers nothing
  HttpClient client;
  const auto answer = client.Send(
      {.method = "POST", .url = listener.url(), .body = "a", .timeout = absl::Milliseconds(100)});
  EXPECT_TRUE(absl::IsUnknown(answer.status())) << answer.status();
}

TEST(HttpClient, AnswersOverTheLimitAreRefused) {
  const auto server = HttpServer::Start({}, [](const HttpServerRequest&) {
    return HttpServerResponse{.body = std::string(1000, 'x')};
  });
  ASSERT_TRUE(server.ok()) << server.status();
  HttpClient client;
  const std::string url = StrCat("http://127.0.0.1:", (*server)->port(), "/");
  EXPECT_THAT(client.Send({.url = url, .response_bytes_max = 999}).status().ToString(),
              HasSubstr("larger than 999 bytes"));
  EXPECT_EQ(client.Send({.url = url, .response_bytes_max = 1000})->body.size(), 1000u);
}

TEST(HttpClient, MethodsBodiesAndHeadersArrive) {
  const auto server = HttpServer::Start({}, [](const HttpServerRequest& request) {
    const auto extra = request.headers.find("x-extra");
    return HttpServerResponse{
        .status = 201,
        .body = StrCat(request.method, " ", request.path, " ", request.body, " ",
                       extra == request.headers.end() ? "-" : extra->second),
        .headers = {{"X-Answer", "yes"}}};
  });
  ASSERT_TRUE(server.ok()) << server.status();
  HttpClient client;
  const std::string url = StrCat("http://127.0.0.1:", (*server)->port(), "/a%1Fb/../c");
  for (const char* method : {"GET", "POST", "PUT", "DELETE"}) {
    const bool with_body = std::string_view(method).starts_with('P');
    const auto answer = client.Send({.method = method,
                                     .url = url,
                                     .headers = {{"X-Extra", "1"}},
                                     .body = with_body ? "body" : ""});
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->status, 201);
    EXPECT_EQ(answer->body, StrCat(method, " /a%1Fb/../c ", with_body ? "body" : "", " 1"));
    EXPECT_EQ(answer->Header("x-answer"), "yes");
  }
  const auto head = client.Send({.method = "HEAD", .url = url});
  ASSERT_TRUE(head.ok()) << head.status();
  EXPECT_EQ(head->body, "");
  EXPECT_TRUE(
      absl::IsInvalidArgument(client.Send({.url = url, .headers = {{"A", "b\r\nc: d"}}}).status()));
}

}  // namespace
}  // namespace fjord
