#include "doc/spill.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/coding.h"
#include "base/errno_status.h"
#include "base/status.h"

namespace fjord::doc {
namespace {

// binding, front, size of the key, size of the document
constexpr size_t kHeaderBytes = 4 + 1 + 4 + 4;

}  // namespace

absl::StatusOr<std::unique_ptr<SpillFile>> SpillFile::Create(const std::string& folder) {
  std::string path = folder + "/fjord-spill-XXXXXX";
  const int file = mkostemp(path.data(), O_CLOEXEC);
  if (file < 0) return ErrnoStatus(errno, "cannot make a spill file", path);
  // Without a name it cannot outlive the process.
  if (unlink(path.c_str()) != 0) {
    const int error = errno;
    close(file);
    return ErrnoStatus(error, "cannot unlink the spill file", path);
  }
  return std::unique_ptr<SpillFile>(new SpillFile(file, folder));
}

SpillFile::~SpillFile() { close(file_); }

absl::Status SpillFile::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoStatus(errno, "cannot write a spill file in", folder_);
    size_ += static_cast<uint64_t>(written);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status SpillFile::Read(uint64_t offset, size_t bytes, std::string* out) const {
  const size_t before = out->size();
  out->resize(before + bytes);
  for (size_t done = 0; done < bytes;) {
    const ssize_t read =
        pread(file_, out->data() + before + done, bytes - done, static_cast<off_t>(offset + done));
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return ErrnoStatus(errno, "cannot read a spill file in", folder_);
    if (read == 0) return absl::DataLossError("a spill file is shorter than what was written");
    done += static_cast<size_t>(read);
  }
  return absl::OkStatus();
}

absl::Status SpillFile::Clear() {
  if (ftruncate(file_, 0) != 0) return ErrnoStatus(errno, "cannot empty a spill file in", folder_);
  size_ = 0;
  return absl::OkStatus();
}

void AppendSpillRecord(const SpillRecord& record, std::string* out) {
  PutFixed32(*out, record.binding);
  out->push_back(record.front ? '\1' : '\0');
  PutFixed32(*out, static_cast<uint32_t>(record.key.size()));
  PutFixed32(*out, static_cast<uint32_t>(record.document.size()));
  out->append(record.key);
  out->append(record.document);
}

absl::Status RunReader::Fill(size_t bytes) {
  if (buffer_.size() - position_ >= bytes) return absl::OkStatus();
  buffer_.erase(0, position_);
  position_ = 0;
  const size_t wanted = std::max(bytes, buffer_bytes_) - buffer_.size();
  const auto left = static_cast<size_t>(end_ - offset_);
  if (buffer_.size() + left < bytes) return absl::DataLossError("a spilled run ends too early");
  const size_t taken = std::min(wanted, left);
  RETURN_IF_ERROR(file_->Read(offset_, taken, &buffer_));
  offset_ += taken;
  return absl::OkStatus();
}

absl::Status RunReader::Next() {
  at_end_ = position_ == buffer_.size() && offset_ == end_;
  if (at_end_) return absl::OkStatus();
  RETURN_IF_ERROR(Fill(kHeaderBytes));
  const char* const header = buffer_.data() + position_;
  const size_t key_size = GetFixed32(header + 5);
  const size_t document_size = GetFixed32(header + 9);
  RETURN_IF_ERROR(Fill(kHeaderBytes + key_size + document_size));
  const char* const begin = buffer_.data() + position_;
  record_.binding = GetFixed32(begin);
  record_.front = begin[4] != '\0';
  record_.key = {begin + kHeaderBytes, key_size};
  record_.document = {begin + kHeaderBytes + key_size, document_size};
  position_ += kHeaderBytes + key_size + document_size;
  return absl::OkStatus();
}

}  // namespace fjord::doc
