// Internal: what was said about places of one document, found by their addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "doc/value.h"

namespace fjord::doc {

// A hash table that is emptied at no cost. T is small and copied.
template <class T>
class PlaceMap {
 public:
  void Clear() {
    ++round_;
    size_ = 0;
  }
  bool empty() const { return size_ == 0; }

  // The place's value; `made` is put there when it has none.
  T& Put(const Value* place, const T& made) {
    if (2 * (size_ + 1) > slots_.size()) Grow();
    Slot& slot = SlotOf(place);
    if (slot.round != round_) {
      slot = {place, round_, made};
      ++size_;
    }
    return slot.value;
  }

  const T* Find(const Value* place) const {
    if (size_ == 0) return nullptr;
    const Slot& slot = const_cast<PlaceMap*>(this)->SlotOf(place);
    return slot.round == round_ ? &slot.value : nullptr;
  }

 private:
  struct Slot {
    const Value* place = nullptr;
    uint64_t round = 0;  // in use when it is the map's
    T value{};
  };

  Slot& SlotOf(const Value* place) {
    const uint64_t hash = reinterpret_cast<uintptr_t>(place) / 8 * 0x9e3779b97f4a7c15u;
    size_t i = hash >> 32 & (slots_.size() - 1);
    while (slots_[i].round == round_ && slots_[i].place != place) i = (i + 1) & (slots_.size() - 1);
    return slots_[i];
  }

  void Grow() {
    std::vector<Slot> old(slots_.empty() ? 32 : 2 * slots_.size());
    old.swap(slots_);
    size_ = 0;
    for (const Slot& slot : old) {
      if (slot.round == round_) Put(slot.place, slot.value);
    }
  }

  uint64_t round_ = 1;
  size_t size_ = 0;
  std::vector<Slot> slots_;
};

}  // namespace fjord::doc
