#include "io/local_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

absl::Status Failed(std::string_view doing, const std::string& path) {
  const int error = errno;
  const std::string text = StrCat("cannot ", doing, " ", path, ": ", std::strerror(error));
  switch (error) {
    case ENOENT: return absl::NotFoundError(text);
    case EEXIST: return absl::AlreadyExistsError(text);
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return absl::ResourceExhaustedError(text);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::FailedPreconditionError(
          StrCat(text, ": let the user that runs fjord read and write there"));
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG: return absl::FailedPreconditionError(text);
    default: return absl::UnavailableError(text);
  }
}

absl::StatusOr<std::string> PathOf(std::string_view location) {
  if (location.starts_with("file://")) location.remove_prefix(7);
  if (location.starts_with("file:")) location.remove_prefix(5);
  if (!location.starts_with("/")) {
    return absl::InvalidArgumentError(StrCat("not a location on the local disk: ", location));
  }
  return std::string(location);
}

// Owns a descriptor.
class File {
 public:
  File(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }

  absl::Status Write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Failed("write", path_);
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return absl::OkStatus();
  }
  absl::Status Sync() { return ::fdatasync(fd_) == 0 ? absl::OkStatus() : Failed("sync", path_); }
  int fd() const { return fd_; }
  const std::string& path() const { return path_; }

 private:
  int fd_;
  std::string path_;
};

absl::Status SyncFolder(const std::filesystem::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Failed("open", folder.string());
  const File file(fd, folder.string());
  return ::fsync(fd) == 0 ? absl::OkStatus() : Failed("sync", folder.string());
}

// A new folder's name is synced too, up to the first one that was there.
absl::Status MakeFolders(const std::filesystem::path& folder) {
  std::error_code error;  // whatever it says, mkdir says it better
  if (folder.empty() || std::filesystem::is_directory(folder, error)) return absl::OkStatus();
  RETURN_IF_ERROR(MakeFolders(folder.parent_path()));
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return Failed("make", folder.string());
  return SyncFolder(folder.parent_path());
}

absl::StatusOr<File> CreateFile(const std::string& path) {
  RETURN_IF_ERROR(MakeFolders(std::filesystem::path(path).parent_path()));
  const int fd = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
  if (fd < 0) return Failed("create", path);
  return File(fd, path);
}

class LocalWriteStream : public WriteStream {
 public:
  explicit LocalWriteStream(File file) : file_(std::move(file)) {}
  ~LocalWriteStream() override { Abort(); }

  absl::Status Write(std::string_view bytes) override {
    RETURN_IF_ERROR(file_.Write(bytes));
    written_ += bytes.size();
    return absl::OkStatus();
  }
  absl::Status Close() override {
    RETURN_IF_ERROR(file_.Sync());
    RETURN_IF_ERROR(SyncFolder(std::filesystem::path(file_.path()).parent_path()));
    done_ = true;
    return absl::OkStatus();
  }
  void Abort() override {
    if (!std::exchange(done_, true)) ::unlink(file_.path().c_str());
  }
  uint64_t bytes_written() const override { return written_; }

 private:
  File file_;
  uint64_t written_ = 0;
  bool done_ = false;
};

class LocalObject : public ReadableObject {
 public:
  LocalObject(File file, uint64_t size) : file_(std::move(file)), size_(size) {}
  uint64_t size() const override { return size_; }
  absl::Status ReadAt(uint64_t offset, char* out, size_t size) const override {
    while (size > 0) {
      const ssize_t n = ::pread(file_.fd(), out, size, static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Failed("read", file_.path());
      if (n == 0) return absl::DataLossError(StrCat(file_.path(), " is shorter than it was"));
      out += n;
      offset += static_cast<uint64_t>(n);
      size -= static_cast<size_t>(n);
    }
    return absl::OkStatus();
  }

 private:
  File file_;
  uint64_t size_;
};

class LocalStore : public ObjectStore {
 public:
  absl::Status Put(std::string_view location, std::string_view bytes) override {
    ASSIGN_OR_RETURN(const std::unique_ptr<WriteStream> stream, Create(location));
    RETURN_IF_ERROR(stream->Write(bytes));
    return stream->Close();
  }

  absl::Status Replace(std::string_view location, std::string_view bytes) override {
    ASSIGN_OR_RETURN(const std::string path, PathOf(location));
    const std::string temporary = StrCat(path, ".", Hex(RandomBytes(6)), ".tmp");
    ASSIGN_OR_RETURN(File file, CreateFile(temporary));
    absl::Status status = file.Write(bytes);
    if (status.ok()) status = file.Sync();
    if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
      status = Failed("rename", temporary);
    if (!status.ok()) ::unlink(temporary.c_str());
    return status;
  }

  absl::StatusOr<std::unique_ptr<WriteStream>> Create(std::string_view location) override {
    ASSIGN_OR_RETURN(const std::string path, PathOf(location));
    ASSIGN_OR_RETURN(File file, CreateFile(path));
    return std::make_unique<LocalWriteStream>(std::move(file));
  }

  absl::StatusOr<std::string> Get(std::string_view location) override {
    ASSIGN_OR_RETURN(const std::unique_ptr<ReadableObject> object, Open(location));
    std::string bytes(object->size(), '\0');
    RETURN_IF_ERROR(object->ReadAt(0, bytes.data(), bytes.size()));
    return bytes;
  }

  absl::StatusOr<std::unique_ptr<ReadableObject>> Open(std::string_view location) override {
    ASSIGN_OR_RETURN(const std::string path, PathOf(location));
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return Failed("open", path);
    File file(fd, path);
    struct stat info{};
    if (::fstat(fd, &info) != 0) return Failed("read", path);
    return std::make_unique<LocalObject>(std::move(file), static_cast<uint64_t>(info.st_size));
  }

  absl::StatusOr<std::vector<ObjectInfo>> List(std::string_view prefix) override {
    ASSIGN_OR_RETURN(const std::string path, PathOf(prefix));
    std::vector<ObjectInfo> found;
    std::error_code error;
    std::filesystem::recursive_directory_iterator entries(std::filesystem::path(path).parent_path(),
                                                          error);
    if (error == std::errc::no_such_file_or_directory) return found;
    for (; !error && entries != std::filesystem::recursive_directory_iterator();
         entries.increment(error)) {
      const std::string& name = entries->path().native();
      if (!name.starts_with(path)) {
        // A folder goes on to the prefix, or nothing in it can have the prefix.
        if (!path.starts_with(StrCat(name, "/"))) entries.disable_recursion_pending();
        continue;
      }
      struct stat info{};
      if (::stat(name.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
      found.push_back({StrCat("file://", name), static_cast<uint64_t>(info.st_size),
                       int64_t{info.st_mtim.tv_sec} * 1000 + info.st_mtim.tv_nsec / 1'000'000});
    }
    // Half a list would be taken for a whole one.
    if (error) return absl::UnavailableError(StrCat("cannot list ", path, ": ", error.message()));
    return found;
  }

  absl::Status Delete(std::string_view location) override {
    ASSIGN_OR_RETURN(const std::string path, PathOf(location));
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return Failed("delete", path);
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<ObjectStore> OpenLocalStore() { return std::make_unique<LocalStore>(); }

}  // namespace fjord
