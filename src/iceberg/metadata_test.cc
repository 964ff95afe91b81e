// Table metadata and updates against PyIceberg's (tests/data/make_metadata_fixtures.py).
#include "iceberg/metadata.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/strings.h"
#include "iceberg/table_update.h"

namespace fjord {
namespace {

Json Fixture(std::string_view name) {
  std::ifstream in(StrCat(FJORD_SOURCE_DIR, "/tests/data/iceberg/metadata/", name));
  EXPECT_TRUE(in.good()) << name;
  const auto json = Json::Parse(std::string(std::istreambuf_iterator<char>(in), {}));
  EXPECT_TRUE(json.ok()) << name << ": " << json.status();
  return *json;
}

TableMetadata FixtureTable(std::string_view name) {
  const auto metadata = MetadataFromJson(Fixture(StrCat(name, ".metadata.json")));
  EXPECT_TRUE(metadata.ok()) << name << ": " << metadata.status();
  return *metadata;
}

// Members in the order of their names, those left out that are null or an empty list.
Json Normal(const Json& json) {
  if (json.is_array()) {
    Json array = Json::MakeArray();
    for (const Json& item : json.array()) array.Push(Normal(item));
    return array;
  }
  if (!json.is_object()) return json;
  Json::Object members;
  for (const auto& [name, value] : json.object()) {
    if (value.is_null() || (value.is_array() && value.array().empty() && name != "fields"))
      continue;
    members.emplace_back(name, Normal(value));
  }
  std::sort(members.begin(), members.end(),
            [](const Json::Member& a, const Json::Member& b) { return a.first < b.first; });
  return Json(std::move(members));
}

std::string Pretty(const Json& json) { return Normal(json).DumpPretty(); }

class MetadataRoundTrip : public testing::TestWithParam<const char*> {};

TEST_P(MetadataRoundTrip, WhatPyIcebergWroteIsWrittenBackWithTheSameMeaning) {
  const Json given = Fixture(StrCat(GetParam(), ".metadata.json"));
  const auto metadata = MetadataFromJson(given);
  ASSERT_TRUE(metadata.ok()) << metadata.status();
  EXPECT_EQ(Pretty(MetadataToJson(*metadata)), Pretty(given));
}

INSTANTIATE_TEST_SUITE_P(Fixtures, MetadataRoundTrip,
                         testing::Values("plain-v2", "grown-v2", "nested-v2", "plain-v3"));

TEST(Metadata, UpdatesHaveTheEffectThatTheyHaveInPyIceberg) {
  const Json commits = Fixture("updates.json");
  ASSERT_GE(commits.array().size(), 10u);
  for (const Json& commit : commits.array()) {
    const std::string name = *commit.GetString("name");
    const TableMetadata base = FixtureTable(*commit.GetString("base"));
    const auto next = ApplyUpdates(base, **commit.GetArray("updates"), base.last_updated_ms + 5);
    ASSERT_TRUE(next.ok()) << name << ": " << next.status();
    Json got = MetadataToJson(*next);
    got.Erase("last-updated-ms");
    got.Erase("metadata-log");
    Json expected = **commit.GetObject("expected");
    // Of a snapshot whose parent has expired, PyIceberg forgets the parent;
    // Java and we keep its id.
    for (Json& snapshot : got.Find("snapshots")->array()) {
      const Json* parent = snapshot.Find("parent-snapshot-id");
      if (parent != nullptr && next->FindSnapshot(SnapshotId(parent->as_int())) == nullptr) {
        snapshot.Erase("parent-snapshot-id");
      }
    }
    EXPECT_EQ(Pretty(got), Pretty(expected)) << name;
  }
}

TEST(Metadata, Version1HasOneSchemaAndOneSpecAndNoCurrentSnapshot) {
  const TableMetadata table = FixtureTable("v1");
  EXPECT_EQ(table.format_version, 1);
  EXPECT_EQ(table.table_uuid, "");
  EXPECT_FALSE(table.current_snapshot_id.has_value());
  EXPECT_TRUE(table.refs.empty());
  ASSERT_EQ(table.schemas.size(), 1u);
  EXPECT_EQ(table.CurrentSchema().fields.size(), 3u);
  EXPECT_FALSE(table.IsUnpartitioned());
  EXPECT_EQ(table.last_partition_id, 1000);
  // Written back it is still what a reader of version 1 wants.
  const Json written = MetadataToJson(table);
  EXPECT_NE(written.Find("schema"), nullptr);
  ASSERT_NE(written.Find("partition-spec"), nullptr);
  EXPECT_EQ(written.Find("partition-spec")->array().size(), 1u);
  EXPECT_EQ(written.Find("last-sequence-number"), nullptr);
  EXPECT_EQ(written.Find("current-snapshot-id"), nullptr);
}

TEST(Metadata, UnknownMembersAreKept) {
  Json json = Fixture("grown-v2.metadata.json");
  json.Set("x-from-the-future", "kept");
  json.Find("snapshots")->array()[0].Set("key-id", "k1");
  json.Find("schemas")->array()[0].Find("fields")->array()[2].Set("x-hint", int64_t{7});
  const auto metadata = MetadataFromJson(json);
  ASSERT_TRUE(metadata.ok()) << metadata.status();
  EXPECT_EQ(Pretty(MetadataToJson(*metadata)), Pretty(json));
}

TEST(Metadata, ALaterFormatVersionIsRefused) {
  Json json = Fixture("plain-v2.metadata.json");
  json.Set("format-version", int64_t{4});
  EXPECT_EQ(MetadataFromJson(json).status().code(), absl::StatusCode::kUnimplemented);
}

TEST(Metadata, ATableWithoutItsCurrentSchemaIsRefused) {
  Json json = Fixture("plain-v2.metadata.json");
  json.Set("current-schema-id", int64_t{9});
  EXPECT_EQ(MetadataFromJson(json).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Metadata, AnySingleMemberOfAnotherKindIsAnErrorOrIgnoredButNeverACrash) {
  const Json json = Fixture("grown-v2.metadata.json");
  for (const auto& [name, value] : json.object()) {
    for (const Json& other : {Json(), Json(int64_t{-7}), Json("text"), Json::MakeArray(),
                              Json::MakeObject(), Json(Json::Array{Json(int64_t{1})})}) {
      Json changed = json;
      changed.Set(name, other);
      const auto metadata = MetadataFromJson(changed);
      if (metadata.ok()) MetadataToJson(*metadata).Dump();
    }
  }
}

}  // namespace
}  // namespace fjord
