#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "base/errno_status.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr uint64_t kMappedMin = uint64_t{1} << 20;

// Twice the size, so that a growing file is mapped again only now and then.
uint64_t MappedBytesFor(uint64_t size) { return std::max(kMappedMin, 2 * std::bit_ceil(size)); }

}  // namespace

absl::StatusOr<std::unique_ptr<MappedFile>> MappedFile::OpenWith(const std::string& path,
                                                                 int flags) {
  const int fd = open(path.c_str(), flags | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) return ErrnoStatus(errno, "cannot open", path);
  std::unique_ptr<MappedFile> file(new MappedFile(path, fd));
  RETURN_IF_ERROR(file->Lock());
  return file;
}

absl::StatusOr<std::unique_ptr<MappedFile>> MappedFile::Create(const std::string& path) {
  // Cut off only after the lock is held: the file may be somebody's.
  ASSIGN_OR_RETURN(std::unique_ptr<MappedFile> file, OpenWith(path, O_CREAT));
  if (ftruncate(file->fd_, 0) != 0) return ErrnoStatus(errno, "cannot empty", path);
  RETURN_IF_ERROR(file->Map(0));
  return file;
}

absl::StatusOr<std::unique_ptr<MappedFile>> MappedFile::Open(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<MappedFile> file, OpenWith(path, 0));
  struct stat info{};
  if (fstat(file->fd_, &info) != 0) return ErrnoStatus(errno, "cannot look at", path);
  RETURN_IF_ERROR(file->Map(static_cast<uint64_t>(info.st_size)));
  return file;
}

absl::StatusOr<std::unique_ptr<MappedFile>> MappedFile::CreateNameless(const std::string& folder) {
  std::string path = StrCat(folder, "/scratch-XXXXXX");
  const int fd = mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(errno, "cannot make a file in", folder);
  std::unique_ptr<MappedFile> file(new MappedFile(path, fd));
  if (unlink(path.c_str()) != 0) return ErrnoStatus(errno, "cannot unlink", path);
  RETURN_IF_ERROR(file->Map(0));
  return file;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(data_, mapped_);
  close(fd_);
}

absl::Status MappedFile::Lock() {
  if (flock(fd_, LOCK_EX | LOCK_NB) == 0) return absl::OkStatus();
  if (errno == EWOULDBLOCK) {
    return absl::UnavailableError(
        StrCat(path_, " is open in another process; stop that one first"));
  }
  return ErrnoStatus(errno, "cannot lock", path_);
}

absl::Status MappedFile::Map(uint64_t size) {
  const uint64_t bytes = MappedBytesFor(size);
  void* address = data_ == nullptr
                      ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0)
                      : mremap(data_, mapped_, bytes, MREMAP_MAYMOVE);
  if (address == MAP_FAILED) return ErrnoStatus(errno, "cannot map", path_);
  data_ = static_cast<char*>(address);
  mapped_ = bytes;
  size_ = size;
  return absl::OkStatus();
}

absl::Status MappedFile::Grow(uint64_t size) {
  const int error =
      posix_fallocate(fd_, static_cast<off_t>(size_), static_cast<off_t>(size - size_));
  absl::Status status = error == 0 ? absl::OkStatus() : ErrnoStatus(error, "cannot grow", path_);
  if (status.ok() && size > mapped_) status = Map(size);
  if (status.ok()) {
    size_ = size;
  } else if (ftruncate(fd_, static_cast<off_t>(size_)) != 0) {
    // The part that was allocated stays behind the end that the caller knows; it does no harm.
  }
  return status;
}

absl::Status MappedFile::Shrink(uint64_t size) {
  if (ftruncate(fd_, static_cast<off_t>(size)) != 0)
    return ErrnoStatus(errno, "cannot cut off", path_);
  size_ = size;
  return absl::OkStatus();
}

absl::Status MappedFile::Sync() {
  // fdatasync writes back pages that were dirtied through the mapping too (Linux).
  if (fdatasync(fd_) != 0) return ErrnoStatus(errno, "cannot sync", path_);
  return absl::OkStatus();
}

absl::Status MappedFile::SyncRange(uint64_t offset, uint64_t size) {
  if (msync(data_ + offset, size, MS_SYNC) != 0) return ErrnoStatus(errno, "cannot sync", path_);
  return absl::OkStatus();
}

// Advice all three: what the system does not do now, the first access does.
void MappedFile::ExpectRandomAccess() { madvise(data_, mapped_, MADV_RANDOM); }

void MappedFile::WillNeed(const void* address, uint64_t size) {
  const uint64_t from = PageOffset(address);
  const uint64_t end = static_cast<uint64_t>(static_cast<const char*>(address) - data_) + size;
  madvise(data_ + from, std::min(end, size_) - from, MADV_WILLNEED);
}

bool MappedFile::InMemory(const void* address) const {
  unsigned char resident = 0;
  return mincore(data_ + PageOffset(address), kPageBytes, &resident) != 0 || (resident & 1) != 0;
}

}  // namespace fjord
