#include "io/memory_store.h"

#include <cstring>
#include <utility>

#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

class MemoryObject : public ReadableObject {
 public:
  MemoryObject(std::string location, std::shared_ptr<const std::string> bytes)
      : location_(std::move(location)), bytes_(std::move(bytes)) {}

  uint64_t size() const override { return bytes_->size(); }
  absl::Status ReadAt(uint64_t offset, char* out, size_t size) const override {
    if (offset > bytes_->size() || size > bytes_->size() - offset) {
      return absl::DataLossError(
          StrCat(location_, " has ", bytes_->size(), " bytes, not ", offset + size));
    }
    if (size > 0) std::memcpy(out, bytes_->data() + offset, size);
    return absl::OkStatus();
  }

 private:
  const std::string location_;
  const std::shared_ptr<const std::string> bytes_;
};

}  // namespace

class MemoryWriteStream : public WriteStream {
 public:
  MemoryWriteStream(MemoryStore* store, std::string location)
      : store_(store), location_(std::move(location)) {}

  absl::Status Write(std::string_view bytes) override {
    bytes_.append(bytes);
    return absl::OkStatus();
  }
  absl::Status Close() override { return store_->Add(location_, bytes_); }
  void Abort() override {}
  uint64_t bytes_written() const override { return bytes_.size(); }

 private:
  MemoryStore* const store_;
  const std::string location_;
  std::string bytes_;
};

absl::Status MemoryStore::Add(std::string_view location, std::string bytes) {
  const std::lock_guard lock(mutex_);
  const auto [at, added] = objects_.try_emplace(std::string(location), nullptr);
  if (!added) return absl::AlreadyExistsError(StrCat(location, " exists"));
  at->second = std::make_shared<const std::string>(std::move(bytes));
  return absl::OkStatus();
}

absl::StatusOr<MemoryStore::Bytes> MemoryStore::Find(std::string_view location) {
  const std::lock_guard lock(mutex_);
  const auto at = objects_.find(location);
  if (at == objects_.end()) return absl::NotFoundError(StrCat("there is no ", location));
  return at->second;
}

absl::Status MemoryStore::Put(std::string_view location, std::string_view bytes) {
  return Add(location, std::string(bytes));
}

absl::Status MemoryStore::Replace(std::string_view location, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  objects_.insert_or_assign(std::string(location), std::make_shared<const std::string>(bytes));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<WriteStream>> MemoryStore::Create(std::string_view location) {
  if (Find(location).ok()) return absl::AlreadyExistsError(StrCat(location, " exists"));
  return std::make_unique<MemoryWriteStream>(this, std::string(location));
}

absl::StatusOr<std::string> MemoryStore::Get(std::string_view location) {
  ASSIGN_OR_RETURN(const Bytes bytes, Find(location));
  return *bytes;
}

absl::StatusOr<std::unique_ptr<ReadableObject>> MemoryStore::Open(std::string_view location) {
  ASSIGN_OR_RETURN(Bytes bytes, Find(location));
  return std::make_unique<MemoryObject>(std::string(location), std::move(bytes));
}

absl::StatusOr<std::vector<ObjectInfo>> MemoryStore::List(std::string_view prefix) {
  const std::lock_guard lock(mutex_);
  std::vector<ObjectInfo> found;
  for (auto at = objects_.lower_bound(prefix);
       at != objects_.end() && at->first.starts_with(prefix); ++at) {
    found.push_back({.location = at->first, .size = at->second->size()});
  }
  return found;
}

absl::Status MemoryStore::Delete(std::string_view location) {
  const std::lock_guard lock(mutex_);
  if (const auto at = objects_.find(location); at != objects_.end()) objects_.erase(at);
  return absl::OkStatus();
}

}  // namespace fjord
