// Objects by location: a local folder or S3, later others. All bytes of the lake go through here.
//
// A location is an absolute URI, file:///abs/path (a bare /abs/path too) or s3://bucket/key.
// Objects are written once under a final, unique name; the version hint is the only thing
// that is ever replaced.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace fjord {

// An object that is being written. Confined to one thread. Without a successful Close
// nothing is left behind.
class WriteStream {
 public:
  virtual ~WriteStream() = default;
  virtual absl::Status Write(std::string_view bytes) = 0;
  // The object is there, whole and durable, when this returns OK.
  virtual absl::Status Close() = 0;
  virtual void Abort() = 0;
  virtual uint64_t bytes_written() const = 0;
};

// An object that is read. Thread-safe.
class ReadableObject {
 public:
  virtual ~ReadableObject() = default;
  virtual uint64_t size() const = 0;
  // Exactly `size` bytes; kDataLoss when the object is shorter.
  virtual absl::Status ReadAt(uint64_t offset, char* out, size_t size) const = 0;
};

struct ObjectInfo {
  std::string location;
  uint64_t size = 0;
  int64_t modified_ms = 0;  // Unix milliseconds
};

// Thread-safe. kNotFound, kAlreadyExists, kFailedPrecondition (a right or setting is missing; the
// message says which), kUnavailable (try again).
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  // Creates; kAlreadyExists rather than overwriting. Durable when it returns.
  virtual absl::Status Put(std::string_view location, std::string_view bytes) = 0;
  // Replaces at once: a reader sees the old or the new bytes.
  virtual absl::Status Replace(std::string_view location, std::string_view bytes) = 0;
  virtual absl::StatusOr<std::unique_ptr<WriteStream>> Create(std::string_view location) = 0;
  virtual absl::StatusOr<std::string> Get(std::string_view location) = 0;
  virtual absl::StatusOr<std::unique_ptr<ReadableObject>> Open(std::string_view location) = 0;
  // Every object whose location begins with `prefix`.
  virtual absl::StatusOr<std::vector<ObjectInfo>> List(std::string_view prefix) = 0;
  // No error when it is not there.
  virtual absl::Status Delete(std::string_view location) = 0;
};

}  // namespace fjord
