#include <gtest/gtest.h>

#include "base/status.h"
#include "spec/config.h"

namespace fjord {
namespace {

TableSelector Parsed(std::string_view text) {
  absl::StatusOr<TableSelector> selector = ParseTableSelector(text);
  EXPECT_TRUE(selector.ok()) << text << ": " << selector.status();
  return selector.ok() ? *selector : TableSelector();
}

TEST(TableSelector, MatchesOneTable) {
  EXPECT_TRUE(Parsed("public.orders").Matches("public", "orders"));
  EXPECT_FALSE(Parsed("public.orders").Matches("public", "orders2"));
  EXPECT_FALSE(Parsed("public.orders").Matches("other", "orders"));
}

TEST(TableSelector, KeepsCase) {
  EXPECT_TRUE(Parsed("public.Orders").Matches("public", "Orders"));
  EXPECT_FALSE(Parsed("public.Orders").Matches("public", "orders"));
}

TEST(TableSelector, WildcardsAnywhere) {
  EXPECT_TRUE(Parsed("inventory.*").Matches("inventory", ""));
  EXPECT_TRUE(Parsed("*.*").Matches("a", "b"));
  EXPECT_TRUE(Parsed("s.a*b*c").Matches("s", "a-b-b-c"));
  EXPECT_TRUE(Parsed("s.a*b*c").Matches("s", "abc"));
  EXPECT_FALSE(Parsed("s.a*b*c").Matches("s", "ac"));
  EXPECT_FALSE(Parsed("s.ab*ba").Matches("s", "aba"));  // the pieces may not overlap
}

TEST(TableSelector, QuotesKeepDotsAndStars) {
  const TableSelector selector = Parsed(R"("My schema"."a.b*""c")");
  EXPECT_FALSE(selector.is_wildcard());
  EXPECT_TRUE(selector.Matches("My schema", "a.b*\"c"));
  EXPECT_EQ(selector.ToString(), R"("My schema"."a.b*""c")");
}

TEST(TableSelector, PrintsWhatParsesToTheSame) {
  for (const char* text : {"a.b", "a.*", "*.*", "a.x*y", R"(a."*"*)", R"("a b".c)"}) {
    EXPECT_EQ(Parsed(Parsed(text).ToString()), Parsed(text)) << text;
  }
}

TEST(TableSelector, RefusesWhatIsNotTwoParts) {
  for (const char* text : {"", "a", "a.", ".a", "a.b.c", R"("a.b)", R"("".a)"}) {
    EXPECT_FALSE(ParseTableSelector(text).ok()) << text;
  }
}

TEST(FindTableEntry, AnExactEntryGoesBeforeAPattern) {
  TableEntry pattern;
  pattern.source = Parsed("public.*");
  TableEntry exact;
  exact.source = Parsed("public.events");
  exact.append_only = true;
  const std::vector<TableEntry> entries = {pattern, exact};
  EXPECT_TRUE(FindTableEntry(entries, {"public", "events"})->append_only);
  EXPECT_FALSE(FindTableEntry(entries, {"public", "orders"})->append_only);
  EXPECT_EQ(FindTableEntry(entries, {"other", "orders"}), nullptr);
}

TEST(TableEntry, APatternMayGoToAnotherNamespace) {
  TableEntry entry;
  entry.source = Parsed("public.*");
  entry.target = Parsed("lake.*");
  EXPECT_EQ(entry.TargetOf({"public", "orders"}), (TableName{"lake", "orders"}));
}

}  // namespace
}  // namespace fjord
