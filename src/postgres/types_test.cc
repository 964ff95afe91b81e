#include "postgres/types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"

namespace fjord {
namespace {

using ::testing::ElementsAre;

ColumnInfo Info(uint32_t base_type, int32_t typmod = -1) {
  ColumnInfo info;
  info.attnum = 1;
  info.name = "c";
  info.type = info.base_type = Oid(base_type);
  info.typmod = info.base_typmod = typmod;
  return info;
}

int32_t NumericTypmod(int precision, int scale) {
  return ((precision << 16) | (scale & 0x7ff)) + 4;
}

PgColumn Map(const ColumnInfo& info, TypeOptions options = {}, std::vector<int16_t> key = {}) {
  TableInfo table;
  table.columns = {info};
  return MapColumns(table, key, {}, options).columns.at(0);
}

TEST(MapColumns, NativeTypes) {
  const std::pair<uint32_t, std::string> cases[] = {
      {16, "boolean"},     {21, "int"},      {23, "int"},         {20, "long"},
      {700, "float"},      {701, "double"},  {25, "string"},      {17, "binary"},
      {1082, "date"},      {1083, "time"},   {1114, "timestamp"}, {1184, "timestamptz"},
      {2950, "uuid"},      {1700, "string"}, {3802, "string"},    {26, "string"},
      {999'999, "string"},
  };
  for (const auto& [oid, name] : cases) EXPECT_EQ(TypeName(Map(Info(oid)).lake), name) << oid;
}

TEST(MapColumns, NumericOfEveryShape) {
  struct Case {
    int precision, scale;
    ColumnType lake;
  };
  const ColumnType string{TypeKind::kString};
  const Case cases[] = {
      {9, 2, {TypeKind::kDecimal, 9, 2}},
      {38, 38, {TypeKind::kDecimal, 38, 38}},
      {39, 2, string},
      {3, -2, {TypeKind::kDecimal, 5, 0}},
      {30, -9, string},
      {2, 5, {TypeKind::kDecimal, 5, 5}},
      {2, 39, string},
      {1000, 500, string},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Map(Info(1700, NumericTypmod(c.precision, c.scale))).lake, c.lake)
        << c.precision << "," << c.scale;
  }
}

TEST(MapColumns, DomainsAreWhatIsBelowThem) {
  ColumnInfo domain = Info(1700, NumericTypmod(10, 2));
  domain.type = Oid(77'777);
  domain.typmod = -1;
  const PgColumn column = Map(domain);
  EXPECT_EQ(column.lake, (ColumnType{TypeKind::kDecimal, 10, 2}));
  EXPECT_EQ(column.type, Oid(77'777)) << "as relation messages carry it";
}

TEST(MapColumns, ArraysAreJsonText) {
  ColumnInfo array = Info(1007);
  array.is_array = true;
  array.element_base_type = Oid(23);
  const PgColumn column = Map(array);
  EXPECT_EQ(column.lake.kind, TypeKind::kString);
  EXPECT_EQ(column.decode, DecodeKind::kArray);
  EXPECT_EQ(column.element, ArrayElement::kNumber);
}

TEST(MapColumns, TextPolicyMakesStringsOfTypesWithSpecialValuesButNotOfKeys) {
  const TypeOptions text{.unrepresentable = UnrepresentablePolicy::kText};
  EXPECT_EQ(Map(Info(1082), text).decode, DecodeKind::kText);
  EXPECT_EQ(Map(Info(1700, NumericTypmod(9, 2)), text).lake.kind, TypeKind::kString);
  EXPECT_EQ(Map(Info(23), text).lake.kind, TypeKind::kInt);
  EXPECT_EQ(Map(Info(1082), text, {1}).lake.kind, TypeKind::kDate);
}

TEST(MapColumns, SqlAsciiTextIsChecked) {
  EXPECT_EQ(Map(Info(25)).decode, DecodeKind::kText);
  EXPECT_EQ(Map(Info(25), {.database_encoding = "SQL_ASCII"}).decode, DecodeKind::kCheckedText);
  EXPECT_EQ(Map(Info(18)).decode, DecodeKind::kCheckedText);
}

TEST(MapColumns, GeneratedAndUnpublishedColumnsAreLeftOut) {
  TableInfo table;
  for (int16_t attnum : {1, 2, 4, 5}) {
    ColumnInfo info = Info(23);
    info.attnum = attnum;
    info.name = StrCat("c", attnum);
    info.generated = attnum == 2 ? 's' : 0;
    table.columns.push_back(info);
  }
  const ColumnMapping all = MapColumns(table, {5, 1}, {}, {});
  EXPECT_EQ(all.columns.size(), 3u);
  EXPECT_THAT(all.key, ElementsAre(2, 0));
  EXPECT_THAT(all.left_out, ElementsAre("c2"));
  const ColumnMapping some = MapColumns(table, {1}, {1, 4}, {});
  EXPECT_EQ(some.columns.size(), 2u);
}

TEST(NumericModifierOf, SignedScale) {
  EXPECT_FALSE(NumericModifierOf(-1));
  EXPECT_EQ(NumericModifierOf(NumericTypmod(1000, -1000))->scale, -1000);
  EXPECT_EQ(NumericModifierOf(NumericTypmod(1000, 1000))->scale, 1000);
  EXPECT_EQ(NumericModifierOf(NumericTypmod(9, 2))->precision, 9);
}

}  // namespace
}  // namespace fjord
