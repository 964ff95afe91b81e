#include "journal/spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>

#include "base/coding.h"
#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr size_t kFrameBytes = 8;  // u32 length, u32 CRC32C of the payload
constexpr std::string_view kSuffix = ".spool";

absl::Status IoError(std::string_view what, const std::string& path) {
  const int error = errno;
  const std::string text = StrCat("spool: cannot ", what, " ", path, ": ", std::strerror(error));
  if (error == ENOSPC || error == EDQUOT) {
    return absl::ResourceExhaustedError(
        StrCat(text, ". Free space, or put stateDir on a larger disk."));
  }
  return absl::UnavailableError(text);
}

struct Segment {
  int fd = -1;
  uint64_t written = 0;
  uint64_t live = 0;  // bytes of frames not released
};

absl::Status WriteAll(int fd, std::string_view bytes, uint64_t offset, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return IoError("write", path);
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return absl::OkStatus();
}

}  // namespace

struct Spool::Impl {
  std::string folder;
  SpoolOptions options;
  mutable std::mutex mutex;
  std::map<uint32_t, Segment> segments;
  uint32_t newest = 0;

  std::string Path(uint32_t segment) const { return StrCat(folder, "/", segment, kSuffix); }

  void Drop(std::map<uint32_t, Segment>::iterator it) {
    ::close(it->second.fd);
    ::unlink(Path(it->first).c_str());
    segments.erase(it);
  }

  absl::Status OpenNext() {
    const uint32_t number = newest + 1;
    const int fd = ::open(Path(number).c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) return IoError("create", Path(number));
    const auto old = segments.find(newest);
    newest = number;
    segments[number].fd = fd;
    if (old != segments.end() && old->second.live == 0) Drop(old);
    return absl::OkStatus();
  }
};

Spool::Spool(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Spool::~Spool() {
  while (!impl_->segments.empty()) impl_->Drop(impl_->segments.begin());
}

absl::StatusOr<std::unique_ptr<Spool>> Spool::Create(std::string folder, SpoolOptions options) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return absl::UnavailableError(StrCat("spool: cannot make ", folder, ": ", error.message()));
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == kSuffix) std::filesystem::remove(entry.path(), error);
  }
  auto impl = std::make_unique<Impl>();
  impl->folder = std::move(folder);
  impl->options = options;
  return std::unique_ptr<Spool>(new Spool(std::move(impl)));
}

absl::StatusOr<SpoolRef> Spool::Append(std::string_view payload) {
  std::string frame;
  frame.reserve(kFrameBytes + payload.size());
  PutFixed32(frame, static_cast<uint32_t>(payload.size()));
  PutFixed32(frame, Crc32c(payload));
  frame.append(payload);
  std::lock_guard lock(impl_->mutex);
  auto it = impl_->segments.find(impl_->newest);
  if (it == impl_->segments.end() || it->second.written >= impl_->options.segment_bytes_max) {
    RETURN_IF_ERROR(impl_->OpenNext());
    it = impl_->segments.find(impl_->newest);
  }
  Segment& segment = it->second;
  RETURN_IF_ERROR(WriteAll(segment.fd, frame, segment.written, impl_->Path(it->first)));
  const SpoolRef ref{.segment = it->first,
                     .length = static_cast<uint32_t>(payload.size()),
                     .offset = segment.written};
  segment.written += frame.size();
  segment.live += frame.size();
  return ref;
}

absl::StatusOr<std::string> Spool::Read(const SpoolRef& ref) const {
  int fd = -1;
  std::string path;
  {
    // Holding a reference keeps the segment open, so the descriptor outlives the lock.
    std::lock_guard lock(impl_->mutex);
    const auto it = impl_->segments.find(ref.segment);
    path = impl_->Path(ref.segment);
    if (it == impl_->segments.end())
      return absl::DataLossError(StrCat("spool: segment is gone: ", path));
    fd = it->second.fd;
  }
  std::string frame(kFrameBytes + ref.length, '\0');
  size_t done = 0;
  while (done < frame.size()) {
    const ssize_t n = ::pread(fd, frame.data() + done, frame.size() - done,
                              static_cast<off_t>(ref.offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return IoError("read", path);
    if (n == 0) return absl::DataLossError(StrCat("spool: ", path, " ends too early"));
    done += static_cast<size_t>(n);
  }
  const std::string_view payload = std::string_view(frame).substr(kFrameBytes);
  if (GetFixed32(frame.data()) != ref.length || GetFixed32(frame.data() + 4) != Crc32c(payload)) {
    return absl::DataLossError(
        StrCat("spool: damaged frame in ", path, " at byte ", ref.offset,
               ". Check the disk; removing stateDir is safe, the source sends it again."));
  }
  frame.erase(0, kFrameBytes);
  return frame;
}

void Spool::Release(const SpoolRef& ref) {
  std::lock_guard lock(impl_->mutex);
  const auto it = impl_->segments.find(ref.segment);
  if (it == impl_->segments.end()) return;
  it->second.live -= kFrameBytes + ref.length;
  if (it->second.live == 0 && it->first != impl_->newest) impl_->Drop(it);
}

uint64_t Spool::bytes_on_disk() const {
  std::lock_guard lock(impl_->mutex);
  uint64_t total = 0;
  for (const auto& [number, segment] : impl_->segments) total += segment.written;
  return total;
}

}  // namespace fjord
