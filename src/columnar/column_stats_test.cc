#include "columnar/column_stats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "columnar/columnar_test_support.h"

namespace fjord {
namespace {

ColumnStats StatsOf(const Column& column) {
  ColumnStats stats(column.type);
  stats.Add(column);
  return stats;
}

Column Doubles(const std::vector<double>& values) {
  Column column({TypeKind::kDouble});
  for (const double value : values) {
    column.valid.push_back(1);
    column.doubles.push_back(value);
  }
  return column;
}

Column Texts(const std::vector<std::string_view>& values) {
  Column column({TypeKind::kString});
  for (const std::string_view value : values) {
    column.valid.push_back(1);
    column.bytes.push_back(value);
  }
  return column;
}

TEST(ColumnStats, NothingWasAdded) {
  const ColumnStats stats({TypeKind::kInt});
  EXPECT_FALSE(stats.has_range());
  EXPECT_EQ(stats.value_count(), 0);
}

TEST(ColumnStats, NullsAloneHaveNoRange) {
  for (const FileField& field : EveryType()) {
    Column column(field.type);
    column.AppendNull();
    column.AppendNull();
    const ColumnStats stats = StatsOf(column);
    EXPECT_FALSE(stats.has_range()) << field.name;
    EXPECT_EQ(stats.value_count(), 2);
    EXPECT_EQ(stats.null_count(), 2);
  }
}

TEST(ColumnStats, ZeroInThePlaceOfANullIsNoValue) {
  Column column({TypeKind::kLong});
  column.AppendNull();
  column.valid.push_back(1);
  column.int64s.push_back(7);
  const ColumnStats stats = StatsOf(column);
  EXPECT_EQ(stats.min_int(), 7);
  EXPECT_EQ(stats.max_int(), 7);
}

TEST(ColumnStats, NaNsAreCountedAndDoNotBound) {
  const ColumnStats some = StatsOf(Doubles({NAN, 3, NAN, -1}));
  EXPECT_EQ(some.nan_count(), 2);
  EXPECT_EQ(some.min_double(), -1);
  EXPECT_EQ(some.max_double(), 3);
  const ColumnStats only = StatsOf(Doubles({NAN, -NAN}));
  EXPECT_EQ(only.nan_count(), 2);
  EXPECT_EQ(only.value_count(), 2);
  EXPECT_FALSE(only.has_range());
}

TEST(ColumnStats, ABatchOfNaNsBetweenOthers) {
  ColumnStats stats({TypeKind::kDouble});
  stats.Add(Doubles({5}));
  stats.Add(Doubles({NAN}));
  stats.Add(Doubles({6}));
  EXPECT_EQ(stats.min_double(), 5);
  EXPECT_EQ(stats.max_double(), 6);
}

TEST(ColumnStats, InfinitiesBound) {
  const ColumnStats stats = StatsOf(Doubles({INFINITY, -INFINITY}));
  EXPECT_EQ(stats.min_double(), -INFINITY);
  EXPECT_EQ(stats.max_double(), INFINITY);
  const ColumnStats one = StatsOf(Doubles({INFINITY}));
  EXPECT_EQ(one.min_double(), INFINITY);
}

TEST(ColumnStats, TextHasTheOrderOfUnsignedBytes) {
  const ColumnStats stats = StatsOf(Texts({"z", "\x7f", "ü", "𝄞", "a"}));
  EXPECT_EQ(stats.min_bytes(), "a");
  EXPECT_EQ(stats.max_bytes(), "𝄞");
}

TEST(ColumnStats, ZeroBytesAtTheEndAreNotThePaddingOfTheComparison) {
  using namespace std::string_view_literals;
  const ColumnStats stats = StatsOf(Texts({"ab\0"sv, "ab"sv, "ab\0\0"sv}));
  EXPECT_EQ(stats.min_bytes(), "ab");
  EXPECT_EQ(stats.max_bytes(), "ab\0\0"sv);
}

TEST(ColumnStats, TheEmptyStringIsTheLeast) {
  const ColumnStats stats = StatsOf(Texts({"a", ""}));
  EXPECT_TRUE(stats.has_range());
  EXPECT_EQ(stats.min_bytes(), "");
  EXPECT_EQ(stats.max_bytes(), "a");
}

TEST(ColumnStats, OfLongValuesTheBeginningIsKept) {
  const std::string same(kStatsBytesMax, 'm');
  const std::string longer = same + "a";
  const std::string longest = same + "b";
  ColumnStats stats({TypeKind::kString});
  stats.Add(Texts({longer}));
  stats.Add(Texts({longest}));
  stats.Add(Texts({same}));
  EXPECT_EQ(stats.min_bytes(), same);
  EXPECT_EQ(stats.max_bytes(), same);
  stats.Add(Texts({"z", "b"}));
  EXPECT_EQ(stats.min_bytes(), "b");
  EXPECT_EQ(stats.max_bytes(), "z");
}

// What Add says, told once more without cleverness.
template <class T>
struct Model {
  std::optional<T> min;
  std::optional<T> max;
  int64_t nans = 0;

  void Add(const std::vector<T>& values, const std::vector<uint8_t>& valid) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (valid[i] == 0) continue;
      if (values[i] != values[i]) {
        ++nans;
        continue;
      }
      if (!min || values[i] < *min) min = values[i];
      if (!max || *max < values[i]) max = values[i];
    }
  }
};

template <class T, class Least, class Greatest>
void ExpectRange(const Model<T>& model, const ColumnStats& stats, Least least, Greatest greatest) {
  ASSERT_EQ(stats.has_range(), model.min.has_value());
  EXPECT_EQ(stats.nan_count(), model.nans);
  if (!model.min) return;
  EXPECT_EQ(T(least()), *model.min);
  EXPECT_EQ(T(greatest()), *model.max);
}

TEST(ColumnStats, RandomBatchesOfEveryTypeAgreeWithTheModel) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 60; ++round) {
    for (const FileField& field : EveryType()) {
      ColumnStats stats(field.type);
      Model<int64_t> ints;
      Model<double> floats;
      Model<absl::int128> int128s;
      Model<std::string> texts;
      int64_t nulls = 0;
      for (uint64_t batches = 1 + random() % 4; batches > 0; --batches) {
        const ColumnBatch batch = RandomBatch(random, {field}, random() % 40, random() % 17);
        const Column& column = batch.columns[0];
        stats.Add(column);
        nulls += std::count(column.valid.begin(), column.valid.end(), 0);
        ints.Add({column.int32s.begin(), column.int32s.end()}, column.valid);
        ints.Add(column.int64s, column.valid);
        floats.Add({column.floats.begin(), column.floats.end()}, column.valid);
        floats.Add(column.doubles, column.valid);
        int128s.Add(column.int128s, column.valid);
        texts.Add({column.bytes.begin(), column.bytes.end()}, column.valid);
      }
      EXPECT_EQ(stats.null_count(), nulls);
      switch (PhysicalOf(field.type.kind)) {
        case Physical::kInt32:
        case Physical::kInt64:
          ExpectRange(
              ints, stats, [&] { return stats.min_int(); }, [&] { return stats.max_int(); });
          break;
        case Physical::kFloat:
        case Physical::kDouble:
          ExpectRange(
              floats, stats, [&] { return stats.min_double(); },
              [&] { return stats.max_double(); });
          break;
        case Physical::kInt128:
          ExpectRange(
              int128s, stats, [&] { return stats.min_int128(); },
              [&] { return stats.max_int128(); });
          break;
        case Physical::kBytes:
          ExpectRange(
              texts, stats, [&] { return stats.min_bytes(); }, [&] { return stats.max_bytes(); });
          break;
      }
    }
  }
}

}  // namespace
}  // namespace fjord
