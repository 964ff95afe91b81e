// A store that fails as planned, in front of another one: for tests of what happens when I/O does.
//
// A test that wants every failure runs once without a plan, takes calls(), and runs again with the
// n-th call failing for each n.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/object_store.h"

namespace fjord {

// The calls of ObjectStore, and those of the streams and objects that it gave out.
enum class StoreCall {
  kPut,
  kReplace,
  kCreate,
  kGet,
  kOpen,
  kList,
  kDelete,
  kWrite,
  kClose,
  kReadAt
};

enum class FaultEffect {
  kFail,        // nothing is done
  kLoseAnswer,  // everything is done, but the caller hears an error
  kTear,        // Put, Write: half of the bytes stay for good, as after a kill; others: like kFail
};

struct Fault {
  std::optional<StoreCall> call = std::nullopt;  // absent: every call
  std::string location_part = "";                // only locations that contain it
  int nth = 1;                                   // of the calls that match, counted from Plan
  int times = 1;                                 // how many of them in a row
  FaultEffect effect = FaultEffect::kFail;
  absl::Status status = absl::UnavailableError("planned fault");
};

// Thread-safe. The store behind it must outlive it, and it its streams and objects.
class FaultStore : public ObjectStore {
 public:
  explicit FaultStore(ObjectStore* base) : base_(base) {}

  // Of several faults that match one call, the one that was planned first decides.
  void Plan(Fault fault);
  void ForgetFaults();
  // Runs before each call, without a lock: to wait for something, or to look.
  void SetHook(std::function<void(StoreCall, std::string_view location)> hook);
  // How many calls came in, with those that failed.
  int calls() const;
  int calls(StoreCall call) const;

  absl::Status Put(std::string_view location, std::string_view bytes) override;
  absl::Status Replace(std::string_view location, std::string_view bytes) override;
  absl::StatusOr<std::unique_ptr<WriteStream>> Create(std::string_view location) override;
  absl::StatusOr<std::string> Get(std::string_view location) override;
  absl::StatusOr<std::unique_ptr<ReadableObject>> Open(std::string_view location) override;
  absl::StatusOr<std::vector<ObjectInfo>> List(std::string_view prefix) override;
  absl::Status Delete(std::string_view location) override;

 private:
  friend class FaultStream;
  friend class FaultObject;
  struct Planned {
    Fault fault;
    int seen = 0;
  };

  // Counts the call; the fault that it meets.
  std::optional<Fault> Enter(StoreCall call, std::string_view location);
  // Does `work` unless the call meets a fault.
  template <class Work>
  auto Run(StoreCall call, std::string_view location, const Work& work) -> decltype(work());

  ObjectStore* const base_;
  mutable std::mutex mutex_;
  std::vector<Planned> planned_;                           // guarded by mutex_
  std::vector<StoreCall> entered_;                         // guarded by mutex_
  std::function<void(StoreCall, std::string_view)> hook_;  // guarded by mutex_
};

}  // namespace fjord
