#include "base/compression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace fjord {
namespace {

constexpr size_t kMax = 8 << 20;

struct Codec {
  const char* name;
  std::function<std::string(std::string_view)> compress;
  std::function<absl::StatusOr<std::string>(std::string_view, size_t)> decompress;
};

std::vector<Codec> Codecs() {
  return {{"deflate", [](std::string_view d) { return Deflate(d, 6); }, Inflate},
          {"zstd", [](std::string_view d) { return ZstdCompress(d, 3); }, ZstdDecompress},
          {"snappy", SnappyCompress, SnappyDecompress}};
}

std::vector<std::string> Samples() {
  std::mt19937 random(1);
  std::string noise(300'000, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  return {"", "a", std::string(5'000'000, 'x'), noise, std::string(64 * 1024, 'y')};
}

TEST(Compression, GivesBackWhatWasCompressed) {
  for (const Codec& codec : Codecs()) {
    for (const std::string& sample : Samples()) {
      const auto back = codec.decompress(codec.compress(sample), kMax);
      ASSERT_TRUE(back.ok()) << codec.name << " " << back.status();
      EXPECT_TRUE(*back == sample) << codec.name;
    }
  }
}

TEST(Compression, AResultOfExactlyTheLimitIsAllowedAndOneByteMoreIsNot) {
  const std::string sample(200'000, 'x');
  for (const Codec& codec : Codecs()) {
    const std::string packed = codec.compress(sample);
    EXPECT_TRUE(codec.decompress(packed, sample.size()).ok()) << codec.name;
    EXPECT_EQ(codec.decompress(packed, sample.size() - 1).status().code(),
              absl::StatusCode::kDataLoss)
        << codec.name;
  }
}

TEST(Compression, EveryTruncationIsDataLoss) {
  std::string sample;
  for (int i = 0; i < 200; ++i) sample += std::to_string(i * i);
  for (const Codec& codec : Codecs()) {
    const std::string packed = codec.compress(sample);
    for (size_t size = 0; size < packed.size(); ++size) {
      const auto back = codec.decompress(std::string_view(packed).substr(0, size), kMax);
      EXPECT_EQ(back.status().code(), absl::StatusCode::kDataLoss) << codec.name << " " << size;
    }
  }
}

TEST(Compression, RandomDamageNeverCrashes) {
  std::mt19937 random(2);
  const std::string sample(10'000, 'z');
  for (const Codec& codec : Codecs()) {
    const std::string packed = codec.compress(sample + codec.name);
    for (int round = 0; round < 500; ++round) {
      std::string damaged = packed;
      damaged[random() % damaged.size()] = static_cast<char>(random());
      (void)codec.decompress(damaged, kMax);  // any answer is right, a crash is not
    }
  }
}

TEST(Compression, BytesBehindADeflateStreamAreIgnored) {
  EXPECT_EQ(*Inflate(Deflate("abc", 6) + "!", kMax), "abc");
}

TEST(Compression, AnEnormousSnappyLengthIsRefusedBeforeMemoryIsTaken) {
  EXPECT_EQ(SnappyDecompress("\xff\xff\xff\x7f\x00", size_t{1} << 40).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST(Compression, Crc32IsTheOneOfZlib) { EXPECT_EQ(Crc32("123456789"), 0xcbf43926u); }

}  // namespace
}  // namespace fjord
