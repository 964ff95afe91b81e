#include "io/fault_store.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace fjord {
namespace {

std::string_view HalfOf(std::string_view bytes) { return bytes.substr(0, bytes.size() / 2); }

}  // namespace

class FaultStream : public WriteStream {
 public:
  FaultStream(FaultStore* store, std::string location, std::unique_ptr<WriteStream> base)
      : store_(store), location_(std::move(location)), base_(std::move(base)) {}

  absl::Status Write(std::string_view bytes) override {
    if (!torn_.ok()) return torn_;
    const std::optional<Fault> fault = store_->Enter(StoreCall::kWrite, location_);
    if (!fault) return base_->Write(bytes);
    if (fault->effect == FaultEffect::kTear) {
      torn_ = fault->status;
      RETURN_IF_ERROR(base_->Write(HalfOf(bytes)));
      RETURN_IF_ERROR(base_->Close());
    } else if (fault->effect == FaultEffect::kLoseAnswer) {
      RETURN_IF_ERROR(base_->Write(bytes));
    }
    return fault->status;
  }
  absl::Status Close() override {
    if (!torn_.ok()) return torn_;
    return store_->Run(StoreCall::kClose, location_, [this] { return base_->Close(); });
  }
  void Abort() override {
    if (torn_.ok()) base_->Abort();
  }
  uint64_t bytes_written() const override { return base_->bytes_written(); }

 private:
  FaultStore* const store_;
  const std::string location_;
  const std::unique_ptr<WriteStream> base_;
  absl::Status torn_;
};

class FaultObject : public ReadableObject {
 public:
  FaultObject(FaultStore* store, std::string location, std::unique_ptr<ReadableObject> base)
      : store_(store), location_(std::move(location)), base_(std::move(base)) {}

  uint64_t size() const override { return base_->size(); }
  absl::Status ReadAt(uint64_t offset, char* out, size_t size) const override {
    return store_->Run(StoreCall::kReadAt, location_,
                       [&] { return base_->ReadAt(offset, out, size); });
  }

 private:
  FaultStore* const store_;
  const std::string location_;
  const std::unique_ptr<ReadableObject> base_;
};

void FaultStore::Plan(Fault fault) {
  const std::lock_guard lock(mutex_);
  planned_.push_back({.fault = std::move(fault)});
}

void FaultStore::ForgetFaults() {
  const std::lock_guard lock(mutex_);
  planned_.clear();
}

void FaultStore::SetHook(std::function<void(StoreCall, std::string_view)> hook) {
  const std::lock_guard lock(mutex_);
  hook_ = std::move(hook);
}

int FaultStore::calls() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(entered_.size());
}

int FaultStore::calls(StoreCall call) const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(std::count(entered_.begin(), entered_.end(), call));
}

std::optional<Fault> FaultStore::Enter(StoreCall call, std::string_view location) {
  std::function<void(StoreCall, std::string_view)> hook;
  std::optional<Fault> met;
  {
    const std::lock_guard lock(mutex_);
    hook = hook_;
    entered_.push_back(call);
    for (Planned& planned : planned_) {
      const Fault& fault = planned.fault;
      const bool matches = fault.call.value_or(call) == call &&
                           location.find(fault.location_part) != std::string_view::npos;
      if (!matches) continue;
      const int since_first = ++planned.seen - fault.nth;
      if (!met && since_first >= 0 && since_first < fault.times) met = fault;
    }
  }
  if (hook) hook(call, location);
  return met;
}

template <class Work>
auto FaultStore::Run(StoreCall call, std::string_view location, const Work& work)
    -> decltype(work()) {
  const std::optional<Fault> fault = Enter(call, location);
  if (!fault) return work();
  if (fault->effect == FaultEffect::kLoseAnswer) {
    auto done = work();
    if (!done.ok()) return done;
  }
  return fault->status;
}

absl::Status FaultStore::Put(std::string_view location, std::string_view bytes) {
  const std::optional<Fault> fault = Enter(StoreCall::kPut, location);
  if (!fault) return base_->Put(location, bytes);
  if (fault->effect == FaultEffect::kTear) RETURN_IF_ERROR(base_->Put(location, HalfOf(bytes)));
  if (fault->effect == FaultEffect::kLoseAnswer) RETURN_IF_ERROR(base_->Put(location, bytes));
  return fault->status;
}

absl::Status FaultStore::Replace(std::string_view location, std::string_view bytes) {
  return Run(StoreCall::kReplace, location, [&] { return base_->Replace(location, bytes); });
}

absl::StatusOr<std::unique_ptr<WriteStream>> FaultStore::Create(std::string_view location) {
  return Run(StoreCall::kCreate, location, [&]() -> absl::StatusOr<std::unique_ptr<WriteStream>> {
    ASSIGN_OR_RETURN(std::unique_ptr<WriteStream> stream, base_->Create(location));
    return std::make_unique<FaultStream>(this, std::string(location), std::move(stream));
  });
}

absl::StatusOr<std::string> FaultStore::Get(std::string_view location) {
  return Run(StoreCall::kGet, location, [&] { return base_->Get(location); });
}

absl::StatusOr<std::unique_ptr<ReadableObject>> FaultStore::Open(std::string_view location) {
  return Run(StoreCall::kOpen, location, [&]() -> absl::StatusOr<std::unique_ptr<ReadableObject>> {
    ASSIGN_OR_RETURN(std::unique_ptr<ReadableObject> object, base_->Open(location));
    return std::make_unique<FaultObject>(this, std::string(location), std::move(object));
  });
}

absl::StatusOr<std::vector<ObjectInfo>> FaultStore::List(std::string_view prefix) {
  return Run(StoreCall::kList, prefix, [&] { return base_->List(prefix); });
}

absl::Status FaultStore::Delete(std::string_view location) {
  return Run(StoreCall::kDelete, location, [&] { return base_->Delete(location); });
}

}  // namespace fjord
