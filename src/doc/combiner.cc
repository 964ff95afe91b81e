#include "doc/combiner.h"

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "doc/binary.h"
#include "doc/combiner_lane.h"

namespace fjord::doc {
namespace {

constexpr size_t kChunkBytesMin = size_t{16} << 10;
constexpr size_t kChunkBytesMax = size_t{1} << 20;
// Of the hash map, for each key: its slot and the free ones around it.
constexpr size_t kMapBytesPerKey = 64;
constexpr size_t kWriteBytes = size_t{1} << 20;

size_t ChunkBytes(const CombinerOptions& options) {
  return std::clamp(options.memory_bytes_max / 32, kChunkBytesMin, kChunkBytesMax);
}

}  // namespace

Combiner::Combiner(std::vector<CombinerBinding> bindings, CombinerOptions options)
    : options_(std::move(options)), arena_(ChunkBytes(options_)) {
  for (CombinerBinding& binding : bindings) {
    lanes_.push_back(std::make_unique<Lane>(std::move(binding)));
  }
}

Combiner::~Combiner() = default;

absl::Status Combiner::PackKey(size_t binding, const Value& document) {
  packed_.clear();
  return lanes_[binding]->binding.key.AppendPacked(document, &packed_);
}

Combiner::Chain& Combiner::ChainOf(size_t binding) {
  KeyMap& chains = lanes_[binding]->chains;
  const auto found = chains.find(ToAbsl(packed_));
  if (found != chains.end()) return found->second;
  return chains[ToAbsl(arena_.Copy(packed_))];
}

Combiner::Held* Combiner::Hold(const Value& document) {
  Held* const held = arena_.AllocateArray<Held>(1);
  *held = {.document = DeepCopy(document, arena_), .next = nullptr, .front = false};
  return held;
}

absl::Status Combiner::Add(size_t binding, const Value& document) {
  Lane& lane = *lanes_[binding];
  RETURN_IF_ERROR(lane.reducer.Prepare(document));
  RETURN_IF_ERROR(PackKey(binding, document));
  RETURN_IF_ERROR(Append(lane, ChainOf(binding), document));
  return SpillIfOverBudget();
}

absl::Status Combiner::Append(Lane& lane, Chain& chain, const Value& document) {
  if (chain.last != nullptr && !chain.last->front) {
    scratch_.Clear();
    ASSIGN_OR_RETURN(const Reduced reduced,
                     lane.reducer.Reduce(&chain.last->document, ReduceMode::kPartial, scratch_));
    if (reduced.outcome == Reduced::Outcome::kValue) {
      chain.last->document = DeepCopy(reduced.value, arena_);
      return absl::OkStatus();
    }
  }
  Held* const held = Hold(document);
  (chain.last == nullptr ? chain.first : chain.last->next) = held;
  chain.last = held;
  return absl::OkStatus();
}

absl::Status Combiner::AddFront(size_t binding, const Value& document) {
  if (lanes_[binding]->binding.mode != ReduceMode::kFull) {
    return absl::InvalidArgumentError("an older document was given to a partial reduction");
  }
  RETURN_IF_ERROR(PackKey(binding, document));
  Chain& chain = ChainOf(binding);
  Held* const held = Hold(document);
  held->front = true;
  held->next = chain.first;
  chain.first = held;
  if (chain.last == nullptr) chain.last = held;
  return SpillIfOverBudget();
}

absl::Status Combiner::SpillIfOverBudget() {
  size_t bytes = arena_.bytes_reserved();
  for (const auto& lane : lanes_) bytes += lane->chains.size() * kMapBytesPerKey;
  return bytes > options_.memory_bytes_max ? Spill() : absl::OkStatus();
}

std::vector<Combiner::KeyedChain> Combiner::Sorted(size_t binding) const {
  std::vector<KeyedChain> sorted;
  sorted.reserve(lanes_[binding]->chains.size());
  for (const auto& [key, chain] : lanes_[binding]->chains) sorted.emplace_back(ToStd(key), chain);
  std::sort(sorted.begin(), sorted.end(),
            [](const KeyedChain& a, const KeyedChain& b) { return a.first < b.first; });
  return sorted;
}

absl::Status Combiner::Spill() {
  if (file_ == nullptr) {
    ASSIGN_OR_RETURN(file_, SpillFile::Create(options_.spill_folder));
  }
  const uint64_t begin = file_->size();
  std::string out;
  for (size_t binding = 0; binding < lanes_.size(); ++binding) {
    RETURN_IF_ERROR(SpillLane(binding, &out));
  }
  RETURN_IF_ERROR(file_->Append(out));
  runs_.push_back({begin, file_->size()});
  for (const auto& lane : lanes_) lane->chains.clear();
  arena_.Clear();
  return absl::OkStatus();
}

absl::Status Combiner::SpillLane(size_t binding, std::string* out) {
  std::string bytes;
  for (const auto& [key, chain] : Sorted(binding)) {
    for (const Held* held = chain.first; held != nullptr; held = held->next) {
      bytes.clear();
      AppendBinary(held->document, &bytes);
      AppendSpillRecord({.binding = static_cast<uint32_t>(binding),
                         .front = held->front,
                         .key = key,
                         .document = bytes},
                        out);
    }
    if (out->size() < kWriteBytes) continue;
    RETURN_IF_ERROR(file_->Append(*out));
    out->clear();
  }
  return absl::OkStatus();
}

}  // namespace fjord::doc
