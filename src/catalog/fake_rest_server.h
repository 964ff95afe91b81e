// For tests: an HTTP server that can do what a real one must not: carry a request out and lose the
// answer, or answer nonsense.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/ascii.h"
#include "base/strings.h"
#include "io/http_server.h"

namespace fjord {

// One thread, one request a connection. The handler runs in that thread.
class FakeRestServer {
 public:
  struct Answer {
    HttpServerResponse response;
    enum class Ending { kAnswer, kCloseWithoutAnswer } ending = Ending::kAnswer;
  };
  using Handler = std::function<Answer(const HttpServerRequest&)>;

  explicit FakeRestServer(Handler handler) : handler_(std::move(handler)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_, generic, size), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    EXPECT_EQ(::getsockname(listener_, generic, &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Run(); });
  }
  ~FakeRestServer() { Stop(); }

  // From now on connections are refused.
  void Stop() {
    if (!thread_.joinable()) return;
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  std::string uri() const { return StrCat("http://127.0.0.1:", port_); }
  // "POST /v1/…?query" of every request so far.
  std::vector<std::string> seen() {
    std::lock_guard lock(mutex_);
    return seen_;
  }
  int CountOf(std::string_view begin) {
    int count = 0;
    for (const std::string& line : seen()) count += line.starts_with(begin);
    return count;
  }

 private:
  void Run() {
    while (true) {
      const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) return;
      Serve(connection);
      ::close(connection);
    }
  }

  static std::string ReadMore(int connection) {
    char buffer[16384];
    const ssize_t size = ::recv(connection, buffer, sizeof buffer, 0);
    return size <= 0 ? "" : std::string(buffer, static_cast<size_t>(size));
  }

  void Serve(int connection) {
    std::string text;
    size_t head_end;
    while ((head_end = text.find("\r\n\r\n")) == std::string::npos) {
      const std::string more = ReadMore(connection);
      if (more.empty()) return;
      text += more;
    }
    HttpServerRequest request;
    std::string target;
    for (const std::string& raw : Split(text.substr(0, head_end), '\n')) {
      const std::string_view line = Trim(raw);
      if (target.empty()) {
        const std::vector<std::string> parts = Split(line, ' ');
        request.method = parts[0];
        target = parts[1];
        continue;
      }
      const size_t colon = line.find(':');
      std::string name = absl::AsciiStrToLower(ToAbsl(line.substr(0, colon)));
      request.headers[std::move(name)] = Trim(line.substr(colon + 1));
    }
    const size_t length = ParseInt<size_t>(request.headers["content-length"]).value_or(0);
    request.body = text.substr(head_end + 4);
    while (request.body.size() < length) {
      const std::string more = ReadMore(connection);
      if (more.empty()) return;
      request.body += more;
    }
    ParseTarget(target, request);
    {
      std::lock_guard lock(mutex_);
      seen_.push_back(StrCat(request.method, " ", target));
    }
    Reply(connection, handler_(request));
  }

  static void ParseTarget(const std::string& target, HttpServerRequest& request) {
    const size_t mark = target.find('?');
    request.path = target.substr(0, mark);
    if (mark == std::string::npos) return;
    for (const std::string& pair : Split(target.substr(mark + 1), '&')) {
      const size_t equals = pair.find('=');
      if (equals == std::string::npos) continue;
      request.query.emplace(pair.substr(0, equals),
                            PercentDecode(pair.substr(equals + 1)).value_or(""));
    }
  }

  static void Reply(int connection, const Answer& answer) {
    if (answer.ending == Answer::Ending::kCloseWithoutAnswer) return;
    const HttpServerResponse& response = answer.response;
    std::string text =
        StrCat("HTTP/1.1 ", response.status,
               " x\r\nConnection: close\r\nContent-Type: ", response.content_type, "\r\n");
    for (const auto& [name, value] : response.headers) StrAppend(&text, name, ": ", value, "\r\n");
    if (response.status != 204) StrAppend(&text, "Content-Length: ", response.body.size(), "\r\n");
    StrAppend(&text, "\r\n");
    if (response.status != 204) text += response.body;
    for (size_t sent = 0; sent < text.size();) {
      const ssize_t n = ::send(connection, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return;
      sent += static_cast<size_t>(n);
    }
  }

  const Handler handler_;
  int listener_;
  int port_;
  std::thread thread_;
  std::mutex mutex_;
  std::vector<std::string> seen_;  // guarded by mutex_
};

}  // namespace fjord
