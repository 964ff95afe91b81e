#include "io/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <mutex>

#include "base/strings.h"

namespace fjord {
namespace {

constexpr size_t kIdleHandlesMax = 32;
constexpr uint64_t kHeaderBytesMax = uint64_t{1} << 20;
constexpr absl::Duration kConnectTimeoutMax = absl::Seconds(10);

struct CurlDeleter {
  void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using CurlHandle = std::unique_ptr<CURL, CurlDeleter>;
using CurlList = std::unique_ptr<curl_slist, CurlDeleter>;

std::string Lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// Scheme, host and path only: user, password and query may hold secrets.
std::string PublicUrl(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::string(url);
  const std::string_view rest = url.substr(scheme + 3);
  const size_t at = rest.substr(0, rest.find('/')).rfind('@');
  const std::string_view shown = at == std::string_view::npos ? rest : rest.substr(at + 1);
  return StrCat(url.substr(0, scheme + 3), shown);
}

// What one transfer receives.
struct Transfer {
  HttpResponse response;
  uint64_t response_bytes_max = 0;
  uint64_t header_bytes = 0;
};

size_t OnBody(char* data, size_t, size_t size, void* user) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  if (transfer.response.body.size() + size > transfer.response_bytes_max) return 0;
  transfer.response.body.append(data, size);
  return size;
}

size_t OnHeader(char* data, size_t, size_t size, void* user) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  transfer.header_bytes += size;
  if (transfer.header_bytes > kHeaderBytesMax) return 0;
  const std::string_view line(data, size);
  if (line.starts_with("HTTP/")) transfer.response.headers.clear();  // after a 100 Continue
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size;
  transfer.response.headers[Lower(Trim(line.substr(0, colon)))] = Trim(line.substr(colon + 1));
  return size;
}

absl::StatusOr<CurlList> HeaderList(const HttpHeaders& headers) {
  CurlList list;
  const auto append = [&list](const std::string& line) {
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    if (longer == nullptr) return false;
    list.release();
    list.reset(longer);
    return true;
  };
  // Waiting for "100 Continue" costs a second with servers that do not know it.
  bool ok = append("Expect:");
  for (const auto& [name, value] : headers) {
    if (StrCat(name, value).find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
      return absl::InvalidArgumentError(StrCat("header ", name, " holds a line break"));
    }
    // libcurl takes "name;" for a header without a value.
    ok = ok && append(value.empty() ? StrCat(name, ";") : StrCat(name, ": ", value));
  }
  if (!ok) return absl::ResourceExhaustedError("out of memory");
  return list;
}

// True: not a byte of the request was sent.
bool SurelyNotSent(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE: return true;
    default: return false;
  }
}

absl::Status ErrorOf(CURL* curl, CURLcode code, const Transfer& transfer,
                     const HttpRequest& request) {
  const std::string where = StrCat(request.method, " ", PublicUrl(request.url), ": ");
  if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL) {
    return absl::InvalidArgumentError(StrCat(where, curl_easy_strerror(code)));
  }
  if (code == CURLE_WRITE_ERROR) {
    return absl::UnknownError(
        StrCat(where, "the answer is larger than ", transfer.response_bytes_max, " bytes"));
  }
  curl_off_t pretransfer_us = 0;
  curl_easy_getinfo(curl, CURLINFO_PRETRANSFER_TIME_T, &pretransfer_us);
  // Time ran out before there was a connection to send on.
  const bool before_sending = code == CURLE_OPERATION_TIMEDOUT && pretransfer_us == 0;
  const std::string message = StrCat(where, curl_easy_strerror(code));
  if (SurelyNotSent(code) || before_sending) return absl::UnavailableError(message);
  return absl::UnknownError(message);
}

void SetMethod(CURL* curl, const HttpRequest& request) {
  if (request.method == "HEAD") {
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    return;
  }
  if (request.method == "POST" || request.method == "PUT" || !request.body.empty()) {
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.empty() ? "" : request.body.data());
  }
  if (request.method != "GET") {
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
}

void SetOptions(CURL* curl, const HttpRequest& request, Transfer& transfer) {
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  const bool harmless = request.repetition == Repetition::kHarmless || request.method == "GET" ||
                        request.method == "HEAD";
  // Only on a kept connection does libcurl repeat a request.
  curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, harmless ? 0L : 1L);
  curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  const int64_t timeout_ms = std::max<int64_t>(1, absl::ToInt64Milliseconds(request.timeout));
  const int64_t connect_ms = std::min(timeout_ms, absl::ToInt64Milliseconds(kConnectTimeoutMax));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout_ms));
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(connect_ms));
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, OnBody);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, OnHeader);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
  SetMethod(curl, request);
}

void InitOnce() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(code);
}

}  // namespace

std::string HttpResponse::Header(const std::string& name) const {
  const auto it = headers.find(name);
  return it == headers.end() ? "" : it->second;
}

// A handle keeps its connections; it serves one request at a time.
struct HttpClient::Impl {
  std::mutex mutex;
  std::vector<CurlHandle> idle;  // guarded by mutex

  CurlHandle Take() {
    std::lock_guard lock(mutex);
    if (idle.empty()) return CurlHandle(curl_easy_init());
    CurlHandle handle = std::move(idle.back());
    idle.pop_back();
    return handle;
  }
  void Return(CurlHandle handle) {
    curl_easy_reset(handle.get());
    std::lock_guard lock(mutex);
    if (idle.size() < kIdleHandlesMax) idle.push_back(std::move(handle));
  }
};

HttpClient::HttpClient() : impl_(std::make_unique<Impl>()) { InitOnce(); }
HttpClient::~HttpClient() = default;

absl::StatusOr<HttpResponse> HttpClient::Send(const HttpRequest& request) {
  absl::StatusOr<CurlList> headers = HeaderList(request.headers);
  if (!headers.ok()) return headers.status();
  CurlHandle handle = impl_->Take();
  if (handle == nullptr) return absl::ResourceExhaustedError("libcurl gives no handle");
  Transfer transfer;
  transfer.response_bytes_max = request.response_bytes_max;
  SetOptions(handle.get(), request, transfer);
  curl_easy_setopt(handle.get(), CURLOPT_HTTPHEADER, headers->get());
  const CURLcode code = curl_easy_perform(handle.get());
  absl::StatusOr<HttpResponse> answer;
  if (code == CURLE_OK) {
    long status = 0;
    curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
    transfer.response.status = static_cast<int>(status);
    answer = std::move(transfer.response);
  } else {
    answer = ErrorOf(handle.get(), code, transfer, request);
  }
  impl_->Return(std::move(handle));
  return answer;
}

}  // namespace fjord
