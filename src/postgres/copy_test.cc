#include "postgres/copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fjord {
namespace {

using ::testing::ElementsAre;

std::vector<TextCell> Parse(std::string_view line, size_t columns) {
  static Arena arena;
  TupleRows rows{.columns = columns};
  const absl::Status status = ParseCopyLine(line, arena, rows);
  EXPECT_TRUE(status.ok()) << status;
  return rows.cells;
}

absl::StatusCode CodeOf(std::string_view line, size_t columns) {
  Arena arena;
  TupleRows rows{.columns = columns};
  return ParseCopyLine(line, arena, rows).code();
}

TEST(ParseCopyLine, FieldsNullsAndEmptyText) {
  EXPECT_THAT(Parse("1\t\\N\t\tlast", 4), ElementsAre(TextCell::Of("1"), TextCell::Null(),
                                                      TextCell::Of(""), TextCell::Of("last")));
  EXPECT_THAT(Parse("\\N", 1), ElementsAre(TextCell::Null()));
  EXPECT_THAT(Parse("", 1), ElementsAre(TextCell::Of("")));
}

TEST(ParseCopyLine, EscapesAreUndone) {
  EXPECT_THAT(Parse("a\\tb\\nc\\rd\\\\e\\bf\\fg\\vh", 1),
              ElementsAre(TextCell::Of("a\tb\nc\rd\\e\bf\fg\vh")));
  EXPECT_THAT(Parse("\\\\N\t\\\\.", 2), ElementsAre(TextCell::Of("\\N"), TextCell::Of("\\.")));
  EXPECT_THAT(Parse("\\x41\\101\\q", 1), ElementsAre(TextCell::Of("AAq")));
  EXPECT_THAT(Parse("\\\\x00ff\t\\\\x", 2),
              ElementsAre(TextCell::Of("\\x00ff"), TextCell::Of("\\x")));
}

TEST(ParseCopyLine, EscapesAtEachPlaceOfLongText) {
  for (size_t at = 0; at < 40; ++at) {
    std::string line(40, 'x');
    std::string expected = line;
    expected[at] = '\n';
    line.replace(at, 1, "\\n");
    EXPECT_THAT(Parse(line + "\t7", 2), ElementsAre(TextCell::Of(expected), TextCell::Of("7")))
        << at;
  }
}

TEST(ParseCopyLine, WrongNumberOfFieldsAndCutOffEscapes) {
  EXPECT_EQ(CodeOf("1\t2", 1), absl::StatusCode::kDataLoss);
  EXPECT_EQ(CodeOf("1", 2), absl::StatusCode::kDataLoss);
  EXPECT_EQ(CodeOf("a\\", 1), absl::StatusCode::kDataLoss);
  EXPECT_EQ(CodeOf("x", 0), absl::StatusCode::kDataLoss);
  EXPECT_EQ(CodeOf("", 0), absl::StatusCode::kOk);
}

TEST(SliceTable, CoversAllPagesAndTheLastIsOpen) {
  constexpr int64_t kMiB = 1 << 20;
  EXPECT_THAT(SliceTable(0, kMiB, 2), ElementsAre(PageRange{0, std::nullopt}));
  EXPECT_THAT(SliceTable(128, kMiB, 2), ElementsAre(PageRange{0, std::nullopt}));
  EXPECT_THAT(SliceTable(130, kMiB, 2), ElementsAre(PageRange{0, 65}, PageRange{65, std::nullopt}));
  EXPECT_THAT(SliceTable(300, kMiB, 1),
              ElementsAre(PageRange{0, 100}, PageRange{100, 200}, PageRange{200, std::nullopt}));
  EXPECT_EQ(SliceTable(300, kMiB, 2).size(), 4u);
  EXPECT_EQ(SliceTable(3, 1, 1).size(), 3u);
  EXPECT_EQ(SliceTable(3, 1, 8).size(), 3u);
}

TEST(CopySql, NamesAreQuotedAndConditionsJoined) {
  EXPECT_EQ(CopySql({.schema = "s", .name = "t\"", .columns = {"a", "b c"}}),
            R"(COPY (SELECT "a", "b c" FROM ONLY "s"."t""") TO STDOUT)");
  EXPECT_EQ(
      CopySql({.schema = "s",
               .name = "t",
               .columns = {"a"},
               .row_filter = "a > 1",
               .pages = PageRange{5, 9}}),
      R"(COPY (SELECT "a" FROM ONLY "s"."t" WHERE ctid >= '(5,0)'::tid AND ctid < '(9,0)'::tid AND (a > 1)) )"
      "TO STDOUT");
  EXPECT_EQ(
      CopySql({.schema = "s", .name = "t", .columns = {"a"}, .pages = PageRange{0, std::nullopt}}),
      R"(COPY (SELECT "a" FROM ONLY "s"."t") TO STDOUT)");
}

}  // namespace
}  // namespace fjord
