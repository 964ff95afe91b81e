// Writer and reader against each other, and the reader against wrong bytes. (Files made
// by others: src/iceberg's tests.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "avro/container_reader.h"
#include "avro/container_writer.h"
#include "avro/encoder.h"
#include "base/compression.h"
#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

using ::testing::HasSubstr;

constexpr std::array<char, 16> kSync = {'s', 'y', 'n', 'c', 's', 'y', 'n', 'c',
                                        's', 'y', 'n', 'c', 's', 'y', 'n', 'c'};

std::string File(std::string_view schema, const std::vector<std::string>& data,
                 AvroCodec codec = AvroCodec::kNull) {
  AvroContainerWriter writer(schema, {}, {.codec = codec, .sync_marker = kSync});
  for (const std::string& datum : data) writer.Append(datum);
  return std::move(writer).Finish();
}

// A file whose only block is stored as given.
std::string FileOfBlock(std::string_view schema, std::string_view codec, int64_t count,
                        std::string_view stored) {
  std::string file("Obj\1", 4);
  PutAvroBlock(file, 2);
  PutAvroBytes(file, "avro.schema");
  PutAvroBytes(file, schema);
  PutAvroBytes(file, "avro.codec");
  PutAvroBytes(file, codec);
  PutAvroEnd(file);
  file.append(kSync.data(), kSync.size());
  PutAvroLong(file, count);
  PutAvroBytes(file, stored);
  file.append(kSync.data(), kSync.size());
  return file;
}

// Reads a whole file; the number of values.
absl::StatusOr<size_t> ReadAll(std::string_view file, const AvroReaderLimits& limits = {}) {
  ASSIGN_OR_RETURN(AvroContainerReader reader, AvroContainerReader::Open(file, limits));
  size_t count = 0;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<AvroValue> value, reader.Next());
    if (!value) return count;
    ++count;
  }
}

void ExpectLoss(std::string_view file, std::string_view reason,
                const AvroReaderLimits& limits = {}) {
  const auto result = ReadAll(file, limits);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kDataLoss) << reason;
  EXPECT_THAT(std::string(Message(result.status())), HasSubstr(std::string(reason)));
}

TEST(AvroContainer, HasTheLayoutOfTheSpecification) {
  std::string one;
  PutAvroLong(one, 1);
  AvroContainerWriter writer(R"("long")", {{"k", "v"}},
                             {.codec = AvroCodec::kNull, .sync_marker = kSync});
  writer.Append(one);
  const std::string sync(kSync.data(), kSync.size());
  EXPECT_EQ(std::move(writer).Finish(),
            "Obj\1\x06"
            "\x16"
            "avro.schema"
            "\x0c"
            "\"long\""
            "\x14"
            "avro.codec"
            "\x08"
            "null"
            "\x02"
            "k"
            "\x02"
            "v" +
                std::string(1, '\0') + sync + "\x02\x02\x02" + sync);
}

TEST(AvroContainer, AFileWithoutValuesIsAHeader) { EXPECT_EQ(*ReadAll(File(R"("long")", {})), 0u); }

constexpr std::string_view kEveryType = R"({"type":"record","name":"r","fields":[
    {"name":"n","type":"null","field-id":1},
    {"name":"b","type":"boolean","field-id":2},
    {"name":"i","type":"int","field-id":3},
    {"name":"l","type":"long","field-id":4},
    {"name":"f","type":"float","field-id":5},
    {"name":"d","type":"double","field-id":6},
    {"name":"y","type":"bytes","field-id":7},
    {"name":"s","type":"string","field-id":8},
    {"name":"x","type":{"type":"fixed","name":"three","size":3},"field-id":9},
    {"name":"e","type":{"type":"enum","name":"en","symbols":["P","Q"]},"field-id":10},
    {"name":"a","type":{"type":"array","items":"three"},"field-id":11},
    {"name":"m","type":{"type":"map","values":"int"},"field-id":12},
    {"name":"u","type":["null","string"],"field-id":13},
    {"name":"v","type":["string","null"],"field-id":14},
    {"name":"c","type":["null","r"],"field-id":15}]})";

std::string EveryType(int depth) {
  std::string out;
  PutAvroBoolean(out, true);
  PutAvroLong(out, -5);
  PutAvroLong(out, int64_t{1} << 40);
  PutAvroFloat(out, 0.5f);
  PutAvroDouble(out, 0.25);
  PutAvroBytes(out, std::string("\0\xff", 2));
  PutAvroBytes(out, "text");
  PutAvroFixed(out, "abc");
  PutAvroLong(out, 1);
  // Two blocks, the second with a negative count and its size in bytes.
  PutAvroLong(out, 1);
  PutAvroFixed(out, "def");
  PutAvroLong(out, -2);
  PutAvroLong(out, 6);
  PutAvroFixed(out, "ghijkl");
  PutAvroEnd(out);
  PutAvroBlock(out, 1);
  PutAvroBytes(out, "key");
  PutAvroLong(out, 9);
  PutAvroEnd(out);
  PutAvroBranch(out, 1);
  PutAvroBytes(out, "some");
  PutAvroBranch(out, 1);
  PutAvroBranch(out, depth > 0 ? 1 : 0);
  if (depth > 0) out += EveryType(depth - 1);
  return out;
}

TEST(AvroContainer, ReadsEveryType) {
  for (const AvroCodec codec : {AvroCodec::kNull, AvroCodec::kDeflate}) {
    const std::string file = File(kEveryType, {EveryType(1)}, codec);
    auto reader = AvroContainerReader::Open(file);
    ASSERT_TRUE(reader.ok()) << reader.status();
    const auto next = reader->Next();
    ASSERT_TRUE(next.ok()) << next.status();
    const AvroValue& value = next->value();
    EXPECT_TRUE(value.FindField(1)->is_null());
    EXPECT_EQ(*value.FindField(2)->boolean(), true);
    EXPECT_EQ(*value.FindField(3)->integer(), -5);
    EXPECT_EQ(*value.FindField(4)->integer(), int64_t{1} << 40);
    EXPECT_EQ(std::get<float>(value.FindField(5)->value), 0.5f);
    EXPECT_EQ(std::get<double>(value.FindField(6)->value), 0.25);
    EXPECT_EQ(*value.FindField(7)->bytes(), std::string("\0\xff", 2));
    EXPECT_EQ(*value.FindField(8)->bytes(), "text");
    EXPECT_EQ(*value.FindField(9)->bytes(), "abc");
    EXPECT_EQ(*value.FindField(10)->bytes(), "Q");
    ASSERT_EQ(value.FindField(11)->items()->size(), 3u);
    EXPECT_EQ(*value.FindField(11)->items()->at(2).bytes(), "jkl");
    ASSERT_EQ(value.FindField(12)->pairs()->size(), 1u);
    EXPECT_EQ(value.FindField(12)->pairs()->at(0).key, "key");
    EXPECT_EQ(*value.FindField(13)->bytes(), "some");
    EXPECT_TRUE(value.FindField(14)->is_null());
    EXPECT_EQ(*value.FindField(15)->FindField(8)->bytes(), "text");
    EXPECT_TRUE(value.FindField(15)->FindField(15)->is_null());
    EXPECT_EQ(value.FindField(99), nullptr);
    EXPECT_FALSE(reader->Next()->has_value());
  }
}

TEST(AvroContainer, ValuesAreSpreadOverBlocks) {
  AvroContainerWriter writer(R"("long")", {}, {.block_bytes = 100});
  for (int i = 0; i < 10'000; ++i) {
    std::string datum;
    PutAvroLong(datum, i);
    writer.Append(datum);
  }
  const std::string file = std::move(writer).Finish();
  auto reader = AvroContainerReader::Open(file);
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(*(*reader->Next())->integer(), i);
  EXPECT_FALSE(reader->Next()->has_value());
}

TEST(AvroContainer, ReadsTheCodecsOfOthers) {
  std::string two;
  PutAvroBytes(two, std::string(1000, 'a'));
  PutAvroBytes(two, "b");
  std::string snappy = SnappyCompress(two);
  PutBig32(snappy, Crc32(two));
  EXPECT_EQ(*ReadAll(FileOfBlock(R"("string")", "snappy", 2, snappy)), 2u);
  EXPECT_EQ(*ReadAll(FileOfBlock(R"("string")", "zstandard", 2, ZstdCompress(two, 3))), 2u);
  snappy.back() ^= 1;
  ExpectLoss(FileOfBlock(R"("string")", "snappy", 2, snappy), "checksum");
  ExpectLoss(FileOfBlock(R"("string")", "snappy", 2, "abc"), "no checksum");
  ExpectLoss(FileOfBlock(R"("string")", "bzip2", 2, ""), "codec bzip2 is not known");
}

TEST(AvroContainer, WrongBytesAreDataLossWithTheReason) {
  const std::string good = File(R"("long")", {std::string(1, '\2')});
  ExpectLoss("", "too early");
  ExpectLoss("PAR1 something", "does not begin");
  std::string bad_sync = good;
  bad_sync.back() ^= 1;
  ExpectLoss(bad_sync, "sync marker");
  ExpectLoss(good + "x", "too early");
  ExpectLoss(FileOfBlock(R"("long")", "null", 1, "\2\2"), "left over");
  ExpectLoss(FileOfBlock(R"("long")", "null", 2, "\2\x80"), "too early");
  ExpectLoss(FileOfBlock(R"("long")", "null", -1, "\2"), "claims -1 values");
  ExpectLoss(FileOfBlock(R"("long")", "null", 1'000'000, "\2"), "claims 1000000 values");
  ExpectLoss(FileOfBlock(R"("boolean")", "null", 1, "\2"), "neither 0 nor 1");
  ExpectLoss(FileOfBlock(R"("bytes")", "null", 1, "\1"), "negative");
  ExpectLoss(FileOfBlock(R"("bytes")", "null", 1, "\4a"), "too early");
  ExpectLoss(FileOfBlock(R"("int")", "null", 1, "\x80\x80\x80\x80\x10"), "32 bits");
  ExpectLoss(FileOfBlock(R"(["null","int"])", "null", 1, "\4"), "branch 2");
  ExpectLoss(FileOfBlock(R"({"type":"enum","name":"e","symbols":["A"]})", "null", 1, "\2"),
             "symbol 1");
  ExpectLoss(FileOfBlock(R"("nonsense")", "null", 1, "\2"), "no type is named");
}

TEST(AvroContainer, AnErrorStays) {
  const std::string file = FileOfBlock(R"("boolean")", "null", 2, "\2\1");
  auto reader = AvroContainerReader::Open(file);
  ASSERT_TRUE(reader.ok());
  const auto first = reader->Next();
  EXPECT_FALSE(first.ok());
  EXPECT_EQ(reader->Next().status(), first.status());
}

TEST(AvroContainer, BoundsHold) {
  constexpr std::string_view kArray = R"({"type":"array","items":"null"})";
  std::string endless;  // a thousand million nulls in six bytes
  PutAvroLong(endless, 1'000'000'000);
  PutAvroEnd(endless);
  ExpectLoss(FileOfBlock(kArray, "null", 1, endless), "more than 1000 values",
             {.values_per_datum_max = 1000});

  std::string hundred;
  PutAvroLong(hundred, 100);
  PutAvroEnd(hundred);
  const std::string many = File(kArray, std::vector<std::string>(50, hundred));
  EXPECT_EQ(*ReadAll(many), 50u);
  ExpectLoss(many, "values", {.values_per_file_max = 2000});

  constexpr std::string_view kList =
      R"({"type":"record","name":"l","fields":[{"name":"n","type":["null","l"]}]})";
  ExpectLoss(File(kList, {std::string(1000, '\2') + '\0'}), "deeper");

  const std::string bomb = Deflate(std::string(2 << 20, '\0'), 9);
  ExpectLoss(FileOfBlock(R"("long")", "deflate", 1, bomb), "expand", {.block_bytes_max = 1 << 20});
  ExpectLoss(File(kEveryType, {}), "larger than 100", {.schema_bytes_max = 100});
}

TEST(AvroContainer, EveryTruncationIsDataLossUnlessItEndsABlock) {
  const std::string file = File(kEveryType, {EveryType(2)}, AvroCodec::kDeflate);
  const std::string header = File(kEveryType, {}, AvroCodec::kDeflate);
  for (size_t size = 0; size < file.size(); ++size) {
    const auto result = ReadAll(std::string_view(file).substr(0, size));
    EXPECT_EQ(result.ok(), size == header.size()) << size;
  }
}

TEST(AvroContainer, RandomDamageNeverCrashes) {
  std::mt19937 random(7);
  const AvroReaderLimits limits = {
      .block_bytes_max = 1 << 20, .values_per_datum_max = 10'000, .values_per_file_max = 100'000};
  for (const AvroCodec codec : {AvroCodec::kNull, AvroCodec::kDeflate}) {
    const std::string file = File(kEveryType, {EveryType(2), EveryType(0)}, codec);
    for (int round = 0; round < 3000; ++round) {
      std::string damaged = file;
      const int changes = 1 + static_cast<int>(random() % 4);
      for (int i = 0; i < changes; ++i) {
        damaged[random() % damaged.size()] = static_cast<char>(random());
      }
      const auto result = ReadAll(damaged, limits);
      if (!result.ok()) {
        EXPECT_EQ(result.status().code(), absl::StatusCode::kDataLoss);
      }
    }
  }
}

}  // namespace
}  // namespace fjord
