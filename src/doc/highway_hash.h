// HighwayHash-64 (Alakuijala, Cox, Wassenberg: "Fast keyed hash/pseudo-random function using SIMD
// multiply and permute"), the portable form.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace fjord::doc {

uint64_t HighwayHash64(const std::array<uint64_t, 4>& key, std::string_view data);

}  // namespace fjord::doc
