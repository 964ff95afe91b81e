#include "columnar/dictionary_choice.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

namespace fjord {
namespace {

constexpr size_t kSampleRowsMax = 4096;
constexpr size_t kSampleRowsMin = 16;
constexpr size_t kSlots = 2 * kSampleRowsMax;  // a power of two
// A dictionary pays when at most this part of the sample is distinct: with 4096 rows, up to about
// 20,000 different values.
constexpr double kDistinctPartMax = 0.9;

uint64_t Mix(uint64_t v) {
  v *= 0x9E3779B97F4A7C15u;
  return v ^ (v >> 32);
}

// 64 bits that differ, as good as always, when values do.
uint64_t HashOf(const Column& column, size_t row) {
  switch (PhysicalOf(column.type.kind)) {
    case Physical::kInt32: return Mix(static_cast<uint32_t>(column.int32s[row]));
    case Physical::kInt64: return Mix(static_cast<uint64_t>(column.int64s[row]));
    case Physical::kFloat: return std::hash<float>()(column.floats[row]);
    case Physical::kDouble: return std::hash<double>()(column.doubles[row]);
    case Physical::kInt128: {
      const auto value = static_cast<absl::uint128>(column.int128s[row]);
      return Mix(absl::Uint128Low64(value) ^ Mix(absl::Uint128High64(value)));
    }
    case Physical::kBytes: return std::hash<std::string_view>()(column.bytes[row]);
  }
  return 0;
}

}  // namespace

bool DictionaryPays(const Column& column) {
  std::array<uint64_t, kSlots> seen{};
  size_t sampled = 0;
  size_t distinct = 0;
  const size_t rows = std::min(column.size(), kSampleRowsMax);
  for (size_t row = 0; row < rows; ++row) {
    if (column.valid[row] == 0) continue;
    ++sampled;
    const uint64_t hash = HashOf(column, row) | 1;  // zero is an empty slot
    size_t slot = (hash >> 16) % kSlots;
    while (seen[slot] != 0 && seen[slot] != hash) slot = (slot + 1) % kSlots;
    if (seen[slot] == hash) continue;
    seen[slot] = hash;
    ++distinct;
  }
  if (sampled < kSampleRowsMin) return true;
  return static_cast<double>(distinct) <= kDistinctPartMax * static_cast<double>(sampled);
}

}  // namespace fjord
