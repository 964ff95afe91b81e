#include "lake/watermark.h"

#include <gtest/gtest.h>

namespace fjord {
namespace {

using absl::StatusCode;

TEST(OwnSnapshot, ComesBackFromItsSummary) {
  const OwnSnapshot own{.base_lsn = Lsn(0x10),
                        .watermark = {TimelineId(4'000'000'000), Lsn(0xFFFFFFFF00000001)},
                        .source = "7/a database/slot",
                        .operation = "id"};
  std::map<std::string, std::string> summary = OwnSummaryKeys(own);
  EXPECT_EQ(summary.at("fjord.lsn"), "FFFFFFFF/1");
  summary["operation"] = "append";
  const auto parsed = ParseOwnSnapshot(summary);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ASSERT_TRUE(parsed->has_value());
  EXPECT_EQ((*parsed)->base_lsn, own.base_lsn);
  EXPECT_EQ((*parsed)->watermark, own.watermark);
  EXPECT_EQ((*parsed)->source, own.source);
  EXPECT_EQ((*parsed)->operation, own.operation);
}

TEST(OwnSnapshot, SummaryOfAnotherEngineIsNotOurs) {
  const auto parsed = ParseOwnSnapshot({{"operation", "append"}, {"total-records", "3"}});
  ASSERT_TRUE(parsed.ok());
  EXPECT_FALSE(parsed->has_value());
}

TEST(MirroredWatermark, ComesBackFromItsProperty) {
  const MirroredWatermark mirrored{
      {TimelineId(3), Lsn(0x1600000000)}, SnapshotId(INT64_MAX), SequenceNumber(12)};
  const auto parsed = ParseMirroredWatermark(FormatMirroredWatermark(mirrored));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->watermark, mirrored.watermark);
  EXPECT_EQ(parsed->snapshot_id, mirrored.snapshot_id);
  EXPECT_EQ(parsed->sequence_number, mirrored.sequence_number);
}

TEST(MirroredWatermark, DamageIsDataLossAndNamesTheProperty) {
  for (const char* text :
       {"", "{", "[]", R"({"timeline":1})",
        R"({"timeline":"1","lsn":"0/1","snapshot-id":1,"sequence-number":1})",
        R"({"timeline":-1,"lsn":"0/1","snapshot-id":1,"sequence-number":1})",
        R"({"timeline":4294967296,"lsn":"0/1","snapshot-id":1,"sequence-number":1})",
        R"({"timeline":1,"lsn":"here","snapshot-id":1,"sequence-number":1})"}) {
    const absl::Status status = ParseMirroredWatermark(text).status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss) << text << ' ' << status;
    EXPECT_NE(status.message().find("fjord.watermark"), absl::string_view::npos) << status;
  }
}

}  // namespace
}  // namespace fjord
