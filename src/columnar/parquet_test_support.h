// Objects in memory, for this layer's tests and benchmarks.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "io/object_store.h"

namespace fjord {

// What became of a stream; outlives it.
struct MemoryObject {
  std::string bytes;
  bool closed = false;
  bool aborted = false;
  // Writes beyond this many bytes fail.
  size_t bytes_max = SIZE_MAX;
};

class MemoryWriteStream : public WriteStream {
 public:
  explicit MemoryWriteStream(MemoryObject& object) : object_(object) {}
  absl::Status Write(std::string_view bytes) override {
    if (object_.bytes.size() + bytes.size() > object_.bytes_max)
      return absl::UnavailableError("the store is full");
    object_.bytes.append(bytes);
    return absl::OkStatus();
  }
  absl::Status Close() override {
    object_.closed = true;
    return absl::OkStatus();
  }
  void Abort() override { object_.aborted = true; }
  uint64_t bytes_written() const override { return object_.bytes.size(); }

 private:
  MemoryObject& object_;
};

class MemoryReadable : public ReadableObject {
 public:
  explicit MemoryReadable(std::string bytes) : bytes_(std::move(bytes)) {}
  uint64_t size() const override { return bytes_.size(); }
  absl::Status ReadAt(uint64_t offset, char* out, size_t size) const override {
    if (offset + size > bytes_.size()) return absl::DataLossError("the object is shorter");
    std::memcpy(out, bytes_.data() + offset, size);
    return absl::OkStatus();
  }

 private:
  const std::string bytes_;
};

}  // namespace fjord
