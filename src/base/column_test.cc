#include "base/column.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fjord {
namespace {

using std::string_literals::operator""s;

// One row of one column, made by `put`.
template <class Put>
std::string KeyOf(ColumnType type, const Put& put) {
  ColumnBatch batch;
  batch.columns.emplace_back(type);
  batch.columns[0].valid.push_back(1);
  put(batch.columns[0]);
  std::string key;
  AppendKeyBytes(batch, 0, {0}, key);
  return key;
}

std::string DoubleKey(double value) {
  return KeyOf({TypeKind::kDouble}, [&](Column& c) { c.doubles.push_back(value); });
}

std::string FloatKey(float value) {
  return KeyOf({TypeKind::kFloat}, [&](Column& c) { c.floats.push_back(value); });
}

std::string TextKey(std::string_view value) {
  return KeyOf({TypeKind::kString}, [&](Column& c) { c.bytes.push_back(value); });
}

TEST(KeyBytes, AreFixedForEachPhysicalForm) {
  // The row index is kept on disk: these bytes may not change.
  EXPECT_EQ(KeyOf({TypeKind::kInt}, [](Column& c) { c.int32s.push_back(-2); }), "\xfe\xff\xff\xff");
  EXPECT_EQ(KeyOf({TypeKind::kBoolean}, [](Column& c) { c.int32s.push_back(1); }), "\1\0\0\0"s);
  EXPECT_EQ(KeyOf({TypeKind::kLong}, [](Column& c) { c.int64s.push_back(0x0102); }),
            "\2\1\0\0\0\0\0\0"s);
  EXPECT_EQ(KeyOf({TypeKind::kDecimal, 38, 2}, [](Column& c) { c.int128s.push_back(-1); }),
            std::string(16, '\xff'));
  EXPECT_EQ(KeyOf({TypeKind::kDecimal, 38, 2},
                  [](Column& c) { c.int128s.push_back(absl::MakeInt128(1, 2)); }),
            "\2\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0"s);
  EXPECT_EQ(DoubleKey(1.0), "\0\0\0\0\0\0\xf0\x3f"s);
  EXPECT_EQ(FloatKey(1.0f), "\0\0\x80\x3f"s);
  EXPECT_EQ(TextKey("ab"), "\2\0\0\0ab"s);
  EXPECT_EQ(TextKey(""), "\0\0\0\0"s);
}

TEST(KeyBytes, FloatsThatPostgresHoldsEqualAreEqual) {
  EXPECT_EQ(DoubleKey(-0.0), DoubleKey(0.0));
  EXPECT_EQ(FloatKey(-0.0f), FloatKey(0.0f));
  EXPECT_EQ(DoubleKey(-std::nan("7")), DoubleKey(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(FloatKey(-std::nanf("7")), FloatKey(std::numeric_limits<float>::quiet_NaN()));
  EXPECT_NE(DoubleKey(1), DoubleKey(-1));
  EXPECT_NE(DoubleKey(HUGE_VAL), DoubleKey(std::nan("")));
}

TEST(KeyBytes, ColumnsOfTextCannotRunIntoEachOther) {
  const auto key = [](std::string_view a, std::string_view b) {
    ColumnBatch batch;
    for (const std::string_view text : {a, b}) {
      Column& column = batch.columns.emplace_back(ColumnType{TypeKind::kString});
      column.valid.push_back(1);
      column.bytes.push_back(text);
    }
    std::string out;
    AppendKeyBytes(batch, 0, {0, 1}, out);
    return out;
  };
  EXPECT_NE(key("ab", "c"), key("a", "bc"));
  EXPECT_NE(key("", "a"), key("a", ""));
}

TEST(KeyBytes, FollowTheOrderOfTheKeyAndAreAppended) {
  ColumnBatch batch;
  for (const int value : {1, 2, 3}) {
    Column& column = batch.columns.emplace_back(ColumnType{TypeKind::kInt});
    column.valid.push_back(1);
    column.int32s.push_back(value);
  }
  std::string out = "x";
  AppendKeyBytes(batch, 0, {2, 0}, out);
  EXPECT_EQ(out, "x\3\0\0\0\1\0\0\0"s);
}

TEST(Column, AbsentValuesTakeAPlaceInEveryForm) {
  for (const TypeKind kind : {TypeKind::kInt, TypeKind::kLong, TypeKind::kFloat, TypeKind::kDouble,
                              TypeKind::kDecimal, TypeKind::kUuid}) {
    Column column({kind, 10, 2});
    column.Reserve(4);
    column.AppendNull();
    const size_t values = column.int32s.size() + column.int64s.size() + column.floats.size() +
                          column.doubles.size() + column.int128s.size() + column.bytes.size();
    EXPECT_EQ(column.size(), 1u);
    EXPECT_EQ(column.valid[0], 0);
    EXPECT_EQ(values, 1u) << TypeName(column.type);
    column.Clear();
    EXPECT_EQ(column.size(), 0u);
  }
}

TEST(Column, AValueIsCopiedWithItsBytes) {
  Column to({TypeKind::kString});
  to.AppendNull();
  Arena arena;
  {
    const std::string text(100, 'x');
    Column from({TypeKind::kString});
    from.valid.push_back(1);
    from.bytes.push_back(text);
    SetValue(from, 0, to, 0, arena);
  }
  EXPECT_EQ(to.valid[0], 1);
  EXPECT_EQ(to.bytes[0], std::string(100, 'x'));
  Column absent({TypeKind::kString});
  absent.AppendNull();
  SetValue(absent, 0, to, 0, arena);
  EXPECT_EQ(to.valid[0], 0);
}

TEST(Arena, AddressesStayUntilItIsCleared) {
  Arena arena;
  const std::string_view first = arena.Copy("first");
  const std::string large(200'000, 'y');
  const std::string_view second = arena.Copy(large);
  for (int i = 0; i < 10'000; ++i) arena.Copy("some more bytes");
  EXPECT_EQ(first, "first");
  EXPECT_EQ(second, large);
  EXPECT_EQ(arena.Copy("").size(), 0u);
  EXPECT_EQ(arena.bytes_used(), 5u + 200'000 + 150'000);
  arena.Clear();
  EXPECT_EQ(arena.bytes_used(), 0u);
}

TEST(TypeName, IsIcebergs) {
  EXPECT_EQ(TypeName({TypeKind::kDecimal, 9, 2}), "decimal(9, 2)");
  EXPECT_EQ(TypeName({TypeKind::kTimestampTz}), "timestamptz");
}

}  // namespace
}  // namespace fjord
