#include "postgres/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status.h"
#include "postgres/pg_error.h"
#include "postgres/publication.h"
#include "postgres/slot.h"

namespace fjord {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CandidateKey Primary() {
  return {
      .index = Oid(30), .name = "t_pkey", .is_primary = true, .is_usable = true, .attnums = {1}};
}
CandidateKey Unique(uint32_t oid, std::vector<int16_t> attnums) {
  return {.index = Oid(oid), .name = "t_u", .is_usable = true, .attnums = std::move(attnums)};
}

TableInfo Table(ReplicaIdentity identity, std::vector<CandidateKey> keys) {
  TableInfo table;
  table.schema = "public";
  table.name = "t";
  table.replica_identity = identity;
  table.keys = std::move(keys);
  return table;
}

TEST(ChooseKey, DefaultIsThePrimaryKey) {
  const KeyChoice key = ChooseKey(Table(ReplicaIdentity::kDefault, {Primary(), Unique(20, {2})}));
  EXPECT_EQ(key.kind, KeyChoice::Kind::kColumns);
  EXPECT_THAT(key.attnums, ElementsAre(1));
}

TEST(ChooseKey, DefaultWithoutPrimaryKeySaysWhichAlterHelps) {
  EXPECT_EQ(ChooseKey(Table(ReplicaIdentity::kDefault, {})).remedy,
            "ALTER TABLE \"public\".\"t\" ADD PRIMARY KEY (…)");
  const KeyChoice key = ChooseKey(Table(ReplicaIdentity::kDefault, {Unique(20, {2})}));
  EXPECT_EQ(key.kind, KeyChoice::Kind::kNone);
  EXPECT_EQ(key.remedy, "ALTER TABLE \"public\".\"t\" REPLICA IDENTITY USING INDEX \"t_u\"");
}

TEST(ChooseKey, DeferrablePrimaryKeyIsNoIdentity) {
  CandidateKey deferrable = Primary();
  deferrable.is_usable = false;
  EXPECT_EQ(ChooseKey(Table(ReplicaIdentity::kDefault, {deferrable})).kind, KeyChoice::Kind::kNone);
}

TEST(ChooseKey, UsingIndexGoesBeforeThePrimaryKey) {
  CandidateKey chosen = Unique(40, {3, 2});
  chosen.is_replica_identity = true;
  EXPECT_THAT(ChooseKey(Table(ReplicaIdentity::kIndex, {Primary(), chosen})).attnums,
              ElementsAre(3, 2));
  EXPECT_EQ(ChooseKey(Table(ReplicaIdentity::kIndex, {Primary()})).kind, KeyChoice::Kind::kNone)
      << "its index was dropped: old tuples carry nothing";
}

TEST(ChooseKey, FullTakesPrimaryThenLowestOid) {
  EXPECT_THAT(ChooseKey(Table(ReplicaIdentity::kFull, {Primary(), Unique(20, {2})})).attnums,
              ElementsAre(1));
  EXPECT_THAT(ChooseKey(Table(ReplicaIdentity::kFull, {Unique(22, {2}), Unique(21, {3})})).attnums,
              ElementsAre(3));
  EXPECT_EQ(ChooseKey(Table(ReplicaIdentity::kFull, {})).kind, KeyChoice::Kind::kWholeRow);
}

TEST(ChooseKey, NothingIsRefused) {
  const KeyChoice key = ChooseKey(Table(ReplicaIdentity::kNothing, {Primary()}));
  EXPECT_EQ(key.kind, KeyChoice::Kind::kNone);
  EXPECT_EQ(key.remedy, "ALTER TABLE \"public\".\"t\" REPLICA IDENTITY DEFAULT");
}

TEST(ParseTablePattern, NamesAsTheyAreStored) {
  const auto plain = ParseTablePattern("public.orders");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->schema, "public");
  EXPECT_EQ(plain->name, "orders");
  EXPECT_FALSE(ParseTablePattern("inventory.*")->name);
  const auto quoted = ParseTablePattern(R"("a.b"."c ""d"" *")");
  ASSERT_TRUE(quoted.ok()) << quoted.status();
  EXPECT_EQ(quoted->schema, "a.b");
  EXPECT_EQ(quoted->name, "c \"d\" *");
  EXPECT_EQ(ParseTablePattern("Straße.Größe")->name, "Größe");
  for (const char* bad :
       {"", "orders", "a.b.c", "a.", ".b", "a.b*", "*.b", "a.\"b", "a.\"b\"c", "a.b\"c"}) {
    EXPECT_EQ(ParseTablePattern(bad).status().code(), absl::StatusCode::kInvalidArgument) << bad;
  }
}

TEST(TimelineHistory, PositionsBeforeTheSwitchBelongToIt) {
  const auto history = ParseTimelineHistory(
      "1\t0/3000000\tno recovery target specified\n\n2\t0/5000060\tbefore 2000\n");
  ASSERT_TRUE(history.ok());
  ASSERT_EQ(history->size(), 2u);
  EXPECT_TRUE(OnHistory(TimelineId(1), Lsn(0x3000000), TimelineId(3), *history));
  EXPECT_FALSE(OnHistory(TimelineId(1), Lsn(0x3000001), TimelineId(3), *history));
  EXPECT_TRUE(OnHistory(TimelineId(3), Lsn(0x9000000), TimelineId(3), *history));
  EXPECT_FALSE(OnHistory(TimelineId(4), Lsn(1), TimelineId(3), *history));
  EXPECT_EQ(ParseTimelineHistory("x\t0/1\n").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ParseTimelineHistory("1 none").status().code(), absl::StatusCode::kDataLoss);
}

TEST(PgError, CodesSayWhatToDo) {
  EXPECT_EQ(CodeOfSqlState("57P01"), absl::StatusCode::kUnavailable);
  EXPECT_EQ(CodeOfSqlState("08006"), absl::StatusCode::kUnavailable);
  EXPECT_EQ(CodeOfSqlState("55006"), absl::StatusCode::kUnavailable);
  EXPECT_EQ(CodeOfSqlState("40001"), absl::StatusCode::kAborted);
  EXPECT_EQ(CodeOfSqlState("42P01"), absl::StatusCode::kNotFound);
  EXPECT_EQ(CodeOfSqlState("28P01"), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(CodeOfSqlState("53400"), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(CodeOfSqlState("42601"), absl::StatusCode::kInvalidArgument);
}

TEST(PgError, MissingRightsNameTheGrant) {
  const absl::Status status =
      ToStatus({.sqlstate = "42501", .message = "permission denied for table orders"}, "fjord");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.ToString(), HasSubstr(R"(GRANT SELECT ON "orders" TO "fjord")"));
  EXPECT_EQ(SqlState(status), "42501");
  EXPECT_EQ(SqlState(Annotate(status, "public.orders")), "42501");
  EXPECT_THAT(RemedyForDenied("permission denied for schema s", "u"),
              "GRANT USAGE ON SCHEMA \"s\" TO \"u\"");
  EXPECT_THAT(
      RemedyForDenied("must be superuser or replication role to use replication slots", "u"),
      "ALTER ROLE \"u\" REPLICATION");
}

TEST(PgError, RefusalOfAConnectionKeepsItsCode) {
  const PgError error = ParseConnectError(
      "connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  28P01: password "
      "authentication failed for user "
      "\"x\"\nLOCATION:  auth_failed, auth.c:338\n");
  EXPECT_EQ(error.sqlstate, "28P01");
  EXPECT_THAT(error.message, HasSubstr("FATAL: password authentication failed"));
  EXPECT_THAT(error.message, ::testing::Not(HasSubstr("LOCATION")));
  EXPECT_EQ(ParseConnectError("could not connect: Connection refused\n").sqlstate, "");
}

TEST(PgError, PoolerIsNotWaitedFor) {
  const absl::Status status = RefusalStatus(ParseConnectError(
      "connection to server at \"db\", port 6432 failed: FATAL:  08P01: unsupported startup "
      "parameter: replication\n"));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.ToString(), HasSubstr("connection pooler"));
  EXPECT_EQ(RefusalStatus({.sqlstate = "57P03", .message = "starting up"}).code(),
            absl::StatusCode::kUnavailable);
}

TEST(Quoting, DoublesTheQuote) {
  EXPECT_EQ(QuoteIdent("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(QuoteLiteral("it's \\"), "'it''s \\'");
  EXPECT_EQ(QuoteQualified("s", "t"), "\"s\".\"t\"");
}

TEST(SlotNameFor, OnlyCharactersThatPostgresAllows) {
  EXPECT_EQ(SlotNameFor("Shop-1"), "fjord_shop_1");
  EXPECT_EQ(SlotNameFor(std::string(100, 'x')).size(), 63u);
}

TEST(PlanPublication, CreatesWhatIsMissingAndTakesNothingOut) {
  const std::vector<QualifiedName> wanted = {{"public", "a"}, {"s", "b"}};
  EXPECT_THAT(PlanPublication("p", PublicationRole::kMain, std::nullopt, wanted),
              ElementsAre("CREATE PUBLICATION \"p\" FOR TABLE ONLY \"public\".\"a\", ONLY "
                          "\"s\".\"b\" WITH (publish = "
                          "'insert, update, delete, truncate')"));
  EXPECT_THAT(PlanPublication("p", PublicationRole::kMain, std::nullopt, {}), IsEmpty());
  Publication existing{.name = "p"};
  existing.tables = {{.schema = "public", .name = "a"}, {.schema = "public", .name = "other"}};
  EXPECT_THAT(PlanPublication("p", PublicationRole::kMain, existing, wanted),
              ElementsAre("ALTER PUBLICATION \"p\" ADD TABLE ONLY \"s\".\"b\""));
  existing.tables.push_back({.schema = "s", .name = "b"});
  EXPECT_THAT(PlanPublication("p", PublicationRole::kMain, existing, wanted), IsEmpty());
  EXPECT_THAT(PlanPublication("p", PublicationRole::kAppendOnly, existing, wanted),
              ElementsAre("ALTER PUBLICATION \"p\" SET (publish = 'insert, truncate')"));
}

}  // namespace
}  // namespace fjord
