#include "postgres/pg_error.h"

#include <cctype>
#include <optional>

#include "absl/strings/cord.h"
#include "base/strings.h"
#include "postgres/connection.h"

namespace fjord {
namespace {

constexpr char kSqlStatePayload[] = "fjord.sqlstate";

bool IsSqlState(std::string_view text) {
  if (text.size() != 5) return false;
  for (const char c : text) {
    if (!std::isdigit(static_cast<unsigned char>(c)) && !(c >= 'A' && c <= 'Z')) return false;
  }
  return true;
}

// The word after `marker`.
std::optional<std::string> NameAfter(std::string_view message, std::string_view marker) {
  const size_t at = message.find(marker);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = message.substr(at + marker.size());
  rest = rest.substr(0, rest.find('\n'));
  if (rest.size() >= 2 && rest.front() == '"' && rest.back() == '"')
    rest = rest.substr(1, rest.size() - 2);
  return std::string(rest);
}

std::string WithoutLocationLines(std::string_view text) {
  std::string out;
  for (const std::string& line : Split(text, '\n')) {
    const size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos || line.starts_with("LOCATION:")) continue;
    if (!out.empty()) out += first > 0 ? " " : "; ";  // an indented line goes on with the sentence
    out += line.substr(first);
  }
  return out;
}

}  // namespace

absl::StatusCode CodeOfSqlState(std::string_view sqlstate) {
  const std::string_view klass = sqlstate.substr(0, 2);
  if (sqlstate == "53400" || sqlstate == "55000") return absl::StatusCode::kFailedPrecondition;
  if (sqlstate == "55006" || sqlstate == "55P04")
    return absl::StatusCode::kUnavailable;  // slot in use
  if (sqlstate == "55P03" || sqlstate == "57014") return absl::StatusCode::kAborted;
  if (sqlstate == "58P01" || sqlstate == "42501") return absl::StatusCode::kFailedPrecondition;
  if (sqlstate == "42P01" || sqlstate == "42704" || sqlstate == "3F000")
    return absl::StatusCode::kNotFound;
  if (sqlstate == "42710" || sqlstate == "42P07") return absl::StatusCode::kAlreadyExists;
  if (klass == "08" || klass == "53" || klass == "57" || klass == "58")
    return absl::StatusCode::kUnavailable;
  if (klass == "40") return absl::StatusCode::kAborted;
  if (klass == "28" || klass == "3D" || klass == "0A") return absl::StatusCode::kFailedPrecondition;
  if (klass == "22" || klass == "42" || klass == "26" || klass == "34")
    return absl::StatusCode::kInvalidArgument;
  return absl::StatusCode::kInternal;
}

std::string RemedyForDenied(std::string_view message, std::string_view user) {
  const std::string role = QuoteIdent(user);
  if (const auto table = NameAfter(message, "permission denied for table ")) {
    return StrCat("GRANT SELECT ON ", QuoteIdent(*table), " TO ", role);
  }
  if (const auto schema = NameAfter(message, "permission denied for schema ")) {
    return StrCat("GRANT USAGE ON SCHEMA ", QuoteIdent(*schema), " TO ", role);
  }
  if (const auto database = NameAfter(message, "permission denied for database ")) {
    return StrCat("GRANT CREATE ON DATABASE ", QuoteIdent(*database), " TO ", role);
  }
  if (const auto function = NameAfter(message, "permission denied for function ")) {
    return StrCat("GRANT EXECUTE ON FUNCTION ", *function, " TO ", role);
  }
  if (message.find("row-level security") != std::string_view::npos) {
    return StrCat("ALTER ROLE ", role, " BYPASSRLS");
  }
  if (message.find("replication") != std::string_view::npos ||
      message.find("WAL sender") != std::string_view::npos) {
    return StrCat("ALTER ROLE ", role, " REPLICATION");
  }
  return "";
}

absl::Status ToStatus(const PgError& error, std::string_view user) {
  std::string text = error.message;
  if (!error.detail.empty()) StrAppend(&text, ": ", error.detail);
  if (!error.hint.empty()) StrAppend(&text, " (", error.hint, ")");
  if (!error.sqlstate.empty()) StrAppend(&text, " [", error.sqlstate, "]");
  if (error.sqlstate == "42501") {
    const std::string remedy = RemedyForDenied(error.message, user);
    if (remedy.empty()) {
      StrAppend(&text, "; GRANT the missing right to the role ", QuoteIdent(user));
    } else {
      StrAppend(&text, "; type: ", remedy);
    }
  }
  const absl::StatusCode code =
      error.sqlstate.empty() ? absl::StatusCode::kUnavailable : CodeOfSqlState(error.sqlstate);
  absl::Status status(code, text);
  if (!error.sqlstate.empty()) status.SetPayload(kSqlStatePayload, absl::Cord(error.sqlstate));
  return status;
}

std::string SqlState(const absl::Status& status) {
  const auto payload = status.GetPayload(kSqlStatePayload);
  return payload ? std::string(*payload) : "";
}

PgError ParseConnectError(std::string_view text) {
  PgError error{.message = WithoutLocationLines(text)};
  // "FATAL:  28P01: password authentication failed": the code is what stands between two colons.
  // The last attempt counts when several hosts were tried.
  size_t at = std::string::npos;
  for (size_t i = 0; i + 9 <= error.message.size(); ++i) {
    if (error.message.compare(i, 3, ":  ") == 0 &&
        IsSqlState(std::string_view(error.message).substr(i + 3, 5)) &&
        error.message[i + 8] == ':') {
      at = i;
    }
  }
  if (at != std::string::npos) {
    error.sqlstate = error.message.substr(at + 3, 5);
    error.message.erase(at + 1, 8);
  }
  return error;
}

absl::Status RefusalStatus(const PgError& error) {
  const absl::Status status = ToStatus(error, "");
  if (error.message.find("startup parameter") == std::string::npos) return status;
  return absl::FailedPreconditionError(
      StrCat(status.message(),
             "; this is the address of a connection pooler, give the one of the database itself"));
}

}  // namespace fjord
