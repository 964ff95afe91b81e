#include "lake/redo.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/coding.h"
#include "base/errno_status.h"
#include "base/status.h"
#include "base/strings.h"
#include "lake/record_file.h"
#include "lake/row_index_file.h"

namespace fjord {
namespace {

constexpr std::string_view kMagic = "FJREDO01";
enum class RecordType : uint8_t { kHeader = 1, kFiles = 2, kChanges = 3, kEnd = 4 };
// Changes in one record: 1.5 MiB.
constexpr size_t kChangesPerRecordMax = 65'536;
constexpr size_t kChangeBytes = 24;

std::string EncodeHeader(const RedoHeader& header) {
  std::string out;
  out.push_back(static_cast<char>(RecordType::kHeader));
  PutLengthPrefixed(out, header.table_uuid);
  PutFixed64(out, static_cast<uint64_t>(header.parent.value));
  PutFixed64(out, static_cast<uint64_t>(header.child.snapshot.value));
  PutFixed32(out, header.child.timeline.value);
  PutFixed64(out, header.child.lsn.value);
  PutFixed64(out, header.child.generation);
  out.push_back(static_cast<char>(header.base));
  return out;
}

absl::StatusOr<RedoHeader> DecodeHeader(std::string_view bytes) {
  ByteReader in(bytes);
  RedoHeader header;
  ASSIGN_OR_RETURN(const std::string_view uuid, in.LengthPrefixed());
  header.table_uuid = uuid;
  ASSIGN_OR_RETURN(const uint64_t parent, in.Fixed64());
  header.parent = SnapshotId(static_cast<int64_t>(parent));
  ASSIGN_OR_RETURN(const uint64_t child, in.Fixed64());
  header.child.snapshot = SnapshotId(static_cast<int64_t>(child));
  ASSIGN_OR_RETURN(header.child.timeline.value, in.Fixed32());
  ASSIGN_OR_RETURN(header.child.lsn.value, in.Fixed64());
  ASSIGN_OR_RETURN(header.child.generation, in.Fixed64());
  ASSIGN_OR_RETURN(const uint8_t base, in.Byte());
  if (base > static_cast<uint8_t>(RedoHeader::Base::kClear) || !in.empty())
    return absl::DataLossError("header");
  header.base = static_cast<RedoHeader::Base>(base);
  return header;
}

absl::StatusOr<std::vector<IndexChange>> DecodeChanges(std::string_view bytes) {
  if (bytes.size() % kChangeBytes != 0) return absl::DataLossError("length of a record of changes");
  std::vector<IndexChange> changes(bytes.size() / kChangeBytes);
  const char* p = bytes.data();
  for (IndexChange& change : changes) {
    change = {{GetFixed64(p), GetFixed64(p + 8)}, UnpackLocation(GetFixed64(p + 16))};
    p += kChangeBytes;
  }
  return changes;
}

// Reads a redo record by record.
class RedoReader {
 public:
  struct Record {
    RecordType type;
    std::string_view body;  // until the next call
  };

  static absl::StatusOr<std::unique_ptr<RedoReader>> Open(const std::string& path) {
    std::FILE* in = std::fopen(path.c_str(), "rbe");
    if (in == nullptr) return ErrnoStatus(errno, "cannot open", path);
    std::unique_ptr<RedoReader> reader(new RedoReader(path, in));
    char magic[8];
    if (std::fread(magic, 1, sizeof(magic), in) != sizeof(magic) ||
        std::string_view(magic, 8) != kMagic) {
      return reader->Damaged("it does not begin with FJREDO01");
    }
    ASSIGN_OR_RETURN(const Record first, reader->Next());
    if (first.type != RecordType::kHeader) return reader->Damaged("no header");
    auto header = DecodeHeader(first.body);
    if (!header.ok()) return reader->Damaged("header");
    reader->header_ = *std::move(header);
    return reader;
  }
  ~RedoReader() { std::fclose(in_); }

  const RedoHeader& header() const { return header_; }

  absl::StatusOr<Record> Next() {
    record_.resize(kRecordHeadBytes);
    if (std::fread(record_.data(), 1, kRecordHeadBytes, in_) != kRecordHeadBytes)
      return Damaged("it has no end");
    const uint32_t length = GetFixed32(record_.data());
    if (length == 0 || length > kRecordBytesMax) return Damaged("length of a record");
    record_.resize(kRecordHeadBytes + length);
    if (std::fread(record_.data() + kRecordHeadBytes, 1, length, in_) != length)
      return Damaged("it has no end");
    const auto payload = ReadRecord(record_);
    if (!payload.ok()) return Damaged(Message(payload.status()));
    const uint8_t type = static_cast<uint8_t>(payload->front());
    if (type < 1 || type > 4) return Damaged("unknown type of record");
    return Record{static_cast<RecordType>(type), payload->substr(1)};
  }

  absl::Status Damaged(std::string_view what) const {
    return absl::DataLossError(
        StrCat(path_, " is damaged (", what, "); the row index is rebuilt from the lake"));
  }

 private:
  RedoReader(std::string path, std::FILE* in) : path_(std::move(path)), in_(in) {}

  std::string path_;
  std::FILE* in_;
  std::string record_;
  RedoHeader header_;
};

// The registry first: it can still be cut back to the parent when the index does not follow.
absl::Status ApplyFiles(const RedoReader& reader, std::string_view body, FileRegistry& registry) {
  const SnapshotId child = reader.header().child.snapshot;
  if (registry.snapshot() == child) return absl::OkStatus();
  if (registry.snapshot() != reader.header().parent) {
    return absl::FailedPreconditionError(StrCat("file registry is at snapshot ",
                                                registry.snapshot().value, ", the redo leads from ",
                                                reader.header().parent.value, " to ", child.value));
  }
  ASSIGN_OR_RETURN(const RegistryStep step, DecodeRegistryStep(body));
  return registry.Append(child, step);
}

absl::Status ApplyRecords(RedoReader& reader, RowIndex& index, FileRegistry& registry) {
  ASSIGN_OR_RETURN(const RedoReader::Record files, reader.Next());
  if (files.type != RecordType::kFiles) return reader.Damaged("no files");
  RETURN_IF_ERROR(ApplyFiles(reader, files.body, registry));
  RETURN_IF_ERROR(index.BeginStep(reader.header().child.snapshot));
  if (reader.header().base == RedoHeader::Base::kClear) RETURN_IF_ERROR(index.Clear());
  uint64_t applied = 0;
  while (true) {
    ASSIGN_OR_RETURN(const RedoReader::Record record, reader.Next());
    if (record.type == RecordType::kEnd) {
      if (record.body.size() != 8 || GetFixed64(record.body.data()) != applied)
        return reader.Damaged("number of changes");
      return index.FinishStep(reader.header().child);
    }
    if (record.type != RecordType::kChanges) return reader.Damaged("order of records");
    ASSIGN_OR_RETURN(const std::vector<IndexChange> changes, DecodeChanges(record.body));
    RETURN_IF_ERROR(index.Apply(changes));
    applied += changes.size();
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<RedoWriter>> RedoWriter::Create(const std::string& path,
                                                               const RedoHeader& header) {
  const std::string temporary = path + ".tmp";
  std::FILE* out = std::fopen(temporary.c_str(), "wbe");
  if (out == nullptr) return ErrnoStatus(errno, "cannot open", temporary);
  std::unique_ptr<RedoWriter> writer(new RedoWriter(path, out));
  if (std::fwrite(kMagic.data(), 1, kMagic.size(), out) != kMagic.size())
    return ErrnoStatus(errno, "cannot write", temporary);
  RETURN_IF_ERROR(writer->WriteRecord(EncodeHeader(header)));
  return writer;
}

RedoWriter::~RedoWriter() {
  if (out_ == nullptr) return;
  std::fclose(out_);
  unlink((path_ + ".tmp").c_str());
}

absl::Status RedoWriter::WriteRecord(std::string_view payload) {
  record_.clear();
  AppendRecord(record_, payload);
  if (std::fwrite(record_.data(), 1, record_.size(), out_) != record_.size())
    return ErrnoStatus(errno, "cannot write", path_);
  return absl::OkStatus();
}

absl::Status RedoWriter::AddFiles(const RegistryStep& step) {
  return WriteRecord(
      StrCat(std::string(1, static_cast<char>(RecordType::kFiles)), EncodeRegistryStep(step)));
}

absl::Status RedoWriter::AddChanges(std::span<const IndexChange> changes) {
  std::string payload;
  for (; !changes.empty();
       changes = changes.subspan(std::min(changes.size(), kChangesPerRecordMax))) {
    const auto part = changes.first(std::min(changes.size(), kChangesPerRecordMax));
    payload.assign(1, static_cast<char>(RecordType::kChanges));
    payload.reserve(1 + part.size() * kChangeBytes);
    for (const IndexChange& change : part) {
      PutFixed64(payload, change.key.low);
      PutFixed64(payload, change.key.high);
      PutFixed64(payload, PackLocation(change.location));
    }
    RETURN_IF_ERROR(WriteRecord(payload));
    changes_ += part.size();
  }
  return absl::OkStatus();
}

absl::Status RedoWriter::Finish() {
  std::string payload(1, static_cast<char>(RecordType::kEnd));
  PutFixed64(payload, changes_);
  RETURN_IF_ERROR(WriteRecord(payload));
  const std::string temporary = path_ + ".tmp";
  if (std::fflush(out_) != 0) return ErrnoStatus(errno, "cannot write", temporary);
  if (rename(temporary.c_str(), path_.c_str()) != 0)
    return ErrnoStatus(errno, "cannot rename", temporary);
  std::fclose(out_);
  out_ = nullptr;
  return absl::OkStatus();
}

absl::StatusOr<RedoHeader> ReadRedoHeader(const std::string& path) {
  ASSIGN_OR_RETURN(const auto reader, RedoReader::Open(path));
  return reader->header();
}

absl::StatusOr<RedoOutcome> ApplyRedo(const std::string& path, RowIndex& index,
                                      FileRegistry& registry) {
  ASSIGN_OR_RETURN(const auto reader, RedoReader::Open(path));
  const RedoHeader& header = reader->header();
  if (header.table_uuid != index.table_uuid()) {
    return absl::FailedPreconditionError(
        StrCat(path, " is of table ", header.table_uuid, ", not ", index.table_uuid()));
  }
  const SnapshotId at = index.state().snapshot;
  if (at == header.child.snapshot) return RedoOutcome::kWasApplied;
  if (at != header.parent) {
    return absl::FailedPreconditionError(StrCat(path, " leads from snapshot ", header.parent.value,
                                                " to ", header.child.snapshot.value,
                                                ", the row index is at ", at.value));
  }
  RETURN_IF_ERROR(ApplyRecords(*reader, index, registry));
  return RedoOutcome::kApplied;
}

absl::Status RemoveRedo(const std::string& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT)
    return ErrnoStatus(errno, "cannot remove", path);
  return absl::OkStatus();
}

}  // namespace fjord
