// A session with a PostgreSQL server: connecting, settings of our own, queries, and errors that say
// what to do.
//
// Every session sets the parameters that the text form of values depends on (TimeZone, DateStyle,
// bytea_output, …), so that neither the server's, the database's or the role's settings nor our own
// environment can change what a value looks like. Replication sessions get the same ones: the
// walsender formats the values of the stream.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/secret.h"

// libpq's own types, seen by the .cc files of this layer only.
struct pg_conn;
struct pg_result;
struct pg_cancel;

namespace fjord {

enum class SessionKind {
  kOrdinary,
  kReplication,  // a walsender bound to the database (`replication=database`); takes SQL too
};

struct ConnectionOptions {
  std::string url;  // postgres://… or a keyword=value string, as libpq takes it
  Secret password;  // empty: the URL's, or none
  std::string application_name = "fjord";
  SessionKind kind = SessionKind::kOrdinary;
  std::vector<std::pair<std::string, std::string>> settings;  // set after our own, so they win
  int connect_timeout_ms = 10'000;
};

// The rows of one statement. Values are text and live as long as this object. Immutable.
class QueryResult {
 public:
  explicit QueryResult(pg_result* result) : result_(result) {}
  QueryResult(QueryResult&& other) noexcept : result_(std::exchange(other.result_, nullptr)) {}
  QueryResult& operator=(QueryResult&& other) noexcept;
  ~QueryResult();

  int rows() const;
  int columns() const;
  std::string_view column_name(int column) const;
  // Nothing when the value is NULL. Precondition: row and column exist.
  std::optional<std::string_view> Get(int row, int column) const;
  // NULL as "".
  std::string_view Text(int row, int column) const { return Get(row, column).value_or(""); }
  // Rows that the statement touched, 0 where that means nothing.
  int64_t affected_rows() const;

 private:
  pg_result* result_;
};

// One session. Confined to one thread at a time, except Cancel. After kUnavailable the session is
// gone: open another.
//
// Codes: kUnavailable the connection is lost or the server is starting or stopping ·
// kFailedPrecondition a person must act (missing right, wrong password, no such database; the
// message names it) · kAborted serialisation failure, deadlock, cancelled · kNotFound no such
// object · kAlreadyExists · kInvalidArgument the statement is wrong.
class Connection {
 public:
  static absl::StatusOr<std::unique_ptr<Connection>> Open(const ConnectionOptions& options);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // One or more statements by the simple protocol; the rows of the last one.
  absl::StatusOr<QueryResult> Query(std::string_view sql);
  // One statement with $1 … as text.
  absl::StatusOr<QueryResult> Query(std::string_view sql,
                                    const std::vector<std::string>& parameters);
  absl::Status Exec(std::string_view sql);

  // As Query, and calls `on_wait` each `interval` while the server has not answered. When that
  // returns an error the statement is cancelled and the error returned.
  absl::StatusOr<QueryResult> QueryWaiting(std::string_view sql, absl::Duration interval,
                                           const std::function<absl::Status()>& on_wait);

  // Asks the server to give up the running statement. Any thread, at any time
  // while this object lives.
  void Cancel();

  // 150018 for 15.18.
  int server_version() const;
  // Where this session goes, without secrets: "shop on db.internal:5432 as fjord".
  const std::string& label() const { return label_; }
  int backend_pid() const;

  // For the files of this layer.
  pg_conn* native() { return conn_; }
  // The status that belongs to the connection's last error; `doing` begins the message.
  absl::Status ConnectionError(std::string_view doing) const;
  // The status of a failed result.
  absl::Status ResultError(const pg_result* result, std::string_view doing) const;
  // Waits until the socket can be read (and written, when output is pending).
  // False at the deadline.
  absl::StatusOr<bool> WaitForInput(absl::Time deadline);

 private:
  Connection(pg_conn* conn, pg_cancel* cancel, std::string label)
      : conn_(conn), cancel_(cancel), label_(std::move(label)) {}
  absl::StatusOr<QueryResult> Collect(absl::Duration interval,
                                      const std::function<absl::Status()>* on_wait);

  pg_conn* conn_;
  pg_cancel* cancel_;
  std::string label_;
};

// The five characters of PostgreSQL's error code, where the status came from an error of the
// server; else "".
std::string SqlState(const absl::Status& status);

// "Na""me" with its quotes; 'it''s' with its quotes. Any bytes but NUL; need no session
// (standard_conforming_strings is on).
std::string QuoteIdent(std::string_view name);
std::string QuoteLiteral(std::string_view text);
// "schema"."name"
std::string QuoteQualified(std::string_view schema, std::string_view name);

}  // namespace fjord
