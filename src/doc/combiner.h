// Many documents become few: one for each key, in the order of the keys, within a memory budget.
//
// Documents of one key are reduced as they come. Past the budget everything is written as a sorted
// run to a spill file; draining merges the runs. What cannot be reduced yet (not associative) is
// kept side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "doc/arena.h"
#include "doc/key.h"
#include "doc/reducer.h"
#include "doc/schema.h"
#include "doc/spill.h"
#include "doc/value.h"

namespace fjord::doc {

// Documents of one kind. The schema outlives the combiner.
struct CombinerBinding {
  const Schema* schema;
  Key key;
  // kFull: what Next gives is all that there is of the key. kPartial: there may be older ones.
  ReduceMode mode;
};

struct CombinerOptions {
  size_t memory_bytes_max = size_t{256} << 20;
  std::string spill_folder = "/tmp";
};

struct Combined {
  size_t binding = 0;
  std::string_view packed_key;
  Value document;      // of a deleted one the newest document that there was
  bool front = false;  // a document was given as the older one
  bool deleted = false;
};

// Confined to one thread. A document that Add refuses leaves the combiner as it was; after an error
// of Next or of the disk it can only be destroyed.
class Combiner {
 public:
  Combiner(std::vector<CombinerBinding> bindings, CombinerOptions options);
  ~Combiner();

  // Copies the document. kInvalidArgument when it is not valid or cannot be reduced.
  absl::Status Add(size_t binding, const Value& document);

  // What was there before all others of its key, fully reduced. Once for a key, at any time before
  // the first Next; full bindings only.
  absl::Status AddFront(size_t binding, const Value& document);

  // The next document, by binding and key, valid until the next call; nothing at the end, when the
  // combiner is empty and can be used again. In a partial binding a key may come more than once.
  absl::StatusOr<std::optional<Combined>> Next();

  size_t spilled_runs() const { return runs_.size(); }

 private:
  struct Held {
    Value document;
    Held* next;
    bool front;
  };
  struct Chain {
    Held* first = nullptr;
    Held* last = nullptr;
  };
  using KeyMap = absl::flat_hash_map<absl::string_view, Chain>;
  using KeyedChain = std::pair<std::string_view, Chain>;
  struct Lane;
  struct Run {
    uint64_t begin;
    uint64_t end;
  };
  struct GroupDocument {
    Value document;
    bool front;
  };

  absl::Status PackKey(size_t binding, const Value& document);
  Chain& ChainOf(size_t binding);
  absl::Status Append(Lane& lane, Chain& chain, const Value& document);
  Held* Hold(const Value& document);
  absl::Status SpillIfOverBudget();
  absl::Status Spill();
  absl::Status SpillLane(size_t binding, std::string* out);
  std::vector<KeyedChain> Sorted(size_t binding) const;

  absl::Status BeginDrain();
  absl::Status BeginMerge();
  absl::Status EndDrain();
  // The next key's documents into group_; false at the end.
  absl::StatusOr<bool> NextGroup();
  bool NextGroupInMemory();
  absl::StatusOr<bool> NextGroupOfRuns();
  absl::Status TakeOf(RunReader& run);
  absl::Status ReduceGroup();
  absl::Status ReduceFully(Reducer& reducer);
  absl::Status ReducePartially(Reducer& reducer);

  std::vector<std::unique_ptr<Lane>> lanes_;
  CombinerOptions options_;
  Arena arena_;
  Arena scratch_;
  std::string packed_;
  std::unique_ptr<SpillFile> file_;
  std::vector<Run> runs_;

  // While draining.
  bool draining_ = false;
  size_t lane_ = 0;
  std::vector<KeyedChain> sorted_;
  size_t sorted_next_ = 0;
  std::vector<RunReader> readers_;
  Arena group_arena_;
  std::string group_key_;
  size_t group_binding_ = 0;
  std::vector<GroupDocument> group_;
  std::vector<Combined> ready_;
  size_t ready_next_ = 0;
};

}  // namespace fjord::doc
