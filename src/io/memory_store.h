// Objects in memory, for tests: the contract of ObjectStore without a disk.
//
// A location is any text and means only itself. An object appears when its
// stream is closed, as on S3.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "io/object_store.h"

namespace fjord {

// Thread-safe. Streams must not outlive the store; objects that were opened may.
class MemoryStore : public ObjectStore {
 public:
  absl::Status Put(std::string_view location, std::string_view bytes) override;
  absl::Status Replace(std::string_view location, std::string_view bytes) override;
  absl::StatusOr<std::unique_ptr<WriteStream>> Create(std::string_view location) override;
  absl::StatusOr<std::string> Get(std::string_view location) override;
  absl::StatusOr<std::unique_ptr<ReadableObject>> Open(std::string_view location) override;
  // In the order of the locations.
  absl::StatusOr<std::vector<ObjectInfo>> List(std::string_view prefix) override;
  absl::Status Delete(std::string_view location) override;

 private:
  using Bytes = std::shared_ptr<const std::string>;

  absl::Status Add(std::string_view location, std::string bytes);
  absl::StatusOr<Bytes> Find(std::string_view location);

  friend class MemoryWriteStream;
  std::mutex mutex_;
  std::map<std::string, Bytes, std::less<>> objects_;  // guarded by mutex_
};

}  // namespace fjord
