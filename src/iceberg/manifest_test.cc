#include "iceberg/manifest.h"

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

constexpr SnapshotId kSnapshot{7001};

// The row that fixtures and checks inherit from; the numbers of tests/data/iceberg_json.py.
ManifestFile Row(ManifestContent content = ManifestContent::kData) {
  ManifestFile row;
  row.manifest_path = "s3://bucket/table/metadata/m0.avro";
  row.content = content;
  row.sequence_number = SequenceNumber(12);
  row.added_snapshot_id = kSnapshot;
  return row;
}

ManifestContext Context(ManifestContent content = ManifestContent::kData) {
  return {.snapshot_id = kSnapshot,
          .schema_json = R"({"type":"struct","schema-id":3,"fields":[]})",
          .schema_id = SchemaId(3),
          .content = content};
}

DataFile File(int number) {
  DataFile file;
  file.file_path = StrCat("s3://bucket/table/data/0000", number, ".parquet");
  file.record_count = 100 * number;
  file.file_size_in_bytes = 100'000 + number;
  return file;
}

// The entries of manifest-v2.avro (tests/data/make_iceberg_fixtures.py).
std::vector<ManifestEntry> FixtureEntries() {
  DataFile full = File(1);
  full.column_sizes = {{1, 400}, {2, 2'000'000'000'000}, {3, 0}};
  full.value_counts = {{1, 100}, {2, 100}, {3, 100}};
  full.null_value_counts = {{1, 0}, {2, 7}, {3, 100}};
  full.nan_value_counts = {{3, 2}};
  full.lower_bounds = {{1, std::string("\1\0\0\0\0\0\0\0", 8)},
                       {2, "\u00c4rger"},
                       {3, std::string("\0\0\0\0\0\0\0\x80", 8)}};
  full.upper_bounds = {{1, "\xff\xff\xff\xff\xff\xff\xff\x7f"}, {2, "\U0001f600"}, {3, ""}};
  full.key_metadata = std::string("\0key", 4);
  full.split_offsets = {4, 50'000, 90'000};
  full.sort_order_id = 0;
  return {
      {.status = EntryStatus::kAdded, .file = full},
      {.status = EntryStatus::kAdded, .file = File(2)},
      {.status = EntryStatus::kAdded, .sequence_number = SequenceNumber(5), .file = File(3)},
      {EntryStatus::kExisting, SnapshotId(6001), SequenceNumber(3), SequenceNumber(4), File(4)},
      {EntryStatus::kDeleted, kSnapshot, SequenceNumber(2), SequenceNumber(2), File(5)},
  };
}

std::vector<ManifestEntry> DeleteEntries() {
  DataFile position = File(6);
  position.content = FileContent::kPositionDeletes;
  position.lower_bounds = {{2147483546, "s3://bucket/table/data/00001.parquet"}};
  position.upper_bounds = position.lower_bounds;
  DataFile equality = File(7);
  equality.content = FileContent::kEqualityDeletes;
  equality.equality_ids = {1, 2};
  equality.sort_order_id = 0;
  return {
      {.status = EntryStatus::kAdded, .file = position},
      {EntryStatus::kExisting, SnapshotId(6001), SequenceNumber(3), SequenceNumber(3), equality}};
}

TEST(ManifestRead, FilesOfPyIcebergReadAsPyIcebergReadsThem) {
  for (const std::string name : {"manifest-v2", "manifest-v2-deflate", "manifest-v2-snappy",
                                 "manifest-v2-zstandard", "manifest-v2-partitioned"}) {
    const auto entries = DecodeManifest(ReadFileForTest(FixturePath(name + ".avro")), Row());
    ASSERT_TRUE(entries.ok()) << name << " " << entries.status();
    EXPECT_EQ(EntriesJson(*entries).DumpPretty(), FixtureJson(name + ".json").DumpPretty()) << name;
  }
}

TEST(ManifestRead, DeleteManifestOfPyIceberg) {
  const std::string bytes = ReadFileForTest(FixturePath("manifest-v2-deletes.avro"));
  const auto entries = DecodeManifest(bytes, Row(ManifestContent::kDeletes));
  ASSERT_TRUE(entries.ok()) << entries.status();
  EXPECT_EQ(EntriesJson(*entries).DumpPretty(),
            FixtureJson("manifest-v2-deletes.json").DumpPretty());
  EXPECT_EQ(DecodeManifest(bytes, Row()).status().code(), absl::StatusCode::kDataLoss);
}

TEST(ManifestRead, Version1HasSequenceNumberZero) {
  ManifestFile row = Row();
  row.sequence_number = SequenceNumber(0);
  const auto entries = DecodeManifest(ReadFileForTest(FixturePath("manifest-v1.avro")), row);
  ASSERT_TRUE(entries.ok()) << entries.status();
  EXPECT_EQ(EntriesJson(*entries).DumpPretty(), FixtureJson("manifest-v1.json").DumpPretty());
}

TEST(ManifestRead, ExistingEntriesInheritNothing) {
  // The same manifest below a row of version 2: its EXISTING entry lacks the number.
  const auto entries = DecodeManifest(ReadFileForTest(FixturePath("manifest-v1.avro")), Row());
  EXPECT_EQ(entries.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(Message(entries.status())), HasSubstr("not ADDED"));
}

TEST(ManifestRead, AnUncommittedManifestKeepsItsNumbersAbsent) {
  const auto encoded = EncodeManifest(Context(), FixtureEntries());
  ASSERT_TRUE(encoded.ok());
  std::vector<ManifestEntry> expected = FixtureEntries();
  for (ManifestEntry& entry : expected) entry.snapshot_id = entry.snapshot_id.value_or(kSnapshot);
  EXPECT_EQ(*DecodeManifest(encoded->bytes, encoded->file), expected);
}

TEST(ManifestWrite, ValuesAreTheBytesThatPyIcebergWrites) {
  // PyIceberg's version 2 lacks field 143, the last one: compared without it, one entry at a time.
  const std::string theirs = RawAvroValues(ReadFileForTest(FixturePath("manifest-v2.avro")));
  std::string ours;
  for (const ManifestEntry& entry : FixtureEntries()) {
    const auto encoded = EncodeManifest(Context(), {&entry, 1});
    ASSERT_TRUE(encoded.ok()) << encoded.status();
    std::string value = RawAvroValues(encoded->bytes);
    EXPECT_EQ(value.back(), '\0');
    value.pop_back();
    ours += value;
  }
  EXPECT_EQ(Hex(ours), Hex(theirs));
}

TEST(ManifestWrite, TheSchemaIsPyIcebergsWithReferencedDataFile) {
  const std::string theirs = ReadFileForTest(FixturePath("manifest-v2.avro"));
  const auto reader = AvroContainerReader::Open(theirs);
  Json expected = *Json::Parse(reader->metadata().at("avro.schema"));
  Json& data_file = expected.Find("fields")->array().back();
  data_file.Find("type")->Find("fields")->Push(*Json::Parse(
      R"({"name":"referenced_data_file","type":["null","string"],"default":null,"field-id":143})"));
  // PyIceberg has long items in equality_ids, the specification and Java have int.
  for (Json& field : data_file.Find("type")->Find("fields")->array()) {
    if (field.Find("field-id")->as_int() == 135) {
      field.Find("type")->array()[1].Set("items", "int");
    }
  }
  EXPECT_EQ(NormalSchema(*Json::Parse(kManifestSchemaV2)).DumpPretty(),
            NormalSchema(expected).DumpPretty());
}

TEST(ManifestWrite, TheSchemaTextHasJavasForm) {
  const std::string text(kManifestSchemaV2);
  EXPECT_EQ(text, Json::Parse(text)->Dump());  // compact
  // Name, type, default, id; null first; primitives bare; maps as arrays without element-id.
  EXPECT_THAT(text, HasSubstr(R"({"name":"snapshot_id","type":["null","long"],"default":null,)"
                              R"("field-id":1})"));
  EXPECT_THAT(text, HasSubstr(R"({"name":"partition","type":{"type":"record","name":"r102",)"
                              R"("fields":[]},"field-id":102})"));
  EXPECT_THAT(text,
              HasSubstr(R"({"name":"upper_bounds","type":["null",{"type":"array","items":{)"
                        R"("type":"record","name":"k129_v130","fields":[)"
                        R"({"name":"key","type":"int","field-id":129},)"
                        R"({"name":"value","type":"bytes","field-id":130}]},"logicalType":"map"}],)"
                        R"("default":null,"field-id":128})"));
  EXPECT_THAT(text, HasSubstr(R"({"type":"array","items":"long","element-id":133})"));
  EXPECT_EQ(text.find("{\"type\":\"int\"}"), std::string::npos);
}

TEST(ManifestWrite, PyIcebergReadsWhatWeWrite) {
  for (const ManifestContent content : {ManifestContent::kData, ManifestContent::kDeletes}) {
    const bool is_data = content == ManifestContent::kData;
    const auto entries = is_data ? FixtureEntries() : DeleteEntries();
    const auto encoded = EncodeManifest(Context(content), entries);
    ASSERT_TRUE(encoded.ok()) << encoded.status();
    const Json read = ReadWithPyIceberg(is_data ? "manifest" : "manifest-deletes", encoded->bytes);
    ASSERT_TRUE(read.is_object());
    EXPECT_EQ(read.Find("rows")->DumpPretty(),
              FixtureJson(is_data ? "manifest-v2.json" : "manifest-v2-deletes.json").DumpPretty());
    const Json& metadata = *read.Find("metadata");
    EXPECT_EQ(*metadata.GetString("avro.schema"), kManifestSchemaV2);
    EXPECT_EQ(*metadata.GetString("avro.codec"), "deflate");
    EXPECT_EQ(*metadata.GetString("schema"), Context().schema_json);
    EXPECT_EQ(*metadata.GetString("schema-id"), "3");
    EXPECT_EQ(*metadata.GetString("partition-spec"), "[]");
    EXPECT_EQ(*metadata.GetString("partition-spec-id"), "0");
    EXPECT_EQ(*metadata.GetString("format-version"), "2");
    EXPECT_EQ(*metadata.GetString("content"), is_data ? "data" : "deletes");
  }
}

TEST(ManifestWrite, ReferencedDataFileComesBack) {
  std::vector<ManifestEntry> entries = DeleteEntries();
  entries[0].file.referenced_data_file = "s3://bucket/table/data/00001.parquet";
  const auto encoded = EncodeManifest(Context(ManifestContent::kDeletes), entries);
  ASSERT_TRUE(encoded.ok());
  const auto back = DecodeManifest(encoded->bytes, Row(ManifestContent::kDeletes));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ((*back)[0].file, entries[0].file);
  EXPECT_TRUE(ReadWithPyIceberg("manifest-deletes", encoded->bytes).is_object());
}

TEST(ManifestWrite, CountsAndLeastSequenceNumberAreOfTheEntries) {
  const auto encoded = EncodeManifest(Context(), FixtureEntries());
  ASSERT_TRUE(encoded.ok());
  const ManifestFile& file = encoded->file;
  EXPECT_EQ(file.manifest_length, static_cast<int64_t>(encoded->bytes.size()));
  EXPECT_EQ(file.added_files_count, 3);
  EXPECT_EQ(file.added_rows_count, 600);
  EXPECT_EQ(file.existing_files_count, 1);
  EXPECT_EQ(file.existing_rows_count, 400);
  EXPECT_EQ(file.deleted_files_count, 1);
  EXPECT_EQ(file.deleted_rows_count, 500);
  EXPECT_EQ(file.added_snapshot_id, kSnapshot);
  EXPECT_EQ(file.sequence_number, kUnassignedSequenceNumber);
  // Of live entries only: the deleted one has 2.
  EXPECT_EQ(file.min_sequence_number, SequenceNumber(3));
}

TEST(ManifestWrite, EntriesThatInheritLeaveTheLeastNumberUnassigned) {
  const std::vector<ManifestEntry> entries = FixtureEntries();
  const auto encoded = EncodeManifest(Context(), {&entries[1], 1});
  ASSERT_TRUE(encoded.ok());
  EXPECT_EQ(encoded->file.min_sequence_number, kUnassignedSequenceNumber);
}

TEST(ManifestWrite, WhatReadersWouldRefuseIsRefused) {
  struct Case {
    const char* reason;
    void (*spoil)(ManifestContext&, ManifestEntry&);
  };
  const Case cases[] = {
      {"needs its snapshot id and both", [](auto&, auto& e) { e.status = EntryStatus::kExisting; }},
      {"needs its snapshot id and both",
       [](auto&, auto& e) {
         e.status = EntryStatus::kExisting;
         e.snapshot_id = SnapshotId(1);
         e.file_sequence_number = SequenceNumber(1);
       }},
      {"needs its snapshot id and both", [](auto&, auto& e) { e.status = EntryStatus::kDeleted; }},
      {"must be dropped",
       [](auto&, auto& e) {
         e = {EntryStatus::kDeleted, SnapshotId(1), SequenceNumber(1), SequenceNumber(1), e.file};
       }},
      {"must be EXISTING", [](auto&, auto& e) { e.snapshot_id = SnapshotId(1); }},
      {"inherits its file sequence number",
       [](auto&, auto& e) { e.file_sequence_number = SequenceNumber(1); }},
      {"sequence number is negative",
       [](auto&, auto& e) { e.sequence_number = kUnassignedSequenceNumber; }},
      {"may not be in one manifest",
       [](auto&, auto& e) { e.file.content = FileContent::kPositionDeletes; }},
      {"may not be in one manifest", [](auto& c, auto&) { c.content = ManifestContent::kDeletes; }},
      {"has no path", [](auto&, auto& e) { e.file.file_path.clear(); }},
      {"negative count", [](auto&, auto& e) { e.file.record_count = -1; }},
      {"split offsets", [](auto&, auto& e) { e.file.split_offsets = {5, 4}; }},
      {"split offsets", [](auto&, auto& e) { e.file.split_offsets = {4, 100'001}; }},
      {"equality ids", [](auto&, auto& e) { e.file.equality_ids = {1}; }},
      {"refers to a data file", [](auto&, auto& e) { e.file.referenced_data_file = "x"; }},
      {"partition value", [](auto&, auto& e) { e.file.partition = {std::nullopt}; }},
      {"format version 3", [](auto&, auto& e) { e.file.content_offset = 4; }},
      {"only 2", [](auto& c, auto&) { c.format_version = 3; }},
      {"array of its fields", [](auto& c, auto&) { c.partition_spec_json = "{}"; }},
      {"partitioned tables", [](auto& c, auto&) { c.partition_spec_json = "[{}]"; }},
      {"schema-id", [](auto& c, auto&) { c.schema_json = R"({"type":"struct"})"; }},
      {"instead of 4", [](auto& c, auto&) { c.schema_id = SchemaId(4); }},
  };
  for (const Case& spoiled : cases) {
    ManifestContext context = Context();
    ManifestEntry entry{.file = File(1)};
    ASSERT_TRUE(EncodeManifest(context, {&entry, 1}).ok());
    spoiled.spoil(context, entry);
    const auto result = EncodeManifest(context, {&entry, 1});
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument) << spoiled.reason;
    EXPECT_THAT(std::string(Message(result.status())), HasSubstr(spoiled.reason));
  }
  EXPECT_FALSE(EncodeManifest(Context(), {}).ok());
}

TEST(ManifestWrite, ManyRandomEntriesComeBack) {
  std::mt19937_64 random(3);
  std::vector<ManifestEntry> entries;
  for (int i = 0; i < 2000; ++i) {
    ManifestEntry entry{EntryStatus::kExisting, SnapshotId(static_cast<int64_t>(random() >> 1)),
                        SequenceNumber(static_cast<int64_t>(random() >> 1)),
                        SequenceNumber(static_cast<int64_t>(random() >> 1)), File(i)};
    const auto columns = static_cast<int32_t>(random() % 20);
    for (int32_t id = 1; id <= columns; ++id) {
      entry.file.value_counts[id] = static_cast<int64_t>(random() >> (random() % 64));
      entry.file.lower_bounds[id] = std::string(random() % 40, static_cast<char>(random()));
    }
    entries.push_back(std::move(entry));
  }
  const auto encoded = EncodeManifest(Context(), entries);
  ASSERT_TRUE(encoded.ok()) << encoded.status();
  const auto back = DecodeManifest(encoded->bytes, Row());
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_TRUE(*back == entries);
}

TEST(ManifestRead, DamagedFilesNeverCrash) {
  std::mt19937 random(5);
  for (const std::string name : {"manifest-v2", "manifest-v2-deflate", "manifest-v2-snappy",
                                 "manifest-v2-zstandard", "manifest-v2-partitioned"}) {
    const std::string good = ReadFileForTest(FixturePath(name + ".avro"));
    for (int round = 0; round < 1000; ++round) {
      std::string damaged = good;
      const int changes = 1 + static_cast<int>(random() % 3);
      for (int i = 0; i < changes; ++i) {
        damaged[random() % damaged.size()] = static_cast<char>(random());
      }
      const auto entries = DecodeManifest(damaged, Row());
      if (!entries.ok()) {
        EXPECT_EQ(entries.status().code(), absl::StatusCode::kDataLoss);
      }
    }
    for (size_t size = 0; size < good.size(); size += 7) {
      (void)DecodeManifest(std::string_view(good).substr(0, size), Row());
    }
  }
}

}  // namespace
}  // namespace fjord
