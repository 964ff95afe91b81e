// Sorted runs of documents in a file that nobody else sees and that goes away with the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace fjord::doc {

// Confined to one thread.
class SpillFile {
 public:
  // In a folder that is there.
  static absl::StatusOr<std::unique_ptr<SpillFile>> Create(const std::string& folder);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  absl::Status Append(std::string_view bytes);
  // Appends to `out`. kDataLoss when the file ends before.
  absl::Status Read(uint64_t offset, size_t bytes, std::string* out) const;
  // Gives the space back.
  absl::Status Clear();

  uint64_t size() const { return size_; }

 private:
  SpillFile(int file, std::string folder) : file_(file), folder_(std::move(folder)) {}

  int file_;
  std::string folder_;  // for messages
  uint64_t size_ = 0;
};

// One document of a run. Views into the reader's memory.
struct SpillRecord {
  uint32_t binding = 0;
  bool front = false;
  std::string_view key;
  std::string_view document;  // doc/binary.h
};

void AppendSpillRecord(const SpillRecord& record, std::string* out);

// Reads [offset, end) of a file from the front.
class RunReader {
 public:
  RunReader(const SpillFile& file, uint64_t offset, uint64_t end, size_t buffer_bytes)
      : file_(&file), offset_(offset), end_(end), buffer_bytes_(buffer_bytes) {}

  // The next record, valid until the call after it; at_end() when there is none.
  absl::Status Next();
  bool at_end() const { return at_end_; }
  const SpillRecord& record() const { return record_; }

 private:
  // At least `bytes` from position_ on, or kDataLoss.
  absl::Status Fill(size_t bytes);

  const SpillFile* file_;
  uint64_t offset_;  // of what is not yet in the buffer
  uint64_t end_;
  size_t buffer_bytes_;
  std::string buffer_;
  size_t position_ = 0;
  bool at_end_ = false;
  SpillRecord record_;
};

}  // namespace fjord::doc
