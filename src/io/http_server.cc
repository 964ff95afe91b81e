#include "io/http_server.h"

#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <thread>

#include "base/strings.h"

namespace fjord {
namespace {

constexpr size_t kThreads = 16;

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

HttpServerRequest FromLibrary(const httplib::Request& in) {
  HttpServerRequest request{
      .method = in.method, .path = in.target.substr(0, in.target.find('?')), .body = in.body};
  for (const auto& [name, value] : in.params) request.query.emplace(name, value);
  for (const auto& [name, value] : in.headers) request.headers[Lower(name)] = value;
  return request;
}

// The library would set SO_REUSEPORT, with which two programs share a port and neither hears of it.
void SetSocketOptions(socket_t socket) {
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
}

}  // namespace

struct HttpServer::Impl {
  httplib::Server server;
  int port = 0;
  std::thread thread;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() {
  impl_->server.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

int HttpServer::port() const { return impl_->port; }

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpServerOptions& options,
                                                              HttpHandler handler) {
  auto impl = std::make_unique<Impl>();
  httplib::Server& server = impl->server;
  server.set_socket_options(SetSocketOptions);
  // The library would send the exception's text.
  server.set_exception_handler([](const httplib::Request&, httplib::Response& out,
                                  const std::exception_ptr&) { out.status = 500; });
  server.set_payload_max_length(options.request_bytes_max);
  server.set_read_timeout(30);
  server.set_write_timeout(30);
  // An idle connection holds one of the threads, and the end waits for it.
  server.set_keep_alive_timeout(1);
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  const auto answer = [handler = std::move(handler)](const httplib::Request& in,
                                                     httplib::Response& out) {
    const HttpServerResponse response = handler(FromLibrary(in));
    out.status = response.status;
    for (const auto& [name, value] : response.headers) out.set_header(name, value);
    if (response.status != 204 && response.status != 304)
      out.set_content(response.body, response.content_type);
  };
  // HEAD goes to the handlers of GET: the library leaves the body out.
  server.Get(".*", answer);
  server.Post(".*", answer);
  server.Put(".*", answer);
  server.Delete(".*", answer);
  impl->port = options.port;
  const bool bound = options.port == 0 ? (impl->port = server.bind_to_any_port(options.host)) > 0
                                       : server.bind_to_port(options.host, options.port);
  if (!bound) {
    return absl::FailedPreconditionError(StrCat("cannot listen on ", options.host, ":",
                                                options.port,
                                                ": is the port in use? Choose another one"));
  }
  impl->thread = std::thread([&server] { server.listen_after_bind(); });
  // A stop before the accept loop runs would be lost.
  while (!server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

}  // namespace fjord
