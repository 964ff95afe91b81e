#include "replicate/stream_thread.h"

#include <algorithm>
#include <variant>

#include "absl/time/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr absl::Duration kStatusInterval = absl::Seconds(1);
constexpr absl::Duration kWait = absl::Milliseconds(100);
constexpr absl::Duration kStopLimit = absl::Seconds(5);
constexpr absl::Duration kBackoffMin = absl::Milliseconds(100);
constexpr absl::Duration kBackoffMax = absl::Seconds(10);

}  // namespace

StreamThread::StreamThread(ReplicationStreamOptions options, Router* router, StreamHooks hooks)
    : options_(std::move(options)),
      router_(router),
      hooks_(std::move(hooks)),
      confirmed_(options_.start.value) {}

StreamThread::~StreamThread() { Stop(); }

void StreamThread::Start() {
  thread_ = std::thread([this] { Run(); });
}

void StreamThread::Stop() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void StreamThread::Confirm(Lsn lsn) {
  uint64_t before = confirmed_;
  while (before < lsn.value && !confirmed_.compare_exchange_weak(before, lsn.value)) {
  }
}

absl::Status StreamThread::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

std::string StreamThread::last_error() const {
  std::lock_guard lock(mutex_);
  return last_error_;
}

void StreamThread::Run() {
  absl::Duration backoff = kBackoffMin;
  while (!stop_) {
    const absl::Time started = absl::Now();
    const absl::Status status = RunConnection();
    connected_ = false;
    router_->OnDisconnect();
    if (stop_) return;
    if (status.ok()) {  // asked to reconnect
      backoff = kBackoffMin;
      continue;
    }
    {
      std::lock_guard lock(mutex_);
      last_error_ = StrCat(Message(status));
      if (!absl::IsUnavailable(status) && !absl::IsAborted(status)) {
        failure_ = status;
        return;
      }
    }
    if (absl::Now() - started > absl::Seconds(30)) backoff = kBackoffMin;
    LogWarning("the stream was interrupted, connecting again", {{"reason", Message(status)}});
    const absl::Time until = absl::Now() + backoff;
    while (!stop_ && absl::Now() < until) absl::SleepFor(absl::Milliseconds(20));
    backoff = std::min(backoff * 2, kBackoffMax);
  }
}

absl::Status StreamThread::RunConnection() {
  reconnect_ = false;
  RETURN_IF_ERROR(hooks_.before_connect());
  ReplicationStreamOptions options = options_;
  options.start = confirmed();
  ASSIGN_OR_RETURN(const std::unique_ptr<ReplicationStream> stream,
                   ReplicationStream::Open(options));
  connected_ = true;
  const absl::Status status = Drain(*stream);
  if (status.ok()) {
    SendStatus(*stream).IgnoreError();  // because the position is sent again by the next connection
    stream->Stop(kStopLimit).IgnoreError();  // because the connection is given up either way
  }
  return status;
}

absl::Status StreamThread::Drain(ReplicationStream& stream) {
  const absl::Duration interval = std::min(kStatusInterval, stream.wal_sender_timeout() / 3);
  absl::Time next_status = absl::Now();
  int64_t seen = router_->changes_received();
  int since_clock = 0;
  absl::Time now = absl::Now();
  while (!stop_ && !reconnect_) {
    // The clock is not read for each of a hundred thousand messages a second.
    if (++since_clock >= 64) {
      now = absl::Now();
      since_clock = 0;
    }
    if (now >= next_status) {
      RETURN_IF_ERROR(SendStatus(stream));
      next_status = now + interval;
    }
    ASSIGN_OR_RETURN(const ReplicationEvent event, stream.Next(absl::InfinitePast()));
    if (const auto* data = std::get_if<XLogData>(&event)) {
      RETURN_IF_ERROR(router_->OnMessage(data->payload));
      continue;
    }
    if (const auto* keepalive = std::get_if<Keepalive>(&event)) {
      router_->OnKeepalive(keepalive->wal_end);
      if (keepalive->reply_requested) next_status = absl::InfinitePast();
      continue;
    }
    if (router_->changes_received() != seen) {
      seen = router_->changes_received();
      hooks_.on_changes();
    }
    ASSIGN_OR_RETURN(const ReplicationEvent waited,
                     stream.Next(std::min(next_status, absl::Now() + kWait)));
    now = absl::Now();
    if (const auto* data = std::get_if<XLogData>(&waited))
      RETURN_IF_ERROR(router_->OnMessage(data->payload));
    if (const auto* keepalive = std::get_if<Keepalive>(&waited)) {
      router_->OnKeepalive(keepalive->wal_end);
      if (keepalive->reply_requested) next_status = absl::InfinitePast();
    }
  }
  return absl::OkStatus();
}

absl::Status StreamThread::SendStatus(ReplicationStream& stream) {
  const Lsn flushed = confirmed();
  return stream.SendStatus(
      {.received = std::max(flushed, router_->received()), .flushed = flushed});
}

}  // namespace fjord
