// A growing file that is mapped into memory, shared, so that what was stored outlives the process.
//
// Space is allocated, never sparse: a full disk is an error of Grow, not a signal at the
// first store. An I/O error of a page that is read later is still SIGBUS; no mapping can
// turn that into a status.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace fjord {

// Holds an exclusive lock of the file while it is open. Not thread-safe.
class MappedFile {
 public:
  static constexpr uint64_t kPageBytes = 4096;

  // An empty file in place of whatever is at `path`. kUnavailable: open in another process.
  static absl::StatusOr<std::unique_ptr<MappedFile>> Create(const std::string& path);
  // kNotFound: no file. kUnavailable: open in another process.
  static absl::StatusOr<std::unique_ptr<MappedFile>> Open(const std::string& path);
  // Without a name: gone with the object or the process.
  static absl::StatusOr<std::unique_ptr<MappedFile>> CreateNameless(const std::string& folder);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Changes with Grow.
  char* data() const { return data_; }
  uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }

  // Appends zero bytes up to `size`. kResourceExhausted (disk full, quota, file size limit): the
  // file is as it was.
  absl::Status Grow(uint64_t size);
  // Cuts off the end and gives its space back.
  absl::Status Shrink(uint64_t size);
  // Data and size are on the disk when it returns.
  absl::Status Sync();
  // The same for some bytes only; `offset` is a multiple of the page size.
  absl::Status SyncRange(uint64_t offset, uint64_t size);
  // From now on the first access to a page reads that page alone; otherwise a megabyte around it
  // may be read.
  void ExpectRandomAccess();
  // Begins to read these bytes if they are not in memory, and does not wait.
  void WillNeed(const void* address, uint64_t size);
  // Whether the page of this byte is in memory.
  bool InMemory(const void* address) const;

 private:
  MappedFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  static absl::StatusOr<std::unique_ptr<MappedFile>> OpenWith(const std::string& path, int flags);
  absl::Status Lock();
  absl::Status Map(uint64_t size);
  uint64_t PageOffset(const void* address) const {
    return static_cast<uint64_t>(static_cast<const char*>(address) - data_) / kPageBytes *
           kPageBytes;
  }

  std::string path_;
  int fd_;
  char* data_ = nullptr;
  uint64_t size_ = 0;
  uint64_t mapped_ = 0;  // >= size_: room to grow without a new mapping
};

}  // namespace fjord
