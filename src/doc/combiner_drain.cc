// The combiner's second half: what it holds, key by key.
#include <algorithm>
#include <tuple>

#include "base/status.h"
#include "doc/binary.h"
#include "doc/combiner.h"
#include "doc/combiner_lane.h"

namespace fjord::doc {
namespace {

constexpr size_t kReadBytesMin = size_t{16} << 10;
constexpr size_t kReadBytesMax = size_t{256} << 10;

}  // namespace

absl::StatusOr<std::optional<Combined>> Combiner::Next() {
  if (!draining_) RETURN_IF_ERROR(BeginDrain());
  if (ready_next_ == ready_.size()) {
    ASSIGN_OR_RETURN(const bool more, NextGroup());
    if (!more) {
      RETURN_IF_ERROR(EndDrain());
      return std::nullopt;
    }
    RETURN_IF_ERROR(ReduceGroup());
  }
  return ready_[ready_next_++];
}

absl::Status Combiner::BeginDrain() {
  draining_ = true;
  lane_ = 0;
  if (!runs_.empty()) return BeginMerge();
  if (!lanes_.empty()) sorted_ = Sorted(0);
  sorted_next_ = 0;
  return absl::OkStatus();
}

absl::Status Combiner::BeginMerge() {
  RETURN_IF_ERROR(Spill());
  const size_t buffer =
      std::clamp(options_.memory_bytes_max / 2 / runs_.size(), kReadBytesMin, kReadBytesMax);
  for (const Run& run : runs_) {
    readers_.emplace_back(*file_, run.begin, run.end, buffer);
    RETURN_IF_ERROR(readers_.back().Next());
  }
  return absl::OkStatus();
}

absl::Status Combiner::EndDrain() {
  draining_ = false;
  sorted_.clear();
  readers_.clear();
  runs_.clear();
  ready_.clear();
  ready_next_ = 0;
  for (const auto& lane : lanes_) lane->chains.clear();
  arena_.Clear();
  return file_ == nullptr ? absl::OkStatus() : file_->Clear();
}

absl::StatusOr<bool> Combiner::NextGroup() {
  group_.clear();
  group_arena_.Clear();
  if (!readers_.empty()) return NextGroupOfRuns();
  return NextGroupInMemory();
}

bool Combiner::NextGroupInMemory() {
  while (sorted_next_ == sorted_.size()) {
    if (lane_ + 1 >= lanes_.size()) return false;
    sorted_ = Sorted(++lane_);
    sorted_next_ = 0;
  }
  const auto& [key, chain] = sorted_[sorted_next_++];
  group_key_ = key;
  group_binding_ = lane_;
  for (const Held* held = chain.first; held != nullptr; held = held->next) {
    group_.push_back({held->document, held->front});
  }
  return true;
}

// The smallest key of all runs, from every run that has it, the oldest run first.
absl::StatusOr<bool> Combiner::NextGroupOfRuns() {
  const auto order = [](const RunReader& run) {
    return std::tie(run.record().binding, run.record().key);
  };
  const RunReader* least = nullptr;
  for (const RunReader& run : readers_) {
    if (!run.at_end() && (least == nullptr || order(run) < order(*least))) least = &run;
  }
  if (least == nullptr) return false;
  group_binding_ = least->record().binding;
  group_key_ = least->record().key;
  for (RunReader& run : readers_) RETURN_IF_ERROR(TakeOf(run));
  std::stable_partition(group_.begin(), group_.end(),
                        [](const GroupDocument& held) { return held.front; });
  return true;
}

absl::Status Combiner::TakeOf(RunReader& run) {
  while (!run.at_end() && run.record().binding == group_binding_ &&
         run.record().key == group_key_) {
    // The reader's memory changes with the next record.
    const std::string_view bytes = group_arena_.Copy(run.record().document);
    const std::optional<Value> document = ReadBinary(bytes, group_arena_);
    if (!document) return absl::DataLossError("a spilled document cannot be read");
    group_.push_back({*document, run.record().front});
    RETURN_IF_ERROR(run.Next());
  }
  return absl::OkStatus();
}

absl::Status Combiner::ReduceGroup() {
  ready_.clear();
  ready_next_ = 0;
  Lane& lane = *lanes_[group_binding_];
  return lane.binding.mode == ReduceMode::kFull ? ReduceFully(lane.reducer)
                                                : ReducePartially(lane.reducer);
}

absl::Status Combiner::ReduceFully(Reducer& reducer) {
  std::optional<Value> state;
  bool front = false;
  for (const GroupDocument& held : group_) {
    if (held.front) {
      state = held.document;
      front = true;
      continue;
    }
    RETURN_IF_ERROR(reducer.Prepare(held.document));
    ASSIGN_OR_RETURN(const Reduced reduced,
                     reducer.Reduce(state ? &*state : nullptr, ReduceMode::kFull, group_arena_));
    state.reset();
    if (reduced.outcome == Reduced::Outcome::kValue) state = reduced.value;
  }
  ready_.push_back({.binding = group_binding_,
                    .packed_key = group_key_,
                    .document = state.value_or(group_.back().document),
                    .front = front,
                    .deleted = !state});
  return absl::OkStatus();
}

// In memory neighbours were tried when they came; those of different runs were not.
absl::Status Combiner::ReducePartially(Reducer& reducer) {
  std::vector<Value> kept = {group_.front().document};
  for (size_t i = 1; i < group_.size(); ++i) {
    const Value& document = group_[i].document;
    RETURN_IF_ERROR(reducer.Prepare(document));
    ASSIGN_OR_RETURN(const Reduced reduced,
                     reducer.Reduce(&kept.back(), ReduceMode::kPartial, group_arena_));
    if (reduced.outcome == Reduced::Outcome::kValue) {
      kept.back() = reduced.value;
    } else {
      kept.push_back(document);
    }
  }
  for (const Value& document : kept) {
    ready_.push_back({.binding = group_binding_, .packed_key = group_key_, .document = document});
  }
  return absl::OkStatus();
}

}  // namespace fjord::doc
