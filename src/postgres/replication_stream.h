// The replication connection: START_REPLICATION of a logical slot, its messages,
// and our status updates.
//
// Protocol: PostgreSQL manual, "Streaming Replication Protocol".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/ids.h"
#include "postgres/connection.h"

namespace fjord {

struct ReplicationStreamOptions {
  ConnectionOptions connection;  // `kind` is set by Open
  std::string slot;
  Lsn start;  // below the slot's confirmed position the server starts at that instead
  std::vector<std::string> publications;
};

// `payload` is a pgoutput message and lives until the next call of Next.
struct XLogData {
  Lsn start_lsn;  // 0 for some messages
  Lsn wal_end;
  std::string_view payload;
};
struct Keepalive {
  Lsn wal_end;
  bool reply_requested = false;
};
struct NothingYet {};
using ReplicationEvent = std::variant<NothingYet, XLogData, Keepalive>;

struct StandbyStatus {
  Lsn received;  // written: taken over by us, in memory
  Lsn flushed;   // what PostgreSQL may forget; becomes the slot's confirmed_flush_lsn
};

// Confined to one thread, which must come back to Next or SendStatus well within
// wal_sender_timeout. After an error the stream is gone; open transactions come again from their
// beginning on the next one.
class ReplicationStream {
 public:
  // Connects and starts. kFailedPrecondition: the slot is lost, of another plugin or database;
  // kUnavailable: it is in use (the message has the pid) or the server is away.
  static absl::StatusOr<std::unique_ptr<ReplicationStream>> Open(
      const ReplicationStreamOptions& options);
  ~ReplicationStream();
  ReplicationStream(const ReplicationStream&) = delete;
  ReplicationStream& operator=(const ReplicationStream&) = delete;

  // The next message, waiting at most until `deadline` (in the past: never waits).
  absl::StatusOr<ReplicationEvent> Next(absl::Time deadline);
  // Queues a status update; never waits for the socket.
  absl::Status SendStatus(const StandbyStatus& status);
  // Ends the stream in order, waiting at most `limit` for the server. The last status sent is taken
  // over by the server.
  absl::Status Stop(absl::Duration limit);

  // The server's wal_sender_timeout; infinite when it is off. Send a status at
  // least each third of it.
  absl::Duration wal_sender_timeout() const { return wal_sender_timeout_; }
  int server_version() const { return connection_->server_version(); }

 private:
  ReplicationStream(std::unique_ptr<Connection> connection, absl::Duration wal_sender_timeout)
      : connection_(std::move(connection)), wal_sender_timeout_(wal_sender_timeout) {}
  absl::StatusOr<ReplicationEvent> Parse(std::string_view message) const;
  absl::Status EndOfStream();
  void FreeBuffer();

  std::unique_ptr<Connection> connection_;
  const absl::Duration wal_sender_timeout_;
  char* buffer_ = nullptr;  // libpq's, of the last message
};

}  // namespace fjord
