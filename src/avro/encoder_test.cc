#include "avro/encoder.h"

#include <gtest/gtest.h>

#include <limits>

#include "avro/datum_decoder.h"
#include "base/digest.h"

namespace fjord {
namespace {

std::string LongBytes(int64_t v) {
  std::string out;
  PutAvroLong(out, v);
  return out;
}

TEST(AvroEncoder, LongsAreZigzagVarints) {
  // The first seven are the table of the Avro specification.
  EXPECT_EQ(Hex(LongBytes(0)), "00");
  EXPECT_EQ(Hex(LongBytes(-1)), "01");
  EXPECT_EQ(Hex(LongBytes(1)), "02");
  EXPECT_EQ(Hex(LongBytes(-2)), "03");
  EXPECT_EQ(Hex(LongBytes(2)), "04");
  EXPECT_EQ(Hex(LongBytes(-64)), "7f");
  EXPECT_EQ(Hex(LongBytes(64)), "8001");
  EXPECT_EQ(Hex(LongBytes(std::numeric_limits<int64_t>::max())), "feffffffffffffffff01");
  EXPECT_EQ(Hex(LongBytes(std::numeric_limits<int64_t>::min())), "ffffffffffffffffff01");
}

TEST(AvroEncoder, LongsOfEveryLengthComeBack) {
  for (int shift = 0; shift < 64; ++shift) {
    for (const int64_t sign : {1, -1}) {
      const int64_t v = sign * static_cast<int64_t>(uint64_t{1} << shift);
      const std::string bytes = LongBytes(v);
      ByteReader in(bytes);
      EXPECT_EQ(*ReadAvroLong(in), v);
      EXPECT_TRUE(in.empty());
    }
  }
}

TEST(AvroEncoder, ScalarsHaveTheBytesOfTheSpecification) {
  std::string out;
  PutAvroBytes(out, "foo");
  PutAvroBoolean(out, true);
  PutAvroBoolean(out, false);
  PutAvroFloat(out, 1.5f);
  PutAvroDouble(out, -2.25);
  PutAvroFixed(out, "xy");
  PutAvroBranch(out, 1);
  EXPECT_EQ(Hex(out),
            "06666f6f"
            "01"
            "00"
            "0000c03f"
            "00000000000002c0"
            "7879"
            "02");
}

TEST(AvroEncoder, AnEmptyArrayIsItsEndAlone) {
  std::string out;
  PutAvroBlock(out, 0);
  PutAvroEnd(out);
  EXPECT_EQ(Hex(out), "00");
}

}  // namespace
}  // namespace fjord
