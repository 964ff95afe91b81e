// Sharing one snapshot of the source among sessions, for as long as the first copy lasts.
//
// A snapshot that CREATE_REPLICATION_SLOT exports ends with the next command of its session; the
// anchor imports it and exports it again, so that the replication session may start to stream.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "postgres/catalog.h"
#include "postgres/connection.h"

namespace fjord {

// Holds a snapshot open. Confined to one thread. The snapshot ends with this object, or when its
// session is lost.
class AnchorSession {
 public:
  static absl::StatusOr<std::unique_ptr<AnchorSession>> Open(const ConnectionOptions& options,
                                                             std::string_view snapshot_name);
  // For SnapshotSession::Open.
  const std::string& snapshot_name() const { return snapshot_name_; }
  // An error when the session is lost: then what was read under the snapshot and is not complete
  // has to be read again.
  absl::Status CheckAlive();

 private:
  AnchorSession(std::unique_ptr<Connection> connection, std::string snapshot_name)
      : connection_(std::move(connection)), snapshot_name_(std::move(snapshot_name)) {}
  std::unique_ptr<Connection> connection_;
  const std::string snapshot_name_;
};

// A worker's session that reads under a shared snapshot. One table per Begin … End, so that no lock
// outlives its table. Confined to one thread.
class SnapshotSession {
 public:
  static absl::StatusOr<std::unique_ptr<SnapshotSession>> Open(const ConnectionOptions& options);

  // Starts a transaction on the snapshot and locks the table (ACCESS SHARE). kAborted: the table
  // was rewritten or truncated after the snapshot was taken and would look empty, it needs a newer
  // one; kNotFound: it is gone; kFailedPrecondition: the snapshot has ended, or a right is missing.
  absl::Status Begin(std::string_view snapshot_name, const TableInfo& table);
  absl::Status End();
  Connection& connection() { return *connection_; }

 private:
  explicit SnapshotSession(std::unique_ptr<Connection> connection)
      : connection_(std::move(connection)) {}
  absl::Status LockAndCompare(const TableInfo& table);
  std::unique_ptr<Connection> connection_;
};

}  // namespace fjord
