#include "postgres/connection.h"

#include <libpq-fe.h>
#include <poll.h>

#include <cerrno>
#include <cstring>

#include "absl/time/clock.h"
#include "base/status.h"
#include "base/strings.h"
#include "postgres/pg_error.h"

namespace fjord {
namespace {

using Setting = std::pair<std::string, std::string>;

// What the text of values, names and expressions depends on, and what could stop or change a long
// reading transaction. row_security = off makes a query fail that policies would otherwise answer
// with a part of the rows.
std::vector<Setting> OwnSettings(int server_version) {
  std::vector<Setting> settings = {
      {"client_encoding", "UTF8"},
      {"timezone", "UTC"},
      {"datestyle", "ISO, YMD"},
      {"intervalstyle", "postgres"},
      {"bytea_output", "hex"},
      {"extra_float_digits", "3"},
      {"lc_monetary", "C"},
      {"search_path", ""},
      {"quote_all_identifiers", "off"},
      {"standard_conforming_strings", "on"},
      {"row_security", "off"},
      {"statement_timeout", "0"},
      {"lock_timeout", "0"},
      {"idle_in_transaction_session_timeout", "0"},
      {"default_transaction_isolation", "read committed"},
      {"default_transaction_read_only", "off"},
      {"default_transaction_deferrable", "off"},
  };
  if (server_version >= 140000) settings.emplace_back("idle_session_timeout", "0");
  if (server_version >= 170000) settings.emplace_back("transaction_timeout", "0");
  return settings;
}

std::string SetStatements(const std::vector<Setting>& settings) {
  std::string sql;
  for (const auto& [name, value] : settings)
    StrAppend(&sql, "SET ", name, " TO ", QuoteLiteral(value), ";");
  return sql;
}

// Keywords and values for libpq: the URL's, then ours where the URL says nothing.
absl::StatusOr<std::vector<Setting>> ConnectParameters(const ConnectionOptions& options) {
  PQconninfoOption* parsed = PQconninfoParse(options.url.c_str(), nullptr);
  if (parsed == nullptr) {
    // libpq's own message may quote a piece of the URL, and with it of the password.
    return absl::InvalidArgumentError(
        "this is not a PostgreSQL connection URL: write postgres://user@host:5432/database, "
        "with special characters percent-encoded");
  }
  std::vector<Setting> parameters;
  for (const PQconninfoOption* option = parsed; option->keyword != nullptr; ++option) {
    if (option->val != nullptr) parameters.emplace_back(option->keyword, option->val);
  }
  PQconninfoFree(parsed);
  auto set = [&](std::string_view keyword, std::string_view value) {
    std::erase_if(parameters, [&](const Setting& s) { return s.first == keyword; });
    parameters.emplace_back(keyword, value);
  };
  auto value_of = [&](std::string_view keyword) -> std::string {
    for (const Setting& s : parameters) {
      if (s.first == keyword) return s.second;
    }
    return "";
  };
  auto set_if_absent = [&](std::string_view keyword, std::string_view value) {
    if (value_of(keyword).empty()) set(keyword, value);
  };
  if (!options.password.empty()) set("password", options.password.Reveal());
  if (options.kind == SessionKind::kReplication) set("replication", "database");
  set_if_absent("application_name", options.application_name);
  // The other settings come with statements (environment variables of libpq's would
  // win over options); this one before them, since a role's own time limit would count
  // for those statements too.
  constexpr std::string_view kNoTimeout = "-c statement_timeout=0";
  const std::string given = value_of("options");
  set("options", given.empty() ? std::string(kNoTimeout) : StrCat(given, " ", kNoTimeout));
  set("client_encoding", "UTF8");
  // A dead peer is noticed within a minute, whether we wait or send.
  set_if_absent("keepalives_idle", "20");
  set_if_absent("keepalives_interval", "10");
  set_if_absent("keepalives_count", "4");
  set_if_absent("tcp_user_timeout", "60000");
  return parameters;
}

// False at the deadline.
absl::StatusOr<bool> PollSocket(int socket, short events, absl::Time deadline) {
  while (true) {
    pollfd fd{.fd = socket, .events = events, .revents = 0};
    int timeout_ms = -1;
    if (deadline != absl::InfiniteFuture()) {
      const absl::Duration left = std::max(deadline - absl::Now(), absl::ZeroDuration());
      // Rounded up, so that waiting for less than a millisecond is no busy loop.
      timeout_ms = static_cast<int>(
          absl::ToInt64Milliseconds(std::min(left + absl::Microseconds(999), absl::Hours(1))));
      if (left == absl::ZeroDuration()) timeout_ms = 0;
    }
    const int ready = poll(&fd, 1, timeout_ms);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR)
      return absl::UnavailableError(StrCat("poll: ", std::strerror(errno)));
    if (absl::Now() >= deadline) return false;
  }
}

absl::Status FinishConnecting(PGconn* conn, absl::Time deadline) {
  PostgresPollingStatusType state = PGRES_POLLING_WRITING;
  while (state != PGRES_POLLING_OK) {
    if (state == PGRES_POLLING_FAILED) {
      return RefusalStatus(ParseConnectError(PQerrorMessage(conn)));
    }
    const short events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    ASSIGN_OR_RETURN(const bool ready, PollSocket(PQsocket(conn), events, deadline));
    if (!ready) return absl::UnavailableError("the server did not answer in time");
    state = PQconnectPoll(conn);
  }
  return absl::OkStatus();
}

std::string Where(const std::vector<Setting>& parameters) {
  auto value = [&](std::string_view keyword) -> std::string {
    for (const Setting& s : parameters) {
      if (s.first == keyword) return s.second;
    }
    return "";
  };
  const std::string host = value("host").empty() ? value("hostaddr") : value("host");
  const std::string port = value("port");
  return StrCat("PostgreSQL database ", value("dbname").empty() ? "(default)" : value("dbname"),
                " on ", host.empty() ? "(default host)" : host, port.empty() ? "" : ":", port);
}

std::string FieldOf(const PGresult* result, int field) {
  const char* text = PQresultErrorField(result, field);
  return text == nullptr ? "" : text;
}

bool IsFailure(ExecStatusType status) {
  return status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE ||
         status == PGRES_NONFATAL_ERROR;
}

}  // namespace

QueryResult& QueryResult::operator=(QueryResult&& other) noexcept {
  std::swap(result_, other.result_);
  return *this;
}
QueryResult::~QueryResult() { PQclear(result_); }
int QueryResult::rows() const { return PQntuples(result_); }
int QueryResult::columns() const { return PQnfields(result_); }
std::string_view QueryResult::column_name(int column) const { return PQfname(result_, column); }
std::optional<std::string_view> QueryResult::Get(int row, int column) const {
  if (PQgetisnull(result_, row, column)) return std::nullopt;
  return std::string_view(PQgetvalue(result_, row, column), PQgetlength(result_, row, column));
}
int64_t QueryResult::affected_rows() const {
  return ParseInt<int64_t>(PQcmdTuples(result_)).value_or(0);
}

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(const ConnectionOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<Setting> parameters, ConnectParameters(options));
  std::vector<const char*> keywords;
  std::vector<const char*> values;
  for (const auto& [keyword, value] : parameters) {
    keywords.push_back(keyword.c_str());
    values.push_back(value.c_str());
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  PGconn* conn = PQconnectStartParams(keywords.data(), values.data(), 0);
  if (conn == nullptr) return absl::ResourceExhaustedError("no memory for a PostgreSQL connection");
  auto connection = std::unique_ptr<Connection>(new Connection(conn, nullptr, Where(parameters)));
  if (PQstatus(conn) == CONNECTION_BAD) return connection->ConnectionError("connect");
  // The code of a refusal is only in the verbose text.
  PQsetErrorVerbosity(conn, PQERRORS_VERBOSE);
  const absl::Time deadline = absl::Now() + absl::Milliseconds(options.connect_timeout_ms);
  if (const absl::Status status = FinishConnecting(conn, deadline); !status.ok()) {
    return Annotate(status, StrCat("cannot connect to ", connection->label_));
  }
  PQsetErrorVerbosity(conn, PQERRORS_DEFAULT);
  PQsetNoticeProcessor(conn, [](void*, const char*) {}, nullptr);
  connection->cancel_ = PQgetCancel(conn);
  connection->label_ =
      StrCat(PQdb(conn), " on ", PQhost(conn), ":", PQport(conn), " as ", PQuser(conn));
  std::vector<Setting> settings = OwnSettings(connection->server_version());
  settings.insert(settings.end(), options.settings.begin(), options.settings.end());
  if (const absl::Status status = connection->Exec(SetStatements(settings)); !status.ok()) {
    return Annotate(status, StrCat("cannot set up the session of ", connection->label_));
  }
  return connection;
}

Connection::~Connection() {
  PQfreeCancel(cancel_);
  PQfinish(conn_);
}

absl::StatusOr<QueryResult> Connection::Query(std::string_view sql) {
  if (!PQsendQuery(conn_, std::string(sql).c_str())) return ConnectionError("send a statement");
  return Collect(absl::InfiniteDuration(), nullptr);
}

absl::StatusOr<QueryResult> Connection::Query(std::string_view sql,
                                              const std::vector<std::string>& parameters) {
  std::vector<const char*> values;
  for (const std::string& parameter : parameters) values.push_back(parameter.c_str());
  if (!PQsendQueryParams(conn_, std::string(sql).c_str(), static_cast<int>(values.size()), nullptr,
                         values.data(), nullptr, nullptr, 0)) {
    return ConnectionError("send a statement");
  }
  return Collect(absl::InfiniteDuration(), nullptr);
}

absl::Status Connection::Exec(std::string_view sql) { return Query(sql).status(); }

absl::StatusOr<QueryResult> Connection::QueryWaiting(std::string_view sql, absl::Duration interval,
                                                     const std::function<absl::Status()>& on_wait) {
  if (!PQsendQuery(conn_, std::string(sql).c_str())) return ConnectionError("send a statement");
  return Collect(interval, &on_wait);
}

absl::StatusOr<QueryResult> Connection::Collect(absl::Duration interval,
                                                const std::function<absl::Status()>* on_wait) {
  absl::Status given_up;
  absl::Status failure;
  std::optional<QueryResult> last;
  while (true) {
    while (PQisBusy(conn_)) {
      ASSIGN_OR_RETURN(const bool ready, WaitForInput(absl::Now() + interval));
      if (ready && !PQconsumeInput(conn_)) return ConnectionError("wait for an answer");
      if (!ready && on_wait != nullptr && given_up.ok()) {
        given_up = (*on_wait)();
        if (!given_up.ok()) Cancel();
      }
    }
    PGresult* result = PQgetResult(conn_);
    if (result == nullptr) break;
    QueryResult owned(result);
    const ExecStatusType status = PQresultStatus(result);
    if (IsFailure(status)) {
      if (failure.ok()) failure = ResultError(result, "");
      continue;
    }
    last = std::move(owned);
    // What follows is data; the caller reads it.
    if (status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH || status == PGRES_COPY_IN) break;
  }
  RETURN_IF_ERROR(given_up);
  RETURN_IF_ERROR(failure);
  if (PQstatus(conn_) == CONNECTION_BAD) return ConnectionError("wait for an answer");
  if (!last)
    return absl::InternalError(StrCat(label_, ": the server sent no answer to a statement"));
  return *std::move(last);
}

void Connection::Cancel() {
  char error[256];
  // A failure means that there is nothing to cancel any more, or that the server is gone; the
  // statement's own end says so.
  if (cancel_ != nullptr) PQcancel(cancel_, error, sizeof error);
}

int Connection::server_version() const { return PQserverVersion(conn_); }
int Connection::backend_pid() const { return PQbackendPID(conn_); }

absl::StatusOr<bool> Connection::WaitForInput(absl::Time deadline) {
  // libpq may hold output back when the socket is full; it must go on while we wait.
  const int pending = PQflush(conn_);
  if (pending < 0) return ConnectionError("send");
  const short events = pending > 0 ? POLLIN | POLLOUT : POLLIN;
  return PollSocket(PQsocket(conn_), events, deadline);
}

absl::Status Connection::ConnectionError(std::string_view doing) const {
  PgError error = ParseConnectError(PQerrorMessage(conn_));
  if (error.message.empty()) error.message = "the connection was lost";
  return Annotate(ToStatus(error, ""), StrCat(label_, ": cannot ", doing));
}

absl::Status Connection::ResultError(const pg_result* result, std::string_view doing) const {
  PgError error{.sqlstate = FieldOf(result, PG_DIAG_SQLSTATE),
                .message = FieldOf(result, PG_DIAG_MESSAGE_PRIMARY),
                .detail = FieldOf(result, PG_DIAG_MESSAGE_DETAIL),
                .hint = FieldOf(result, PG_DIAG_MESSAGE_HINT)};
  // Without fields the message is libpq's own: the connection broke.
  if (error.message.empty()) error.message = std::string(Trim(PQresultErrorMessage(result)));
  const char* user = PQuser(conn_);
  const absl::Status status = ToStatus(error, user == nullptr ? "" : user);
  return doing.empty() ? status : Annotate(status, doing);
}

std::string QuoteIdent(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  return out += '"';
}

std::string QuoteLiteral(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += '\'';
    out += c;
  }
  return out += '\'';
}

std::string QuoteQualified(std::string_view schema, std::string_view name) {
  return StrCat(QuoteIdent(schema), ".", QuoteIdent(name));
}

}  // namespace fjord
