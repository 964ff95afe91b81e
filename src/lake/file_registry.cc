#include "lake/file_registry.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/coding.h"
#include "base/errno_status.h"
#include "base/status.h"
#include "base/strings.h"
#include "lake/record_file.h"

namespace fjord {
namespace {

constexpr std::string_view kMagic = "FJFILES1";
// A log is rewritten when it is twice as large as its content, but not for less than this.
constexpr uint64_t kRewriteBytesMin = 256 * 1024;
// Data files of a table, as a bound for counts in foreign bytes.
constexpr uint64_t kFilesMax = 100'000'000;

void EncodeFile(const DataFileEntry& file, std::string& out) {
  PutFixed32(out, file.number.value);
  PutLengthPrefixed(out, file.path);
  PutFixed64(out, file.record_count);
  PutFixed64(out, static_cast<uint64_t>(file.sequence_number.value));
  PutFixed32(out, static_cast<uint32_t>(file.spec_id.value));
  PutLengthPrefixed(out, file.partition);
  out.push_back(file.live ? 1 : 0);
  PutLengthPrefixed(out, file.deleted.Serialize());
}

absl::StatusOr<PositionSet> DecodePositions(ByteReader& in) {
  ASSIGN_OR_RETURN(const std::string_view bytes, in.LengthPrefixed());
  return PositionSet::Deserialize(bytes);
}

absl::StatusOr<DataFileEntry> DecodeFile(ByteReader& in) {
  DataFileEntry file;
  ASSIGN_OR_RETURN(file.number.value, in.Fixed32());
  ASSIGN_OR_RETURN(const std::string_view path, in.LengthPrefixed());
  file.path = path;
  ASSIGN_OR_RETURN(file.record_count, in.Fixed64());
  ASSIGN_OR_RETURN(const uint64_t sequence_number, in.Fixed64());
  file.sequence_number = SequenceNumber(static_cast<int64_t>(sequence_number));
  ASSIGN_OR_RETURN(const uint32_t spec_id, in.Fixed32());
  file.spec_id = SpecId(static_cast<int32_t>(spec_id));
  ASSIGN_OR_RETURN(const std::string_view partition, in.LengthPrefixed());
  file.partition = partition;
  ASSIGN_OR_RETURN(const uint8_t live, in.Byte());
  file.live = live != 0;
  ASSIGN_OR_RETURN(file.deleted, DecodePositions(in));
  return file;
}

absl::StatusOr<uint64_t> DecodeCount(ByteReader& in) {
  ASSIGN_OR_RETURN(const uint64_t count, in.Varint64());
  if (count > kFilesMax) return absl::DataLossError(StrCat("a step with ", count, " files"));
  return count;
}

void EncodeNumbers(const std::vector<FileNumber>& numbers, std::string& out) {
  PutVarint64(out, numbers.size());
  for (const FileNumber number : numbers) PutFixed32(out, number.value);
}

absl::StatusOr<std::vector<FileNumber>> DecodeNumbers(ByteReader& in) {
  std::vector<FileNumber> numbers;
  ASSIGN_OR_RETURN(const uint64_t count, DecodeCount(in));
  for (uint64_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const uint32_t number, in.Fixed32());
    numbers.push_back(FileNumber(number));
  }
  return numbers;
}

absl::Status WriteAt(int fd, std::string_view bytes, uint64_t offset, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "cannot write", path);
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadAll(int fd, const std::string& path) {
  std::string bytes;
  char buffer[64 * 1024];
  while (true) {
    const ssize_t n = pread(fd, buffer, sizeof(buffer), static_cast<off_t>(bytes.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "cannot read", path);
    if (n == 0) return bytes;
    bytes.append(buffer, static_cast<size_t>(n));
  }
}

absl::Status Damaged(const std::string& path, std::string_view what) {
  return absl::DataLossError(StrCat(path, " is damaged (", what, "); it is rebuilt from the lake"));
}

}  // namespace

std::string EncodeRegistryStep(const RegistryStep& step) {
  std::string out;
  out.push_back(static_cast<char>(step.base));
  PutVarint64(out, step.added.size());
  for (const DataFileEntry& file : step.added) EncodeFile(file, out);
  PutVarint64(out, step.deleted.size());
  for (const PositionsDeleted& deleted : step.deleted) {
    PutFixed32(out, deleted.file.value);
    PutLengthPrefixed(out, deleted.positions.Serialize());
  }
  EncodeNumbers(step.removed, out);
  EncodeNumbers(step.forgotten, out);
  return out;
}

absl::StatusOr<RegistryStep> DecodeRegistryStep(std::string_view bytes) {
  ByteReader in(bytes);
  RegistryStep step;
  ASSIGN_OR_RETURN(const uint8_t base, in.Byte());
  if (base > static_cast<uint8_t>(RegistryStep::Base::kClear))
    return absl::DataLossError("unknown base of a step");
  step.base = static_cast<RegistryStep::Base>(base);
  ASSIGN_OR_RETURN(const uint64_t added, DecodeCount(in));
  for (uint64_t i = 0; i < added; ++i) {
    ASSIGN_OR_RETURN(DataFileEntry file, DecodeFile(in));
    step.added.push_back(std::move(file));
  }
  ASSIGN_OR_RETURN(const uint64_t deleted, DecodeCount(in));
  for (uint64_t i = 0; i < deleted; ++i) {
    PositionsDeleted positions;
    ASSIGN_OR_RETURN(positions.file.value, in.Fixed32());
    ASSIGN_OR_RETURN(positions.positions, DecodePositions(in));
    step.deleted.push_back(std::move(positions));
  }
  ASSIGN_OR_RETURN(step.removed, DecodeNumbers(in));
  ASSIGN_OR_RETURN(step.forgotten, DecodeNumbers(in));
  if (!in.empty()) return absl::DataLossError("bytes after the end of a step");
  return step;
}

absl::StatusOr<std::unique_ptr<FileRegistry>> FileRegistry::OpenLog(const std::string& path,
                                                                    int flags) {
  const int fd = open(path.c_str(), flags | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) return ErrnoStatus(errno, "cannot open", path);
  return std::unique_ptr<FileRegistry>(new FileRegistry(path, fd));
}

absl::StatusOr<std::unique_ptr<FileRegistry>> FileRegistry::Create(const std::string& path,
                                                                   SnapshotId snapshot) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT)
    return ErrnoStatus(errno, "cannot remove", path);
  ASSIGN_OR_RETURN(std::unique_ptr<FileRegistry> registry, OpenLog(path, O_CREAT));
  registry->snapshot_ = snapshot;
  RETURN_IF_ERROR(registry->Rewrite());
  return registry;
}

absl::StatusOr<std::unique_ptr<FileRegistry>> FileRegistry::Open(const std::string& path,
                                                                 SnapshotId snapshot) {
  ASSIGN_OR_RETURN(std::unique_ptr<FileRegistry> registry, OpenLog(path, 0));
  ASSIGN_OR_RETURN(const std::string bytes, ReadAll(registry->fd_, path));
  RETURN_IF_ERROR(registry->Load(bytes, snapshot));
  return registry;
}

FileRegistry::~FileRegistry() { close(fd_); }

absl::Status FileRegistry::Load(std::string_view rest, SnapshotId snapshot) {
  if (!rest.starts_with(kMagic)) return Damaged(path_, "it does not begin with FJFILES1");
  rest.remove_prefix(kMagic.size());
  // The log counts up to the last record of the index's snapshot.
  size_t end = 0;
  for (std::string_view scan = rest; !scan.empty();) {
    const auto payload = ReadRecord(scan);
    if (!payload.ok())
      break;  // a tail that a kill cut, or damage: either way what counts must have been before it
    scan.remove_prefix(kRecordHeadBytes + payload->size());
    if (payload->size() >= 8 &&
        static_cast<int64_t>(GetFixed64(payload->data())) == snapshot.value) {
      end = rest.size() - scan.size();
    }
  }
  if (end == 0) return Damaged(path_, StrCat("it does not reach snapshot ", snapshot.value));
  for (rest = rest.substr(0, end); !rest.empty();) {
    ASSIGN_OR_RETURN(const std::string_view payload, ReadRecord(rest));
    RETURN_IF_ERROR(Annotate(LoadRecord(payload), path_));
    rest.remove_prefix(kRecordHeadBytes + payload.size());
    if (whole_bytes_ == 0) whole_bytes_ = kMagic.size() + end - rest.size();
  }
  log_bytes_ = kMagic.size() + end;
  return absl::OkStatus();
}

absl::Status FileRegistry::LoadRecord(std::string_view payload) {
  ByteReader in(payload);
  ASSIGN_OR_RETURN(const uint64_t snapshot, in.Fixed64());
  ASSIGN_OR_RETURN(const uint32_t next_number, in.Fixed32());
  ASSIGN_OR_RETURN(const std::string_view bytes, in.Bytes(in.remaining()));
  ASSIGN_OR_RETURN(const RegistryStep step, DecodeRegistryStep(bytes));
  if (const absl::Status fits = CheckStep(step); !fits.ok())
    return absl::DataLossError(StrCat(Message(fits)));
  ApplyInMemory(SnapshotId(static_cast<int64_t>(snapshot)), step);
  next_number_ = std::max(next_number_, next_number);
  return absl::OkStatus();
}

std::string FileRegistry::EncodeRecord(SnapshotId snapshot, const RegistryStep& step) const {
  std::string payload;
  PutFixed64(payload, static_cast<uint64_t>(snapshot.value));
  PutFixed32(payload, next_number_);
  payload += EncodeRegistryStep(step);
  std::string record;
  AppendRecord(record, payload);
  return record;
}

FileNumber FileRegistry::Allocate() { return FileNumber(next_number_++); }

absl::Status FileRegistry::CheckStep(const RegistryStep& step) const {
  const auto known = [&](FileNumber number) {
    if (step.base == RegistryStep::Base::kKeep && files_.contains(number)) return true;
    return std::any_of(step.added.begin(), step.added.end(),
                       [&](const auto& file) { return file.number == number; });
  };
  for (const PositionsDeleted& deleted : step.deleted) {
    if (!known(deleted.file))
      return absl::InvalidArgumentError(StrCat("no data file has number ", deleted.file.value));
  }
  for (const FileNumber number : step.removed) {
    if (!known(number))
      return absl::InvalidArgumentError(StrCat("no data file has number ", number.value));
  }
  return absl::OkStatus();
}

void FileRegistry::ApplyInMemory(SnapshotId child, const RegistryStep& step) {
  if (step.base == RegistryStep::Base::kClear) {
    files_.clear();
    live_paths_.clear();
  }
  for (const DataFileEntry& file : step.added) {
    files_.insert_or_assign(file.number, file);
    if (file.live) live_paths_.insert_or_assign(file.path, file.number);
    next_number_ = std::max(next_number_, file.number.value + 1);
  }
  for (const PositionsDeleted& deleted : step.deleted)
    files_.at(deleted.file).deleted.Union(deleted.positions);
  for (const FileNumber number : step.removed) {
    DataFileEntry& file = files_.at(number);
    file.live = false;
    live_paths_.erase(file.path);
  }
  for (const FileNumber number : step.forgotten) {
    if (const auto it = files_.find(number); it != files_.end()) {
      if (it->second.live) live_paths_.erase(it->second.path);
      files_.erase(it);
    }
  }
  snapshot_ = child;
}

absl::Status FileRegistry::Append(SnapshotId child, const RegistryStep& step) {
  RETURN_IF_ERROR(CheckStep(step));
  // Before the step and not after it: until the index has taken a step, the log must be
  // able to end at the one before. Rewriting is only for size; when it cannot be done now,
  // the long log is as good.
  if (log_bytes_ > std::max(2 * whole_bytes_, kRewriteBytesMin)) Rewrite().IgnoreError();
  for (const DataFileEntry& file : step.added)
    next_number_ = std::max(next_number_, file.number.value + 1);
  const std::string record = EncodeRecord(child, step);
  // Over whatever an earlier failure left behind the last good record.
  RETURN_IF_ERROR(WriteAt(fd_, record, log_bytes_, path_));
  log_bytes_ += record.size();
  if (ftruncate(fd_, static_cast<off_t>(log_bytes_)) != 0)
    return ErrnoStatus(errno, "cannot cut off", path_);
  ApplyInMemory(child, step);
  return absl::OkStatus();
}

RegistryStep FileRegistry::Whole() const {
  RegistryStep step{.base = RegistryStep::Base::kClear};
  for (const auto& [number, file] : files_) step.added.push_back(file);
  return step;
}

absl::Status FileRegistry::Rewrite() {
  const std::string next = path_ + ".tmp";
  const int fd = open(next.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) return ErrnoStatus(errno, "cannot open", next);
  const std::string bytes = StrCat(kMagic, EncodeRecord(snapshot_, Whole()));
  absl::Status status = WriteAt(fd, bytes, 0, next);
  if (status.ok() && rename(next.c_str(), path_.c_str()) != 0)
    status = ErrnoStatus(errno, "cannot rename", next);
  if (!status.ok()) {
    close(fd);
    unlink(next.c_str());
    return status;
  }
  close(fd_);
  fd_ = fd;
  log_bytes_ = whole_bytes_ = bytes.size();
  return absl::OkStatus();
}

absl::Status FileRegistry::Sync() {
  if (fdatasync(fd_) != 0) return ErrnoStatus(errno, "cannot sync", path_);
  return absl::OkStatus();
}

const DataFileEntry* FileRegistry::Find(FileNumber number) const {
  const auto it = files_.find(number);
  return it == files_.end() ? nullptr : &it->second;
}

const DataFileEntry* FileRegistry::FindPath(std::string_view path) const {
  const auto it = live_paths_.find(path);
  return it == live_paths_.end() ? nullptr : Find(it->second);
}

uint64_t FileRegistry::live_records() const {
  uint64_t records = 0;
  for (const auto& [number, file] : files_) records += file.live_records();
  return records;
}

}  // namespace fjord
