#include "postgres/replication_stream.h"

#include <libpq-fe.h>

#include "absl/time/clock.h"
#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr int64_t kPostgresEpochMicros = int64_t{10'957} * 86'400 * 1'000'000;

// Names of publications as one option: a list of quoted identifiers within a literal.
std::string PublicationList(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(QuoteIdent(name));
  return QuoteLiteral(Join(quoted, ","));
}

std::string StartCommand(const ReplicationStreamOptions& options) {
  return StrCat("START_REPLICATION SLOT ", QuoteIdent(options.slot), " LOGICAL ",
                FormatLsn(options.start), " (proto_version '2', publication_names ",
                PublicationList(options.publications), ", streaming 'on', messages 'true')");
}

absl::StatusOr<absl::Duration> ReadWalSenderTimeout(Connection& session) {
  // In milliseconds, whatever unit SHOW would choose.
  ASSIGN_OR_RETURN(
      const QueryResult rows,
      session.Query(
          "SELECT setting FROM pg_catalog.pg_settings WHERE name = 'wal_sender_timeout'"));
  const auto ms = rows.rows() == 1 ? ParseInt<int64_t>(rows.Text(0, 0)) : std::nullopt;
  if (!ms) return absl::InternalError("the server does not say its wal_sender_timeout");
  return *ms == 0 ? absl::InfiniteDuration() : absl::Milliseconds(*ms);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ReplicationStream>> ReplicationStream::Open(
    const ReplicationStreamOptions& options) {
  ConnectionOptions connection_options = options.connection;
  connection_options.kind = SessionKind::kReplication;
  ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection, Connection::Open(connection_options));
  ASSIGN_OR_RETURN(const absl::Duration timeout, ReadWalSenderTimeout(*connection));
  if (const absl::Status started = connection->Exec(StartCommand(options)); !started.ok()) {
    return Annotate(started, StrCat("cannot stream from slot ", options.slot));
  }
  // From here on a full socket must never make us wait: the server may be waiting for us to read.
  if (PQsetnonblocking(connection->native(), 1) != 0)
    return connection->ConnectionError("stop blocking");
  return std::unique_ptr<ReplicationStream>(new ReplicationStream(std::move(connection), timeout));
}

ReplicationStream::~ReplicationStream() { FreeBuffer(); }

void ReplicationStream::FreeBuffer() {
  PQfreemem(buffer_);
  buffer_ = nullptr;
}

absl::StatusOr<ReplicationEvent> ReplicationStream::Next(absl::Time deadline) {
  FreeBuffer();
  PGconn* const conn = connection_->native();
  while (true) {
    const int size = PQgetCopyData(conn, &buffer_, /*async=*/1);
    if (size > 0) return Parse({buffer_, static_cast<size_t>(size)});
    if (size == -1) return EndOfStream();
    if (size < -1) return connection_->ConnectionError("read the stream");
    ASSIGN_OR_RETURN(const bool ready, connection_->WaitForInput(deadline));
    if (!ready) return NothingYet{};
    if (!PQconsumeInput(conn)) return connection_->ConnectionError("read the stream");
  }
}

absl::StatusOr<ReplicationEvent> ReplicationStream::Parse(std::string_view message) const {
  if (message[0] == 'w' && message.size() >= 25) {
    return XLogData{.start_lsn = Lsn(GetBig64(message.data() + 1)),
                    .wal_end = Lsn(GetBig64(message.data() + 9)),
                    .payload = message.substr(25)};
  }
  if (message[0] == 'k' && message.size() == 18) {
    return Keepalive{.wal_end = Lsn(GetBig64(message.data() + 1)),
                     .reply_requested = message[17] != 0};
  }
  return absl::DataLossError(StrCat("replication stream: a message of ", message.size(),
                                    " bytes that begins with byte ",
                                    static_cast<int>(static_cast<unsigned char>(message[0]))));
}

// The server ended the stream: with an error, or because it shuts down.
absl::Status ReplicationStream::EndOfStream() {
  absl::Status status;
  while (PGresult* result = PQgetResult(connection_->native())) {
    const ExecStatusType kind = PQresultStatus(result);
    if (kind == PGRES_FATAL_ERROR && status.ok())
      status = connection_->ResultError(result, "replication stream");
    PQclear(result);
    if (kind == PGRES_COPY_BOTH || kind == PGRES_COPY_IN || kind == PGRES_COPY_OUT) break;
  }
  return status.ok() ? absl::UnavailableError(
                           "replication stream: the server ended it (it may be shutting down)")
                     : status;
}

absl::Status ReplicationStream::SendStatus(const StandbyStatus& status) {
  std::string message = "r";
  PutBig64(message, status.received.value);
  PutBig64(message, status.flushed.value);
  PutBig64(message, status.flushed.value);  // applied
  PutBig64(message, static_cast<uint64_t>(absl::ToUnixMicros(absl::Now()) - kPostgresEpochMicros));
  message += '\0';  // no reply asked for
  PGconn* const conn = connection_->native();
  // 0: the output buffer cannot grow now, because the server does not read; a later
  // update replaces this one.
  if (PQputCopyData(conn, message.data(), static_cast<int>(message.size())) < 0 ||
      PQflush(conn) < 0) {
    return connection_->ConnectionError("send a status update");
  }
  return absl::OkStatus();
}

absl::Status ReplicationStream::Stop(absl::Duration limit) {
  const absl::Time deadline = absl::Now() + limit;
  PGconn* const conn = connection_->native();
  if (PQputCopyEnd(conn, nullptr) < 0) return connection_->ConnectionError("end the stream");
  // What the server had sent before it saw our end is read and dropped.
  while (absl::Now() < deadline) {
    FreeBuffer();
    const int size = PQgetCopyData(conn, &buffer_, /*async=*/1);
    if (size == -1) return absl::OkStatus();
    if (size < -1) return connection_->ConnectionError("end the stream");
    if (size > 0) continue;
    ASSIGN_OR_RETURN(const bool ready, connection_->WaitForInput(deadline));
    if (ready && !PQconsumeInput(conn)) return connection_->ConnectionError("end the stream");
  }
  return absl::DeadlineExceededError("the server did not end the replication stream in time");
}

}  // namespace fjord
