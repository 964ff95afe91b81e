#include "catalog/rest_session.h"

#include <algorithm>

#include "absl/time/clock.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/rest_json.h"

namespace fjord {
namespace {

constexpr uint64_t kResponseBytesMax = uint64_t{256} << 20;
constexpr int64_t kTokenSecondsDefault = 3600;
constexpr std::string_view kHeaderSetting = "header.";

std::string WithoutSlashes(std::string text) {
  while (text.ends_with('/')) text.pop_back();
  return text;
}

// A server may repeat in its message what it was sent.
void Hide(const Secret& secret, std::string& text) {
  if (secret.empty()) return;
  const std::string& shown = secret.Reveal();
  for (size_t at = text.find(shown); at != std::string::npos; at = text.find(shown, at)) {
    text.replace(at, shown.size(), "***");
  }
}

struct ClientCredential {
  std::string id;  // may be empty
  Secret secret;
};
ClientCredential Parts(const Secret& credential) {
  const std::string& text = credential.Reveal();
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return {.id = "", .secret = credential};
  return {.id = text.substr(0, colon), .secret = Secret(text.substr(colon + 1))};
}

bool RefusesToken(int status) { return status == 401 || status == 419; }

}  // namespace

RestSession::RestSession(RestCatalogOptions options)
    : options_(std::move(options)), settings_(options_.properties) {
  options_.uri = WithoutSlashes(options_.uri);
  base_ = StrCat(options_.uri, "/v1");
  if (options_.token) token_ = Token{.text = *options_.token};
}

absl::StatusOr<std::unique_ptr<RestSession>> RestSession::Open(RestCatalogOptions options) {
  std::unique_ptr<RestSession> session(new RestSession(std::move(options)));
  RETURN_IF_ERROR(session->Configure());
  return session;
}

absl::Status RestSession::Configure() {
  RestCall call{.path = "/config"};
  if (!options_.warehouse.empty()) {
    call.query = StrCat("warehouse=", PercentEncode(options_.warehouse));
  }
  const absl::StatusOr<Json> config = Send(call);
  if (absl::IsNotFound(config.status())) {
    return absl::FailedPreconditionError(
        StrCat(Message(config.status()),
               ". There is no such warehouse, or no Iceberg REST catalog at ", options_.uri));
  }
  RETURN_IF_ERROR(config.status());
  Apply(*config);
  return absl::OkStatus();
}

// The server's defaults give way to the client's settings, and those to its overrides.
void RestSession::Apply(const Json& config) {
  for (const auto& [name, value] : TextMapFromJson(config.Find("defaults"))) {
    settings_.try_emplace(name, value);
  }
  const std::map<std::string, std::string> overrides = TextMapFromJson(config.Find("overrides"));
  for (const auto& [name, value] : overrides) settings_[name] = value;
  if (const auto it = overrides.find("uri"); it != overrides.end()) {
    options_.uri = WithoutSlashes(it->second);
  }
  base_ = StrCat(options_.uri, "/v1");
  if (const auto it = settings_.find("prefix"); it != settings_.end() && !it->second.empty()) {
    StrAppend(&base_, "/", it->second);
  }
  if (const auto it = settings_.find("namespace-separator"); it != settings_.end()) {
    const bool encoded = it->second.find('%') != std::string::npos;
    separator_ = encoded ? it->second : PercentEncode(it->second);
  }
  if (const auto it = overrides.find("token"); it != overrides.end()) {
    token_ = Token{.text = Secret(it->second)};
  }
  const Json* endpoints = config.Find("endpoints");
  if (endpoints == nullptr || !endpoints->is_array()) return;
  for (const Json& endpoint : endpoints->array()) {
    if (endpoint.is_string()) endpoints_.insert(endpoint.as_string());
  }
}

std::string RestSession::NamespaceSegment(const std::vector<std::string>& levels) const {
  std::vector<std::string> encoded;
  for (const std::string& level : levels) encoded.push_back(PercentEncode(level));
  return Join(encoded, separator_);
}

absl::StatusOr<Json> RestSession::Send(const RestCall& call) {
  std::string url = StrCat(base_, call.path);
  if (!call.query.empty()) StrAppend(&url, "?", call.query);
  const std::string what = StrCat("catalog: ", call.method, " ", base_, call.path);
  const absl::StatusOr<HttpResponse> response = SendTo(url, call);
  if (!response.ok()) {
    return Annotate(OutcomeWithoutAnswer(call.kind, response.status()), "catalog");
  }
  if (const absl::Status outcome = OutcomeOf(call.kind, *response); !outcome.ok()) {
    return Annotate(outcome, what);
  }
  if (response->body.empty()) return Json();
  absl::StatusOr<Json> json = Json::Parse(response->body);
  if (json.ok()) return json;
  const std::string message = StrCat(what, ": the answer is no JSON");
  return call.kind == RestRequestKind::kRead ? absl::UnavailableError(message)
                                             : absl::UnknownError(message);
}

absl::StatusOr<HttpResponse> RestSession::SendTo(const std::string& url, const RestCall& call) {
  const std::string body = call.body ? call.body->Dump() : "";
  ASSIGN_OR_RETURN(Token token, CurrentToken());
  ASSIGN_OR_RETURN(HttpResponse response, SendWith(token, url, call, body));
  if (RefusesToken(response.status) && options_.credential) {
    // A request whose token is refused is not carried out.
    ASSIGN_OR_RETURN(token, NewToken(token));
    ASSIGN_OR_RETURN(response, SendWith(token, url, call, body));
  }
  if (response.status >= 300) Hide(token.text, response.body);
  return response;
}

absl::StatusOr<HttpResponse> RestSession::SendWith(const Token& token, const std::string& url,
                                                   const RestCall& call, const std::string& body) {
  HttpRequest request{.method = call.method,
                      .url = url,
                      .headers = call.headers,
                      .body = body,
                      .timeout = options_.timeout,
                      .response_bytes_max = kResponseBytesMax};
  request.headers.emplace_back("Accept", "application/json");
  if (call.body) request.headers.emplace_back("Content-Type", "application/json");
  for (const auto& [name, value] : settings_) {
    if (!name.starts_with(kHeaderSetting)) continue;
    request.headers.emplace_back(name.substr(kHeaderSetting.size()), value);
  }
  if (!token.text.empty()) {
    request.headers.emplace_back("Authorization", StrCat("Bearer ", token.text.Reveal()));
  }
  return http_.Send(request);
}

absl::StatusOr<RestSession::Token> RestSession::CurrentToken() {
  std::lock_guard lock(token_mutex_);
  if (token_ && absl::Now() < token_->renew_at) return *token_;
  if (!options_.credential) return token_.value_or(Token{});
  ASSIGN_OR_RETURN(token_, FetchToken());
  return *token_;
}

absl::StatusOr<RestSession::Token> RestSession::NewToken(const Token& refused) {
  std::lock_guard lock(token_mutex_);
  if (token_ && !(token_->text == refused.text)) return *token_;
  ASSIGN_OR_RETURN(token_, FetchToken());
  return *token_;
}

absl::StatusOr<RestSession::Token> RestSession::FetchToken() {
  const ClientCredential client = Parts(*options_.credential);
  std::string form = "grant_type=client_credentials";
  if (!client.id.empty()) StrAppend(&form, "&client_id=", PercentEncode(client.id));
  StrAppend(&form, "&client_secret=", PercentEncode(client.secret.Reveal()));
  StrAppend(&form, "&scope=", PercentEncode(options_.scope));
  for (const char* name : {"audience", "resource"}) {
    const auto it = settings_.find(name);
    if (it != settings_.end()) StrAppend(&form, "&", name, "=", PercentEncode(it->second));
  }
  const std::string url =
      options_.oauth2_uri.empty() ? StrCat(options_.uri, "/v1/oauth/tokens") : options_.oauth2_uri;
  absl::StatusOr<HttpResponse> response =
      http_.Send({.method = "POST",
                  .url = url,
                  .headers = {{"Content-Type", "application/x-www-form-urlencoded"},
                              {"Accept", "application/json"}},
                  .body = form,
                  .repetition = Repetition::kHarmless,
                  .timeout = options_.timeout});
  // The request proper has not been sent, so whatever happens here leaves nothing unknown.
  if (!response.ok()) {
    return Annotate(OutcomeWithoutAnswer(RestRequestKind::kRead, response.status()),
                    "token for the catalog");
  }
  if (response->status >= 300) Hide(client.secret, response->body);
  const absl::Status outcome = OutcomeOf(RestRequestKind::kRead, *response);
  if (absl::IsUnavailable(outcome)) return Annotate(outcome, "token for the catalog");
  if (!outcome.ok()) {
    return absl::UnauthenticatedError(
        StrCat("token for the catalog: ", url,
               " refuses lake.catalog.rest.credential: ", Message(outcome)));
  }
  const absl::StatusOr<Json> body = Json::Parse(response->body);
  const absl::StatusOr<std::string> text =
      body.ok() ? body->GetString("access_token") : body.status();
  if (!text.ok()) {
    return absl::UnauthenticatedError(StrCat("token for the catalog: ", url, " sends none"));
  }
  const Json* expires = body->Find("expires_in");
  const int64_t seconds =
      expires != nullptr && expires->is_int() ? expires->as_int() : kTokenSecondsDefault;
  // Early enough for a request that takes its time.
  const absl::Duration margin = std::min(absl::Minutes(5), absl::Seconds(seconds) / 4);
  return Token{.text = Secret(*text), .renew_at = absl::Now() + absl::Seconds(seconds) - margin};
}

}  // namespace fjord
