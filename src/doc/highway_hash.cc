#include "doc/highway_hash.h"

#include <cstddef>
#include <cstring>

namespace fjord::doc {
namespace {

using Lanes = std::array<uint64_t, 4>;
constexpr size_t kPacketBytes = 32;

constexpr Lanes kInit0 = {0xdbe6d5d5fe4cce2f, 0xa4093822299f31d0, 0x13198a2e03707344,
                          0x243f6a8885a308d3};
constexpr Lanes kInit1 = {0x3bd39e10cb0ef593, 0xc0acf169b5f18a8c, 0xbe5466cf34e90c6c,
                          0x452821e638d01377};

uint64_t SwapHalves(uint64_t x) { return x >> 32 | x << 32; }

void ZipperMergeAndAdd(uint64_t v1, uint64_t v0, uint64_t* add1, uint64_t* add0) {
  *add0 += (((v0 & 0xff000000) | (v1 & 0xff00000000)) >> 24) |
           (((v0 & 0xff0000000000) | (v1 & 0xff000000000000)) >> 16) | (v0 & 0xff0000) |
           ((v0 & 0xff00) << 32) | ((v1 & 0xff00000000000000) >> 8) | (v0 << 56);
  *add1 += (((v1 & 0xff000000) | (v0 & 0xff00000000)) >> 24) | (v1 & 0xff0000) |
           ((v1 & 0xff0000000000) >> 16) | ((v1 & 0xff00) << 24) | ((v0 & 0xff000000000000) >> 8) |
           ((v1 & 0xff) << 48) | (v0 & 0xff00000000000000);
}

class HighwayState {
 public:
  explicit HighwayState(const Lanes& key) {
    for (size_t i = 0; i < 4; ++i) {
      v0_[i] = kInit0[i] ^ key[i];
      v1_[i] = kInit1[i] ^ SwapHalves(key[i]);
    }
  }

  void UpdatePacket(const char* packet) {
    Lanes lanes;
    std::memcpy(lanes.data(), packet, kPacketBytes);
    Update(lanes);
  }

  // The last, incomplete packet: 1 to 31 bytes.
  void UpdateRemainder(std::string_view rest) {
    for (uint64_t& lane : v0_) lane += (uint64_t{rest.size()} << 32) + rest.size();
    for (uint64_t& lane : v1_) lane = RotateHalves(lane, static_cast<int>(rest.size()));
    std::array<char, kPacketBytes> packet{};
    const size_t whole = rest.size() & ~size_t{3};
    const size_t tail = rest.size() & 3;
    std::memcpy(packet.data(), rest.data(), whole);
    if (rest.size() & 16) {
      std::memcpy(packet.data() + 28, rest.data() + rest.size() - 4, 4);
    } else if (tail != 0) {
      packet[16] = rest[whole];
      packet[17] = rest[whole + (tail >> 1)];
      packet[18] = rest[whole + tail - 1];
    }
    UpdatePacket(packet.data());
  }

  uint64_t Finalize() {
    for (int round = 0; round < 4; ++round) {
      Update({SwapHalves(v0_[2]), SwapHalves(v0_[3]), SwapHalves(v0_[0]), SwapHalves(v0_[1])});
    }
    return v0_[0] + v1_[0] + mul0_[0] + mul1_[0];
  }

 private:
  static uint64_t RotateHalves(uint64_t lane, int count) {
    const auto low = static_cast<uint32_t>(lane);
    const auto high = static_cast<uint32_t>(lane >> 32);
    const auto rotate = [count](uint32_t x) { return x << count | x >> (32 - count); };
    return rotate(low) | uint64_t{rotate(high)} << 32;
  }

  void Update(const Lanes& lanes) {
    for (size_t i = 0; i < 4; ++i) {
      v1_[i] += mul0_[i] + lanes[i];
      mul0_[i] ^= (v1_[i] & 0xffffffff) * (v0_[i] >> 32);
      v0_[i] += mul1_[i];
      mul1_[i] ^= (v0_[i] & 0xffffffff) * (v1_[i] >> 32);
    }
    ZipperMergeAndAdd(v1_[1], v1_[0], &v0_[1], &v0_[0]);
    ZipperMergeAndAdd(v1_[3], v1_[2], &v0_[3], &v0_[2]);
    ZipperMergeAndAdd(v0_[1], v0_[0], &v1_[1], &v1_[0]);
    ZipperMergeAndAdd(v0_[3], v0_[2], &v1_[3], &v1_[2]);
  }

  Lanes v0_;
  Lanes v1_;
  Lanes mul0_ = kInit0;
  Lanes mul1_ = kInit1;
};

}  // namespace

uint64_t HighwayHash64(const std::array<uint64_t, 4>& key, std::string_view data) {
  HighwayState state(key);
  for (; data.size() >= kPacketBytes; data.remove_prefix(kPacketBytes)) {
    state.UpdatePacket(data.data());
  }
  if (!data.empty()) state.UpdateRemainder(data);
  return state.Finalize();
}

}  // namespace fjord::doc
