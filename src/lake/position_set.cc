#include "lake/position_set.h"

#include <roaring/roaring.h>

namespace fjord {

static_assert(sizeof(RowPosition) == sizeof(uint32_t));

void PositionSet::Free::operator()(roaring_bitmap_s* bitmap) const { roaring_bitmap_free(bitmap); }

PositionSet::PositionSet() : bitmap_(roaring_bitmap_create()) {}
PositionSet::PositionSet(const PositionSet& other)
    : bitmap_(roaring_bitmap_copy(other.bitmap_.get())) {}
PositionSet& PositionSet::operator=(const PositionSet& other) {
  if (this != &other) bitmap_.reset(roaring_bitmap_copy(other.bitmap_.get()));
  return *this;
}
// A set that was moved from is empty, not broken.
PositionSet::PositionSet(PositionSet&& other) noexcept : PositionSet() {
  bitmap_.swap(other.bitmap_);
}
PositionSet& PositionSet::operator=(PositionSet&& other) noexcept {
  bitmap_.swap(other.bitmap_);
  return *this;
}
PositionSet::~PositionSet() = default;

void PositionSet::Add(RowPosition position) { roaring_bitmap_add(bitmap_.get(), position.value); }

void PositionSet::AddMany(std::span<const RowPosition> positions) {
  roaring_bitmap_add_many(bitmap_.get(), positions.size(),
                          reinterpret_cast<const uint32_t*>(positions.data()));
}

bool PositionSet::Contains(RowPosition position) const {
  return roaring_bitmap_contains(bitmap_.get(), position.value);
}

uint64_t PositionSet::Cardinality() const { return roaring_bitmap_get_cardinality(bitmap_.get()); }

std::vector<RowPosition> PositionSet::ToVector() const {
  std::vector<RowPosition> positions(Cardinality());
  roaring_bitmap_to_uint32_array(bitmap_.get(), reinterpret_cast<uint32_t*>(positions.data()));
  return positions;
}

void PositionSet::Union(const PositionSet& other) {
  roaring_bitmap_or_inplace(bitmap_.get(), other.bitmap_.get());
}

std::string PositionSet::Serialize() const {
  std::unique_ptr<roaring_bitmap_s, Free> packed(roaring_bitmap_copy(bitmap_.get()));
  roaring_bitmap_run_optimize(packed.get());
  std::string bytes(roaring_bitmap_portable_size_in_bytes(packed.get()), '\0');
  roaring_bitmap_portable_serialize(packed.get(), bytes.data());
  return bytes;
}

absl::StatusOr<PositionSet> PositionSet::Deserialize(std::string_view bytes) {
  // The size first: the library's reader trusts the bytes less when it knows
  // how far they should go.
  if (roaring_bitmap_portable_deserialize_size(bytes.data(), bytes.size()) == bytes.size() &&
      !bytes.empty()) {
    if (roaring_bitmap_s* bitmap =
            roaring_bitmap_portable_deserialize_safe(bytes.data(), bytes.size())) {
      PositionSet set;
      set.bitmap_.reset(bitmap);
      return set;
    }
  }
  return absl::DataLossError("bytes are no set of row positions");
}

bool operator==(const PositionSet& a, const PositionSet& b) {
  return roaring_bitmap_equals(a.bitmap_.get(), b.bitmap_.get());
}

}  // namespace fjord
