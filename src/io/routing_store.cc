#include "io/routing_store.h"

#include <utility>

namespace fjord {
namespace {

class RoutingStore : public ObjectStore {
 public:
  RoutingStore(std::unique_ptr<ObjectStore> local, std::unique_ptr<ObjectStore> s3)
      : local_(std::move(local)), s3_(std::move(s3)) {}

  absl::Status Put(std::string_view location, std::string_view bytes) override {
    return StoreOf(location).Put(location, bytes);
  }
  absl::Status Replace(std::string_view location, std::string_view bytes) override {
    return StoreOf(location).Replace(location, bytes);
  }
  absl::StatusOr<std::unique_ptr<WriteStream>> Create(std::string_view location) override {
    return StoreOf(location).Create(location);
  }
  absl::StatusOr<std::string> Get(std::string_view location) override {
    return StoreOf(location).Get(location);
  }
  absl::StatusOr<std::unique_ptr<ReadableObject>> Open(std::string_view location) override {
    return StoreOf(location).Open(location);
  }
  absl::StatusOr<std::vector<ObjectInfo>> List(std::string_view prefix) override {
    return StoreOf(prefix).List(prefix);
  }
  absl::Status Delete(std::string_view location) override {
    return StoreOf(location).Delete(location);
  }

 private:
  ObjectStore& StoreOf(std::string_view location) const {
    return location.starts_with("s3://") || location.starts_with("s3a://") ? *s3_ : *local_;
  }

  const std::unique_ptr<ObjectStore> local_;
  const std::unique_ptr<ObjectStore> s3_;
};

}  // namespace

std::unique_ptr<ObjectStore> MakeRoutingStore(std::unique_ptr<ObjectStore> local,
                                              std::unique_ptr<ObjectStore> s3) {
  return std::make_unique<RoutingStore>(std::move(local), std::move(s3));
}

}  // namespace fjord
