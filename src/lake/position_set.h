// A set of row positions of one data file (a Roaring bitmap).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"

struct roaring_bitmap_s;

namespace fjord {

// A value: copies are deep. Not thread-safe.
class PositionSet {
 public:
  PositionSet();
  PositionSet(const PositionSet& other);
  PositionSet& operator=(const PositionSet& other);
  PositionSet(PositionSet&& other) noexcept;
  PositionSet& operator=(PositionSet&& other) noexcept;
  ~PositionSet();

  void Add(RowPosition position);
  // Fast when `positions` is sorted.
  void AddMany(std::span<const RowPosition> positions);
  bool Contains(RowPosition position) const;
  uint64_t Cardinality() const;
  bool empty() const { return Cardinality() == 0; }
  // Ascending.
  std::vector<RowPosition> ToVector() const;
  void Union(const PositionSet& other);

  // The portable Roaring format ("Roaring Bitmap Format Specification"), 32-bit.
  std::string Serialize() const;
  // kDataLoss when the bytes are no such bitmap.
  static absl::StatusOr<PositionSet> Deserialize(std::string_view bytes);

  friend bool operator==(const PositionSet& a, const PositionSet& b);

 private:
  struct Free {
    void operator()(roaring_bitmap_s* bitmap) const;
  };
  std::unique_ptr<roaring_bitmap_s, Free> bitmap_;
};

}  // namespace fjord
