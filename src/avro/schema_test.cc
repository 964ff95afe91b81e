#include "avro/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status.h"

namespace fjord {
namespace {

using ::testing::HasSubstr;

TEST(AvroSchema, KeepsWhatIcebergNeeds) {
  const auto tree = AvroSchemaTree::Parse(R"({"type":"record","name":"r","fields":[
      {"name":"a","type":["null","long"],"default":null,"field-id":7},
      {"name":"b","type":{"type":"array","items":"int","element-id":9},"field-id":8},
      {"name":"c","type":{"type":"map","values":"bytes","key-id":10,"value-id":11}},
      {"name":"d","type":{"type":"fixed","name":"f","size":9,"logicalType":"decimal","precision":20,
                          "scale":3}},
      {"name":"e","type":{"type":"long","logicalType":"timestamp-micros","adjust-to-utc":true}},
      {"name":"g","type":{"type":"enum","name":"en","symbols":["X","Y"]}}]})");
  ASSERT_TRUE(tree.ok()) << tree.status();
  const AvroSchema& root = tree->root();
  ASSERT_EQ(root.fields.size(), 6u);
  EXPECT_EQ(root.fields[0].field_id, 7);
  EXPECT_EQ(root.fields[0].schema->type, AvroType::kUnion);
  EXPECT_EQ(root.fields[0].schema->branches[1]->type, AvroType::kLong);
  EXPECT_EQ(root.fields[1].schema->element_id, 9);
  EXPECT_EQ(root.fields[2].field_id, std::nullopt);
  EXPECT_EQ(root.fields[2].schema->key_id, 10);
  EXPECT_EQ(root.fields[2].schema->value_id, 11);
  EXPECT_EQ(root.fields[3].schema->fixed_size, 9u);
  EXPECT_EQ(root.fields[3].schema->precision, 20);
  EXPECT_EQ(root.fields[3].schema->scale, 3);
  EXPECT_EQ(root.fields[4].schema->logical_type, "timestamp-micros");
  EXPECT_EQ(root.fields[4].schema->adjust_to_utc, true);
  EXPECT_EQ(root.fields[5].schema->symbols.size(), 2u);
}

TEST(AvroSchema, NamesAreResolvedWithinTheirNamespace) {
  const auto tree = AvroSchemaTree::Parse(R"({"type":"record","name":"a.b.r","fields":[
      {"name":"f","type":{"type":"fixed","name":"four","size":4}},
      {"name":"g","type":"four"},
      {"name":"h","type":"a.b.four"},
      {"name":"i","type":{"type":"record","name":"s","namespace":"c","fields":[
          {"name":"j","type":"a.b.four"}]}},
      {"name":"k","type":"c.s"}]})");
  ASSERT_TRUE(tree.ok()) << tree.status();
  const AvroSchema* four = tree->root().fields[0].schema;
  EXPECT_EQ(four->name, "a.b.four");
  EXPECT_EQ(tree->root().fields[1].schema, four);
  EXPECT_EQ(tree->root().fields[2].schema, four);
  EXPECT_EQ(tree->root().fields[4].schema, tree->root().fields[3].schema);
}

TEST(AvroSchema, ARecordMayReferToItself) {
  const auto tree = AvroSchemaTree::Parse(
      R"({"type":"record","name":"l","fields":[{"name":"next","type":["null","l"]}]})");
  ASSERT_TRUE(tree.ok()) << tree.status();
  EXPECT_EQ(tree->root().fields[0].schema->branches[1], &tree->root());
}

TEST(AvroSchema, WhatIsNoSchemaIsDataLossWithTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"{", "JSON"},
      {"7", "neither"},
      {R"("strange")", "no type is named"},
      {R"({"items":"int"})", "without \"type\""},
      {R"({"type":"array"})", "without \"items\""},
      {R"({"type":"map"})", "without \"values\""},
      {R"({"type":"record","name":"r"})", "no array \"fields\""},
      {R"({"type":"record","fields":[]})", "has no name"},
      {R"({"type":"record","name":"r","fields":[{"name":"a"}]})", "lacks a name or a type"},
      {R"({"type":"record","name":"r","fields":[3]})", "lacks a name or a type"},
      {R"({"type":"enum","name":"e"})", "without \"symbols\""},
      {R"({"type":"fixed","name":"f","size":-1})", "no size"},
      {R"({"type":"fixed","name":"f","size":99999999999})", "no size"},
      {R"([])", "without branches"},
      {R"(["null",["int","long"]])", "directly inside a union"},
      {R"([{"type":"fixed","name":"f","size":1},{"type":"fixed","name":"f","size":2}])",
       "two types"},
  };
  for (const auto& [json, reason] : cases) {
    const auto tree = AvroSchemaTree::Parse(json);
    EXPECT_EQ(tree.status().code(), absl::StatusCode::kDataLoss) << json;
    EXPECT_THAT(std::string(Message(tree.status())), HasSubstr(reason)) << json;
  }
}

TEST(AvroSchema, EndlessNestingIsRefused) {
  std::string json = "\"int\"";
  for (int i = 0; i < 150; ++i) json = R"({"type":"array","items":)" + json + "}";
  EXPECT_EQ(AvroSchemaTree::Parse(json).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace fjord
