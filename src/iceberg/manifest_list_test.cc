#include "iceberg/manifest_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "avro/container_reader.h"
#include "base/status.h"
#include "iceberg/manifest_schemas.h"
#include "iceberg/manifest_test_support.h"

namespace fjord {
namespace {

using ::testing::HasSubstr;

ManifestListContext Context() {
  return {.snapshot_id = SnapshotId(7001),
          .parent_snapshot_id = SnapshotId(6001),
          .sequence_number = SequenceNumber(12)};
}

// The rows of manifest-list-v2.avro before the commit (tests/data/make_iceberg_fixtures.py).
std::vector<ManifestFile> FixtureRows() {
  ManifestFile added{.manifest_path = "s3://bucket/table/metadata/a-m0.avro",
                     .manifest_length = 5001,
                     .added_snapshot_id = SnapshotId(7001),
                     .added_files_count = 2,
                     .added_rows_count = 300};
  ManifestFile deletes{.manifest_path = "s3://bucket/table/metadata/a-m1.avro",
                       .manifest_length = 5002,
                       .content = ManifestContent::kDeletes,
                       .min_sequence_number = SequenceNumber(3),
                       .added_snapshot_id = SnapshotId(7001),
                       .added_files_count = 1,
                       .existing_files_count = 2,
                       .deleted_files_count = 3,
                       .added_rows_count = 4,
                       .existing_rows_count = 5,
                       .deleted_rows_count = 6};
  ManifestFile kept{.manifest_path = "s3://bucket/table/metadata/old-m0.avro",
                    .manifest_length = int64_t{1} << 33,
                    .partition_spec_id = SpecId(1),
                    .sequence_number = SequenceNumber(4),
                    .min_sequence_number = SequenceNumber(1),
                    .added_snapshot_id = SnapshotId(6001),
                    .existing_files_count = 7,
                    .existing_rows_count = int64_t{1} << 40,
                    .partitions = {{.contains_null = true},
                                   {.contains_nan = false,
                                    .lower_bound = std::string("\1\0\0\0", 4),
                                    .upper_bound = std::string("\x09\0\0\0", 4)}},
                    .key_metadata = "\1\2"};
  return {added, deletes, kept};
}

TEST(ManifestListRead, FilesOfPyIcebergReadAsPyIcebergReadsThem) {
  for (const std::string name : {"manifest-list-v2", "manifest-list-v2-deflate",
                                 "manifest-list-v2-empty", "manifest-list-v1"}) {
    const auto rows = DecodeManifestList(ReadFileForTest(FixturePath(name + ".avro")));
    ASSERT_TRUE(rows.ok()) << name << " " << rows.status();
    EXPECT_EQ(ManifestsJson(*rows).DumpPretty(), FixtureJson(name + ".json").DumpPretty()) << name;
  }
}

TEST(ManifestListWrite, IsTheFileThatPyIcebergWritesButForTheSchemaText) {
  const std::string theirs = ReadFileForTest(FixturePath("manifest-list-v2-deflate.avro"));
  const auto ours = EncodeManifestList(Context(), FixtureRows());
  ASSERT_TRUE(ours.ok()) << ours.status();
  auto their_reader = AvroContainerReader::Open(theirs);
  auto our_reader = AvroContainerReader::Open(*ours);
  ASSERT_TRUE(our_reader.ok());
  auto their_metadata = their_reader->metadata();
  auto our_metadata = our_reader->metadata();
  EXPECT_EQ(NormalSchema(*Json::Parse(our_metadata["avro.schema"])).DumpPretty(),
            NormalSchema(*Json::Parse(their_metadata["avro.schema"])).DumpPretty());
  their_metadata.erase("avro.schema");
  our_metadata.erase("avro.schema");
  EXPECT_EQ(our_metadata, their_metadata);
  EXPECT_EQ(Hex(RawAvroValues(*ours)), Hex(RawAvroValues(theirs)));
}

TEST(ManifestListWrite, PyIcebergReadsWhatWeWrite) {
  const auto ours = EncodeManifestList(Context(), FixtureRows());
  ASSERT_TRUE(ours.ok());
  const Json read = ReadWithPyIceberg("manifest-list", *ours);
  ASSERT_TRUE(read.is_object());
  EXPECT_EQ(read.Find("rows")->DumpPretty(), FixtureJson("manifest-list-v2.json").DumpPretty());
  EXPECT_EQ(*read.Find("metadata")->GetString("avro.schema"), kManifestListSchemaV2);
}

TEST(ManifestListWrite, AnEmptyListOfAFirstSnapshot) {
  ManifestListContext context = Context();
  context.parent_snapshot_id.reset();
  const auto ours = EncodeManifestList(context, {});
  ASSERT_TRUE(ours.ok());
  EXPECT_EQ(AvroContainerReader::Open(*ours)->metadata().at("parent-snapshot-id"), "null");
  EXPECT_TRUE(DecodeManifestList(*ours)->empty());
  EXPECT_EQ(ReadWithPyIceberg("manifest-list", *ours).Find("rows")->Dump(), "[]");
}

TEST(ManifestListWrite, TheSchemaTextHasJavasForm) {
  const std::string text(kManifestListSchemaV2);
  EXPECT_EQ(text, Json::Parse(text)->Dump());
  EXPECT_THAT(text, HasSubstr(R"({"name":"content","type":"int","field-id":517})"));
  EXPECT_THAT(text, HasSubstr(R"("name":"r508")"));
  EXPECT_THAT(text, HasSubstr(R"(]},"element-id":508}],"default":null,"field-id":507})"));
}

TEST(ManifestListWrite, OnlyTheCommitsOwnManifestsGetItsSequenceNumber) {
  std::vector<ManifestFile> rows = FixtureRows();
  const auto written = DecodeManifestList(*EncodeManifestList(Context(), rows));
  EXPECT_EQ((*written)[0].sequence_number, SequenceNumber(12));
  EXPECT_EQ((*written)[0].min_sequence_number, SequenceNumber(12));
  EXPECT_EQ((*written)[1].sequence_number, SequenceNumber(12));
  EXPECT_EQ((*written)[1].min_sequence_number, SequenceNumber(3));
  EXPECT_EQ((*written)[2], rows[2]);
  rows[0].added_snapshot_id = SnapshotId(6001);
  EXPECT_EQ(EncodeManifestList(Context(), rows).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(ManifestListWrite, WrongRowsAreRefused) {
  struct Case {
    const char* reason;
    void (*spoil)(ManifestListContext&, ManifestFile&);
  };
  const Case cases[] = {
      {"no path", [](auto&, auto& m) { m.manifest_path.clear(); }},
      {"length", [](auto&, auto& m) { m.manifest_length = 0; }},
      {"negative", [](auto&, auto& m) { m.added_rows_count = -1; }},
      {"sequence numbers", [](auto&, auto& m) { m.min_sequence_number = SequenceNumber(13); }},
      {"format version 3", [](auto&, auto& m) { m.first_row_id = 0; }},
      {"only 2", [](auto& c, auto&) { c.format_version = 1; }},
      {"sequence number", [](auto& c, auto&) { c.sequence_number = SequenceNumber(0); }},
  };
  for (const Case& spoiled : cases) {
    ManifestListContext context = Context();
    ManifestFile row = FixtureRows()[0];
    spoiled.spoil(context, row);
    const auto result = EncodeManifestList(context, {&row, 1});
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument) << spoiled.reason;
    EXPECT_THAT(std::string(Message(result.status())), HasSubstr(spoiled.reason));
  }
}

TEST(ManifestListRead, DamagedFilesNeverCrash) {
  std::mt19937 random(6);
  for (const std::string name : {"manifest-list-v2", "manifest-list-v2-deflate"}) {
    const std::string good = ReadFileForTest(FixturePath(name + ".avro"));
    for (int round = 0; round < 2000; ++round) {
      std::string damaged = good;
      damaged[random() % damaged.size()] = static_cast<char>(random());
      const auto rows = DecodeManifestList(damaged);
      if (!rows.ok()) {
        EXPECT_EQ(rows.status().code(), absl::StatusCode::kDataLoss);
      }
    }
  }
}

}  // namespace
}  // namespace fjord
