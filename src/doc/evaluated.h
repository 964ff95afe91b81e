// Internal to validation: which items or members of one value a keyword has looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fjord::doc {

class Evaluated {
 public:
  void Mark(size_t index) {
    if (index / 64 >= bits_.size()) bits_.resize(index / 64 + 1);
    bits_[index / 64] |= uint64_t{1} << index % 64;
  }
  void MarkAll() { all_ = true; }
  bool Has(size_t index) const {
    return all_ || (index / 64 < bits_.size() && (bits_[index / 64] >> index % 64 & 1) != 0);
  }
  void Merge(const Evaluated& other) {
    all_ |= other.all_;
    if (bits_.size() < other.bits_.size()) bits_.resize(other.bits_.size());
    for (size_t i = 0; i < other.bits_.size(); ++i) bits_[i] |= other.bits_[i];
  }

 private:
  bool all_ = false;
  std::vector<uint64_t> bits_;
};

}  // namespace fjord::doc
