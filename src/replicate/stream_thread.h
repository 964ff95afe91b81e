// The thread that owns the replication connection: it drains, routes and sends status updates,
// and never waits for a publication. When the connection is lost, or a table has to be
// rewound, it connects again.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "base/ids.h"
#include "postgres/replication_stream.h"
#include "replicate/router.h"

namespace fjord {

struct StreamHooks {
  // Before each (re)connection, on the stream's thread, with no connection: proves the lineage, and
  // readies tables that are to be rewound. An error that is not kUnavailable ends the stream.
  std::function<absl::Status()> before_connect;
  // After changes were received.
  std::function<void()> on_changes;
};

class StreamThread {
 public:
  StreamThread(ReplicationStreamOptions options, Router* router, StreamHooks hooks);
  ~StreamThread();

  void Start();
  // Lets the last confirmed position reach the server, closes the connection and joins.
  void Stop();
  // Drops the connection and makes a new one, soon.
  void RequestReconnect() { reconnect_ = true; }
  // What PostgreSQL may forget. Never goes back.
  void Confirm(Lsn lsn);
  Lsn confirmed() const { return Lsn(confirmed_.load()); }
  bool connected() const { return connected_; }
  // Why the stream ended for good; OK while it runs.
  absl::Status failure() const;
  // The last reason of a lost connection, for status.
  std::string last_error() const;

 private:
  void Run();
  absl::Status RunConnection();
  absl::Status Drain(ReplicationStream& stream);
  absl::Status SendStatus(ReplicationStream& stream);

  const ReplicationStreamOptions options_;
  Router* const router_;
  const StreamHooks hooks_;
  std::thread thread_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> reconnect_{false};
  std::atomic<bool> connected_{false};
  std::atomic<uint64_t> confirmed_{0};
  mutable std::mutex mutex_;
  absl::Status failure_;
  std::string last_error_;
};

}  // namespace fjord
