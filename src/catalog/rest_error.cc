#include "catalog/rest_error.h"

#include "base/json.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr size_t kMessageBytesMax = 1000;

std::string TextMember(const Json& json, std::string_view name) {
  const Json* value = json.Find(name);
  return value != nullptr && value->is_string() ? value->as_string() : "";
}

// {"error":{"message":…,"type":…}} of the protocol, or {"error":…,"error_description":…} of OAuth.
std::string ErrorText(const Json& body) {
  const Json* error = body.Find("error");
  if (error == nullptr) return TextMember(body, "message");
  if (error->is_string()) {
    const std::string description = TextMember(body, "error_description");
    return description.empty() ? error->as_string() : StrCat(error->as_string(), ": ", description);
  }
  const std::string type = TextMember(*error, "type");
  const std::string message = TextMember(*error, "message");
  return type.empty() ? message : StrCat(type, ": ", message);
}

// A catalog says in JSON what it did not find; a gateway or a wrong address does not.
bool SaysWhatIsMissing(const HttpResponse& response) {
  const absl::StatusOr<Json> body = Json::Parse(response.body);
  return body.ok() && body->is_object();
}

// Whether it was carried out is not known.
bool IsUnclear(int status) { return status >= 500 || status == 408; }

}  // namespace

std::string ServerMessage(const HttpResponse& response) {
  const absl::StatusOr<Json> body = Json::Parse(response.body);
  std::string text = body.ok() ? ErrorText(*body) : "";
  if (text.size() > kMessageBytesMax) text.resize(kMessageBytesMax);
  if (text.empty()) return StrCat("HTTP status ", response.status);
  return StrCat("HTTP status ", response.status, ": ", text);
}

absl::Status OutcomeOf(RestRequestKind kind, const HttpResponse& response) {
  const int status = response.status;
  if (status >= 200 && status < 300) return absl::OkStatus();
  const std::string message = ServerMessage(response);
  if (IsUnclear(status)) {
    return kind == RestRequestKind::kRead ? absl::UnavailableError(message)
                                          : absl::UnknownError(message);
  }
  if (status == 401 || status == 419) return absl::UnauthenticatedError(message);
  if (status == 404 && SaysWhatIsMissing(response)) return absl::NotFoundError(message);
  if (status == 429) return absl::UnavailableError(message);
  if (status == 409 && kind == RestRequestKind::kCommit) return absl::AbortedError(message);
  if (status == 409 && kind == RestRequestKind::kChange) return absl::AlreadyExistsError(message);
  if (status >= 300 && status < 400) {
    return absl::FailedPreconditionError(
        StrCat(message, ": the server redirects; set lake.catalog.rest.uri to where it leads"));
  }
  return absl::FailedPreconditionError(message);
}

absl::Status OutcomeWithoutAnswer(RestRequestKind kind, const absl::Status& error) {
  if (!absl::IsUnknown(error) || kind != RestRequestKind::kRead) return error;
  return absl::UnavailableError(StrCat(Message(error)));
}

}  // namespace fjord
