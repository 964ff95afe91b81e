// Requirements and updates as tables; new tables; rules of schemas.
#include "iceberg/table_update.h"

#include <gtest/gtest.h>

#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr int64_t kNow = 1'800'000'000'000;

Json Parsed(std::string_view text) {
  const auto json = Json::Parse(text);
  EXPECT_TRUE(json.ok()) << text << ": " << json.status();
  return *json;
}

constexpr char kSchema[] =
    R"({"type":"struct","schema-id":0,"identifier-field-ids":[7],"fields":[
        {"id":7,"name":"id","required":true,"type":"long"},
        {"id":9,"name":"at","required":false,"type":"timestamptz"}]})";

TableMetadata NewTableForTest(const std::map<std::string, std::string>& properties = {}) {
  const auto table = MakeTable(
      {.schema = Parsed(kSchema), .location = "s3://b/t", .properties = properties}, kNow);
  EXPECT_TRUE(table.ok()) << table.status();
  return *table;
}

std::string SnapshotText(int64_t id, int64_t sequence, int64_t time, std::string_view more = "") {
  return StrCat(R"({"action":"add-snapshot","snapshot":{"snapshot-id":)", id,
                R"(,"sequence-number":)", sequence, R"(,"timestamp-ms":)", time, more,
                R"(,"manifest-list":"s3://b/l","summary":{"operation":"append"}}})");
}
std::string HeadText(int64_t id) {
  return StrCat(R"({"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":)",
                id, "}");
}

absl::StatusOr<TableMetadata> Apply(const TableMetadata& base, std::string_view updates,
                                    int64_t now = kNow + 1) {
  return ApplyUpdates(base, Parsed(StrCat("[", updates, "]")), now);
}

TableMetadata Applied(const TableMetadata& base, std::string_view updates, int64_t now = kNow + 1) {
  const auto table = Apply(base, updates, now);
  EXPECT_TRUE(table.ok()) << updates << ": " << table.status();
  return table.ok() ? *table : base;
}

TEST(CheckRequirements, EachKindHoldsOrFailsAsTheTableIs) {
  TableMetadata table = NewTableForTest();
  table.table_uuid = "9C12D441-03fe-4693-9a96-a0705ddf69c1";
  table.refs["main"] = {SnapshotId(5), "branch"};
  const absl::StatusCode ok = absl::StatusCode::kOk;
  const absl::StatusCode aborted = absl::StatusCode::kAborted;
  const absl::StatusCode invalid = absl::StatusCode::kInvalidArgument;
  const struct {
    const char* requirement;
    absl::StatusCode with_table;
    absl::StatusCode without_table;
  } cases[] = {
      {R"({"type":"assert-create"})", aborted, ok},
      {R"({"type":"assert-table-uuid","uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1"})", ok,
       absl::StatusCode::kNotFound},
      {R"({"type":"assert-table-uuid","uuid":"1"})", aborted, absl::StatusCode::kNotFound},
      {R"({"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":5})", ok,
       absl::StatusCode::kNotFound},
      {R"({"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":6})", aborted,
       absl::StatusCode::kNotFound},
      {R"({"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":null})", aborted,
       absl::StatusCode::kNotFound},
      {R"({"type":"assert-ref-snapshot-id","ref":"other","snapshot-id":null})", ok,
       absl::StatusCode::kNotFound},
      {R"({"type":"assert-ref-snapshot-id","ref":"other","snapshot-id":5})", aborted,
       absl::StatusCode::kNotFound},
      {R"({"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":"5"})", invalid,
       absl::StatusCode::kNotFound},
      {R"({"type":"assert-last-assigned-field-id","last-assigned-field-id":2})", ok,
       absl::StatusCode::kNotFound},
      {R"({"type":"assert-last-assigned-field-id","last-assigned-field-id":3})", aborted,
       absl::StatusCode::kNotFound},
      {R"({"type":"assert-current-schema-id","current-schema-id":0})", ok,
       absl::StatusCode::kNotFound},
      {R"({"type":"assert-current-schema-id","current-schema-id":1})", aborted,
       absl::StatusCode::kNotFound},
      {R"({"type":"assert-last-assigned-partition-id","last-assigned-partition-id":999})", ok,
       absl::StatusCode::kNotFound},
      {R"({"type":"assert-last-assigned-partition-id","last-assigned-partition-id":1000})", aborted,
       absl::StatusCode::kNotFound},
      {R"({"type":"assert-default-spec-id","default-spec-id":0})", ok, absl::StatusCode::kNotFound},
      {R"({"type":"assert-default-spec-id","default-spec-id":1})", aborted,
       absl::StatusCode::kNotFound},
      {R"({"type":"assert-default-sort-order-id","default-sort-order-id":0})", ok,
       absl::StatusCode::kNotFound},
      {R"({"type":"assert-default-sort-order-id","default-sort-order-id":1})", aborted,
       absl::StatusCode::kNotFound},
      {R"({"type":"assert-current-schema-id"})", invalid, absl::StatusCode::kNotFound},
      {R"({"type":"assert-the-moon"})", invalid, absl::StatusCode::kNotFound},
      {R"({})", invalid, invalid},
  };
  for (const auto& c : cases) {
    const Json requirements = Parsed(StrCat("[", c.requirement, "]"));
    EXPECT_EQ(CheckRequirements(requirements, &table).code(), c.with_table) << c.requirement;
    EXPECT_EQ(CheckRequirements(requirements, nullptr).code(), c.without_table) << c.requirement;
  }
}

TEST(ApplyUpdates, WhatCannotBeAppliedNamesTheUpdate) {
  const TableMetadata table =
      Applied(NewTableForTest(), StrCat(SnapshotText(5, 1, kNow), ",", HeadText(5)));
  const absl::StatusCode invalid = absl::StatusCode::kInvalidArgument;
  const struct {
    std::string update;
    absl::StatusCode code;
    std::string_view says;
  } cases[] = {
      {R"({"action":"fly"})", invalid, "unknown update: fly"},
      {R"({})", invalid, "action"},
      {R"({"action":"assign-uuid","uuid":"other"})", invalid, "assign-uuid"},
      {R"({"action":"upgrade-format-version","format-version":1})", invalid,
       "from format version 2"},
      {R"({"action":"upgrade-format-version","format-version":4})", invalid, "to 4"},
      {R"({"action":"set-current-schema","schema-id":-1})", invalid, "no schema was added"},
      {R"({"action":"set-current-schema","schema-id":8})", invalid, "no schema 8"},
      {R"({"action":"set-default-spec","spec-id":-1})", invalid, "no partition spec"},
      {R"({"action":"set-default-sort-order","sort-order-id":3})", invalid, "no sort order 3"},
      {SnapshotText(5, 2, kNow), invalid, "exists already"},
      {SnapshotText(6, 1, kNow, R"(,"parent-snapshot-id":5)"), absl::StatusCode::kAborted,
       "sequence number 1"},
      {HeadText(6), invalid, "no snapshot 6"},
      {R"({"action":"set-snapshot-ref","ref-name":"main","type":"tag","snapshot-id":5})", invalid,
       "main"},
      {R"({"action":"remove-snapshots","snapshot-ids":[5]})", invalid, "head of main"},
      {StrCat(SnapshotText(6, 2, kNow), ",", HeadText(6), R"(,
           {"action":"set-snapshot-ref","ref-name":"keep","type":"tag","snapshot-id":5},
           {"action":"remove-snapshots","snapshot-ids":[5]})"),
       absl::StatusCode::kAborted, "head of keep"},
      {R"({"action":"set-properties","updates":{"a":1}})", invalid, "a"},
      {R"({"action":"set-properties"})", invalid, "updates"},
      {R"({"action":"remove-schemas","schema-ids":[0]})", invalid, "current schema"},
      {R"({"action":"remove-partition-specs","spec-ids":[0]})", invalid, "default partition spec"},
      {R"({"action":"add-schema","schema":{"type":"struct","fields":[
           {"id":1,"name":"a","required":false,"type":"variant"}]}})",
       invalid, "format version 3"},
  };
  for (const auto& c : cases) {
    const absl::Status status = Apply(table, c.update).status();
    EXPECT_EQ(status.code(), c.code) << c.update << ": " << status;
    EXPECT_NE(Message(status).find(c.says), std::string_view::npos) << c.update << ": " << status;
  }
}

TEST(ApplyUpdates, TimesNeverGoBackWhenTheClockDoes) {
  TableMetadata table = NewTableForTest();
  table = Applied(table, StrCat(SnapshotText(5, 1, kNow + 90'000), ",", HeadText(5)), kNow);
  EXPECT_EQ(table.last_updated_ms, kNow + 90'000);
  table =
      Applied(table, StrCat(SnapshotText(6, 2, kNow - 90'000), ",", HeadText(6)), kNow - 90'000);
  EXPECT_EQ(table.last_updated_ms, kNow + 90'000);
  ASSERT_EQ(table.snapshot_log.size(), 2u);
  EXPECT_EQ(table.snapshot_log[1].timestamp_ms, kNow + 90'000);
}

TEST(ApplyUpdates, AHeadThatACommitOnlyPassesThroughIsNotLogged) {
  const TableMetadata table =
      Applied(NewTableForTest(), StrCat(SnapshotText(5, 1, kNow), ",", HeadText(5), ",",
                                        SnapshotText(6, 2, kNow), ",", HeadText(6)));
  ASSERT_EQ(table.snapshot_log.size(), 1u);
  EXPECT_EQ(table.snapshot_log[0].snapshot_id, SnapshotId(6));
}

TEST(ApplyUpdates, TheLogLosesEverythingBeforeARemovedSnapshot) {
  TableMetadata table = NewTableForTest();
  for (int64_t id = 1; id <= 4; ++id) {
    table = Applied(table, StrCat(SnapshotText(id, id, kNow + id), ",", HeadText(id)), kNow + id);
  }
  table = Applied(table, R"({"action":"remove-snapshots","snapshot-ids":[2, 77]})");
  EXPECT_EQ(table.snapshots.size(), 3u);
  ASSERT_EQ(table.snapshot_log.size(), 2u);
  EXPECT_EQ(table.snapshot_log[0].snapshot_id, SnapshotId(3));
}

TEST(ApplyUpdates, WithoutMainThereIsNoCurrentSnapshotAndNoLog) {
  TableMetadata table =
      Applied(NewTableForTest(), StrCat(SnapshotText(5, 1, kNow), ",", HeadText(5)));
  table = Applied(table, R"({"action":"remove-snapshot-ref","ref-name":"main"})");
  EXPECT_FALSE(table.current_snapshot_id.has_value());
  EXPECT_TRUE(table.snapshot_log.empty());
  EXPECT_EQ(table.snapshots.size(), 1u);
}

TEST(ApplyUpdates, Version3CountsRowIds) {
  TableMetadata table = NewTableForTest();
  table = Applied(table, R"({"action":"upgrade-format-version","format-version":3})");
  EXPECT_EQ(*table.other.GetInt("next-row-id"), 0);
  EXPECT_EQ(Apply(table, SnapshotText(5, 1, kNow)).status().code(),
            absl::StatusCode::kInvalidArgument);
  table = Applied(table, SnapshotText(5, 1, kNow, R"(,"first-row-id":0,"added-rows":10)"));
  EXPECT_EQ(*table.other.GetInt("next-row-id"), 10);
  EXPECT_EQ(
      Apply(table, SnapshotText(6, 2, kNow, R"(,"first-row-id":9,"added-rows":1)")).status().code(),
      absl::StatusCode::kAborted);
}

TEST(ApplyUpdates, ASchemaOrSpecThatIsThereIsNotAddedAgain) {
  const TableMetadata table = NewTableForTest();
  const std::string schema = StrCat(R"({"action":"add-schema","schema":)",
                                    SchemaToJson(table.CurrentSchema()).Dump(), "}");
  EXPECT_EQ(Applied(table, schema).schemas.size(), 1u);
  const std::string spec =
      R"({"action":"add-spec","spec":{"fields":[{"source-id":2,"name":"day","transform":"day"}]}},
         {"action":"set-default-spec","spec-id":-1})";
  const TableMetadata once = Applied(table, spec);
  const TableMetadata twice = Applied(once, spec);
  EXPECT_EQ(once.default_spec_id, SpecId(1));
  EXPECT_EQ(once.last_partition_id, 1000);
  EXPECT_EQ(twice.partition_specs, once.partition_specs);
  // An equal field of another spec keeps its number.
  const TableMetadata third = Applied(twice, R"({"action":"add-spec","spec":{"fields":[
        {"source-id":1,"name":"b","transform":"bucket[4]"},
        {"source-id":2,"name":"day","transform":"day"}]}})");
  const Json& fields = *third.partition_specs.array()[2].Find("fields");
  EXPECT_EQ(*fields.array()[0].GetInt("field-id"), 1001);
  EXPECT_EQ(*fields.array()[1].GetInt("field-id"), 1000);
}

TEST(ApplyUpdates, EncryptionKeysAndStatisticsAreReplacedByTheirKey) {
  TableMetadata table = NewTableForTest();
  const char* add =
      R"({"action":"add-encryption-key","encryption-key":{"key-id":"a","encrypted-key-metadata":"AA=="}})";
  table = Applied(Applied(table, add), add);
  EXPECT_EQ(table.other.Find("encryption-keys")->array().size(), 1u);
  table = Applied(table, R"({"action":"remove-encryption-key","key-id":"a"})");
  EXPECT_TRUE(table.other.Find("encryption-keys")->array().empty());
}

TEST(MakeTable, FieldIdsAreAssignedAnewEverywhere) {
  const auto table = MakeTable(
      {.schema = Parsed(R"({"type":"struct","identifier-field-ids":[40],"fields":[
          {"id":10,"name":"m","required":false,"type":{"type":"map","key-id":11,"key":"string",
             "value-id":12,"value-required":false,"value":{"type":"struct","fields":[
               {"id":13,"name":"x","required":false,"type":"int"}]}}},
          {"id":20,"name":"l","required":false,"type":{"type":"list","element-id":21,
             "element-required":false,"element":"long"}},
          {"id":40,"name":"id","required":true,"type":"long"}]})"),
       .location = "s3://b/t/",
       .partition_spec = Parsed(R"({"fields":[{"source-id":40,"field-id":5,"name":"p",
                                               "transform":"identity"}]})"),
       .sort_order = Parsed(R"({"order-id":9,"fields":[{"source-id":40,"transform":"identity",
                                "direction":"asc","null-order":"nulls-first"}]})"),
       .properties = {{"format-version", "3"}, {"a", "b"}}},
      kNow);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->format_version, 3);
  EXPECT_EQ(table->properties, (std::map<std::string, std::string>{{"a", "b"}}));
  EXPECT_EQ(table->location, "s3://b/t");
  EXPECT_EQ(table->last_column_id, 7);
  EXPECT_EQ(table->CurrentSchema().identifier_fields, std::vector<FieldId>{FieldId(3)});
  const Json& fields = *table->partition_specs.array()[0].Find("fields");
  EXPECT_EQ(*fields.array()[0].GetInt("source-id"), 3);
  EXPECT_EQ(*fields.array()[0].GetInt("field-id"), 1000);
  EXPECT_EQ(table->last_partition_id, 1000);
  EXPECT_EQ(table->default_sort_order_id, 1);
  EXPECT_EQ(*table->sort_orders.array()[0].Find("fields")->array()[0].GetInt("source-id"), 3);
  EXPECT_EQ(*table->other.GetInt("next-row-id"), 0);
  // Top level first, then what is nested, as the Java library numbers.
  const Json map = table->CurrentSchema().fields[0].type;
  EXPECT_EQ(*map.GetInt("key-id"), 4);
  EXPECT_EQ(*map.GetInt("value-id"), 5);
  EXPECT_EQ(*map.Find("value")->Find("fields")->array()[0].GetInt("id"), 6);
}

TEST(MakeTable, Version1IsMadeAsVersion2) {
  EXPECT_EQ(NewTableForTest({{"format-version", "1"}}).format_version, 2);
  EXPECT_EQ(MakeTable({.schema = Parsed(kSchema), .properties = {{"format-version", "9"}}}, kNow)
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(MakeTableFromUpdates, AStagedTableIsMadeFromWhatTheClientSends) {
  const TableMetadata staged = NewTableForTest();
  const Json updates = Parsed(StrCat(
      R"([{"action":"assign-uuid","uuid":")", staged.table_uuid,
      R"("},{"action":"upgrade-format-version","format-version":2},{"action":"add-schema","schema":)",
      SchemaToJson(staged.CurrentSchema()).Dump(),
      R"(,"last-column-id":2},{"action":"set-current-schema","schema-id":-1},
         {"action":"add-spec","spec":{"spec-id":0,"fields":[]}},{"action":"set-default-spec","spec-id":-1},
         {"action":"add-sort-order","sort-order":{"order-id":0,"fields":[]}},
         {"action":"set-default-sort-order","sort-order-id":-1},
         {"action":"set-location","location":"s3://b/t"},{"action":"set-properties","updates":{}}])"));
  const auto table = MakeTableFromUpdates(updates, "s3://elsewhere", kNow);
  ASSERT_TRUE(table.ok()) << table.status();
  TableMetadata expected = staged;
  EXPECT_EQ(MetadataToJson(*table).DumpPretty(), MetadataToJson(expected).DumpPretty());
  EXPECT_EQ(MakeTableFromUpdates(Json::MakeArray(), "s3://b/t", kNow).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(CheckSchema, EachRule) {
  const struct {
    const char* fields;
    const char* identifiers;
    int version;
    std::string_view says;  // empty: allowed
  } cases[] = {
      {R"j({"id":1,"name":"a","required":true,"type":"decimal(9,2)"})j", "[1]", 2, ""},
      {R"j({"id":1,"name":"a","required":false,"type":"fixed[3]"})j", "[]", 2, ""},
      {R"j({"id":1,"name":"a","required":false,"type":"long"})j", "[1]", 2, "identifier field 1"},
      {R"j({"id":1,"name":"a","required":true,"type":"double"})j", "[1]", 2, "identifier field 1"},
      {R"j({"id":1,"name":"a","required":true,"type":"long"})j", "[2]", 2, "identifier field 2"},
      {R"j({"id":1,"name":"a","required":true,"type":"long"},
          {"id":1,"name":"b","required":true,"type":"long"})j",
       "[]", 2, "used twice"},
      {R"j({"id":1,"name":"a","required":true,"type":"long"},
          {"id":2,"name":"a","required":true,"type":"long"})j",
       "[]", 2, "two columns are named a"},
      {R"j({"id":2147483546,"name":"a","required":true,"type":"long"})j", "[]", 2, "out of range"},
      {R"j({"id":1,"name":"a","required":true,"type":"decimal(39,2)"})j", "[]", 2, "no such type"},
      {R"j({"id":1,"name":"a","required":true,"type":"money"})j", "[]", 3, "column a: type money"},
      {R"j({"id":1,"name":"a","required":false,"type":"timestamp_ns"})j", "[]", 2, "version 3"},
      {R"j({"id":1,"name":"a","required":false,"type":"timestamp_ns"})j", "[]", 3, ""},
      {R"j({"id":1,"name":"a","required":false,"type":"long","initial-default":3})j", "[]", 2,
       "default"},
      {R"j({"id":1,"name":"a","required":false,"type":"long","initial-default":3})j", "[]", 3, ""},
      {R"j({"id":1,"name":"a","required":false,"type":{"type":"list","element-id":1,
           "element-required":true,"element":"long"}})j",
       "[]", 2, "used twice"},
      {R"j({"id":1,"name":"","required":false,"type":"long"})j", "[]", 2, "no name"},
      {R"j({"id":1,"name":"a","type":"long"})j", "[]", 2, "required"},
  };
  for (const auto& c : cases) {
    const Json schema = Parsed(StrCat(R"({"type":"struct","identifier-field-ids":)", c.identifiers,
                                      R"(,"fields":[)", c.fields, "]}"));
    const absl::Status status = CheckSchema(schema, c.version);
    if (c.says.empty()) {
      EXPECT_TRUE(status.ok()) << c.fields << ": " << status;
    } else {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.fields;
      EXPECT_NE(Message(status).find(c.says), std::string_view::npos) << c.fields << ": " << status;
    }
  }
}

}  // namespace
}  // namespace fjord
