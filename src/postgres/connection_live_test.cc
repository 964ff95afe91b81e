// Sessions, the catalogue, publications and the check of a source, against a real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "postgres/live_server.h"
#include "postgres/publication.h"
#include "postgres/source_check.h"
#include "postgres/types.h"

namespace fjord {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

class ConnectionLive : public LiveTest {};
class CatalogLive : public LiveTest {};
class SourceCheckLive : public LiveTest {};

TEST_F(ConnectionLive, OwnSettingsWinOverRoleDatabaseAndEnvironment) {
  Exec(
      "CREATE ROLE live_odd SUPERUSER REPLICATION LOGIN; ALTER ROLE live_odd SET datestyle = "
      "'German'; "
      "ALTER ROLE live_odd SET statement_timeout = '1ms'; ALTER ROLE live_odd SET search_path = "
      "'nowhere'; "
      "ALTER ROLE live_odd SET default_transaction_read_only = on; ALTER ROLE live_odd SET "
      "bytea_output = 'escape'; "
      "ALTER ROLE live_odd SET extra_float_digits = -15");
  at_end_.push_back("DROP ROLE live_odd");
  setenv("PGTZ", "America/New_York", 1);
  setenv("PGDATESTYLE", "SQL, DMY", 1);
  setenv("PGOPTIONS", "-c intervalstyle=iso_8601", 1);
  for (const SessionKind kind : {SessionKind::kOrdinary, SessionKind::kReplication}) {
    ConnectionOptions options = options_;
    options.kind = kind;
    options.url.replace(options.url.find("//") + 2,
                        options.url.find('@') - options.url.find("//") - 2, "live_odd");
    const auto session = Connection::Open(options);
    ASSERT_TRUE(session.ok()) << session.status();
    const std::pair<const char*, const char*> expected[] = {
        {"timezone", "UTC"},
        {"datestyle", "ISO, YMD"},
        {"intervalstyle", "postgres"},
        {"bytea_output", "hex"},
        {"extra_float_digits", "3"},
        {"statement_timeout", "0"},
        {"search_path", "\"\""},
        {"client_encoding", "UTF8"},
        {"default_transaction_read_only", "off"},
        {"row_security", "off"},
    };
    for (const auto& [name, value] : expected) {
      const auto shown = (*session)->Query(StrCat("SHOW ", name));
      ASSERT_TRUE(shown.ok()) << shown.status();
      EXPECT_EQ(shown->Text(0, 0), value) << name;
    }
  }
  unsetenv("PGTZ");
  unsetenv("PGDATESTYLE");
  unsetenv("PGOPTIONS");
}

TEST_F(ConnectionLive, RefusalsSayWhetherWaitingHelps) {
  ConnectionOptions wrong = options_;
  wrong.url = wrong.url.substr(0, wrong.url.rfind('/')) + "/no_such_database";
  const auto refused = Connection::Open(wrong);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition) << refused.status();
  EXPECT_EQ(SqlState(refused.status()), "3D000");
  wrong.url = "postgres://nobody@127.0.0.1:1/x";
  EXPECT_EQ(Connection::Open(wrong).status().code(), absl::StatusCode::kUnavailable);
  wrong.url = "postgres://me:topsecret%@host/x?bad";
  const absl::Status bad = Connection::Open(wrong).status();
  EXPECT_EQ(bad.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(bad.ToString(), ::testing::Not(HasSubstr("topsecret")));
}

TEST_F(ConnectionLive, ErrorsCarryTheirCodeAndTheSessionGoesOn) {
  const absl::Status missing = session_->Exec("SELECT * FROM nowhere.nothing");
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(SqlState(missing), "42P01");
  EXPECT_EQ(Value("SELECT 'still here'"), "still here");
  EXPECT_EQ(session_->Query("SELECT $1::int + $2::int", {"1", "2"})->Text(0, 0), "3");
  EXPECT_FALSE(session_->Query("SELECT NULL")->Get(0, 0));
}

TEST_F(ConnectionLive, WaitingCanBeGivenUp) {
  int waited = 0;
  const auto result = session_->QueryWaiting("SELECT pg_sleep(60)", absl::Milliseconds(10), [&] {
    return ++waited < 3 ? absl::OkStatus() : absl::CancelledError("enough");
  });
  EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(waited, 3);
  EXPECT_EQ(Value("SELECT 1"), "1");
}

TEST_F(ConnectionLive, LostSessionIsUnavailable) {
  auto other = Open(SessionKind::kOrdinary);
  Exec(StrCat("SELECT pg_terminate_backend(", other->backend_pid(), ")"));
  EXPECT_EQ(other->Exec("SELECT 1").code(), absl::StatusCode::kUnavailable);
}

TEST_F(CatalogLive, IdentityIsThatOfTheServer) {
  auto replication = Open(SessionKind::kReplication);
  const auto identity = ReadSourceIdentity(*replication);
  ASSERT_TRUE(identity.ok()) << identity.status();
  EXPECT_EQ(identity->system_identifier,
            Value("SELECT system_identifier FROM pg_control_system()"));
  EXPECT_EQ(identity->database, Value("SELECT current_database()"));
  EXPECT_EQ(identity->timeline, TimelineId(1));
  EXPECT_GT(identity->wal_position, Lsn());
  EXPECT_TRUE(ReadTimelineHistory(*replication, identity->timeline)->empty());
}

TEST_F(CatalogLive, ColumnsKeysAndDomains) {
  Exec(StrCat("CREATE DOMAIN ", schema_, ".money2 AS numeric(10,2); CREATE DOMAIN ", schema_,
              ".nested AS ", schema_, ".money2; CREATE TYPE ", schema_,
              ".mood AS ENUM ('a'); CREATE TABLE ", schema_,
              ".\"Odd.Name\" (gone int, \"a b\" int NOT NULL, n ", schema_, ".nested, m ", schema_,
              ".mood, l int[], v int2vector, b box[], g int GENERATED ALWAYS AS (\"a b\" * 2) "
              "STORED, i int GENERATED "
              "BY DEFAULT AS IDENTITY, PRIMARY KEY (i, \"a b\")); ALTER TABLE ",
              schema_, ".\"Odd.Name\" DROP gone; CREATE UNIQUE INDEX u1 ON ", schema_,
              ".\"Odd.Name\" (\"a b\") INCLUDE (n); "
              "CREATE UNIQUE INDEX u2 ON ",
              schema_, ".\"Odd.Name\" (n); CREATE UNIQUE INDEX u3 ON ", schema_,
              ".\"Odd.Name\" (\"a b\") WHERE i > 0; CREATE UNIQUE INDEX u4 ON ", schema_,
              ".\"Odd.Name\" ((\"a b\" + 1)); ALTER TABLE ", schema_,
              ".\"Odd.Name\" ADD UNIQUE (i) DEFERRABLE"));
  const TableInfo table = Table("Odd.Name");
  ASSERT_EQ(table.columns.size(), 8u);
  EXPECT_EQ(table.columns[0].attnum, 2);
  EXPECT_EQ(table.columns[0].name, "a b");
  EXPECT_TRUE(table.columns[0].not_null);
  EXPECT_EQ(table.columns[1].base_type, Oid(1700));
  EXPECT_EQ(table.columns[2].base_typtype, 'e');
  EXPECT_TRUE(table.columns[3].is_array);
  EXPECT_EQ(table.columns[3].element_base_type, Oid(23));
  EXPECT_FALSE(table.columns[4].is_array) << "int2vector prints without braces";
  EXPECT_EQ(table.columns[5].element_delimiter, ';');
  EXPECT_EQ(table.columns[6].generated, 's');
  EXPECT_EQ(table.columns[7].identity, 'd');
  const ColumnMapping mapping = MapColumns(table, ChooseKey(table).attnums, {}, {});
  EXPECT_EQ(mapping.columns[1].lake, (ColumnType{TypeKind::kDecimal, 10, 2}));
  EXPECT_THAT(mapping.left_out, ElementsAre("g"));
  EXPECT_THAT(mapping.key, ElementsAre(6, 0)) << "in the order of the index";
  ASSERT_EQ(table.keys.size(), 6u);
  EXPECT_TRUE(table.keys[0].is_primary);
  EXPECT_TRUE(table.keys[0].is_usable);
  for (const CandidateKey& key : table.keys) {
    EXPECT_EQ(key.is_usable, key.is_primary || key.name == "u1") << key.name;
    if (key.name == "u1") {
      EXPECT_THAT(key.attnums, ElementsAre(2));
    }
  }
  EXPECT_GT(table.relfilenode, 0u);
  EXPECT_TRUE(table.can_select);
}

TEST_F(CatalogLive, SchemaPatternTakesTablesOnly) {
  Exec(StrCat("CREATE TABLE ", schema_, ".b (id int); CREATE TABLE ", schema_,
              ".a (id int); CREATE VIEW ", schema_, ".v AS SELECT 1; CREATE TABLE ", schema_,
              ".root (id int) PARTITION BY LIST (id); CREATE TABLE ", schema_,
              ".leaf PARTITION OF ", schema_, ".root DEFAULT; CREATE UNLOGGED TABLE ", schema_,
              ".u (id int)"));
  const auto tables = ReadTables(*session_, {{.schema = schema_}});
  ASSERT_TRUE(tables.ok()) << tables.status();
  std::vector<std::string> names;
  for (const TableInfo& table : *tables) names.push_back(table.name);
  EXPECT_THAT(names, ElementsAre("a", "b", "root", "u"));
  EXPECT_EQ(Table("v").kind, RelationKind::kView);
  EXPECT_TRUE(Table("leaf").is_partition);
  EXPECT_EQ(Table("u").persistence, Persistence::kUnlogged);
  EXPECT_EQ(ReadTablesByOid(*session_, {Table("a").oid})->at(0).name, "a");
  EXPECT_TRUE(ReadTables(*session_, {})->empty());
}

TEST_F(CatalogLive, PublicationIsReadAndFilledUp) {
  const bool filters = session_->server_version() >= 150000;  // row filters and column lists
  Exec(StrCat("CREATE TABLE ", schema_, ".a (id int PRIMARY KEY, x int, y int); CREATE TABLE ",
              schema_, ".b (id int PRIMARY KEY)"));
  at_end_.push_back(StrCat("DROP PUBLICATION ", schema_));
  EXPECT_FALSE(*ReadPublication(*session_, schema_));
  Exec(StrCat("CREATE PUBLICATION ", schema_, " FOR TABLE ", schema_, ".a",
              filters ? " (id, y) WHERE (id > 5)" : "", " WITH (publish = 'insert')"));
  auto publication = ReadPublication(*session_, schema_);
  ASSERT_TRUE(publication.ok()) << publication.status();
  ASSERT_TRUE(*publication);
  ASSERT_EQ((*publication)->tables.size(), 1u);
  if (filters) {
    EXPECT_EQ((*publication)->tables[0].row_filter, "(id > 5)");
    EXPECT_THAT((*publication)->tables[0].column_attnums, ElementsAre(1, 3));
  }
  EXPECT_NE((*publication)->tables[0].membership.oid, Oid());
  EXPECT_NE((*publication)->row.xmin, Xid());
  EXPECT_FALSE((*publication)->update);
  const std::vector<QualifiedName> wanted = {{schema_, "a"}, {schema_, "b"}};
  for (const std::string& statement :
       PlanPublication(schema_, PublicationRole::kMain, *publication, wanted)) {
    Exec(statement);
  }
  publication = ReadPublication(*session_, schema_);
  EXPECT_EQ((*publication)->tables.size(), 2u);
  EXPECT_TRUE((*publication)->del);
  EXPECT_TRUE(PlanPublication(schema_, PublicationRole::kMain, *publication, wanted).empty());
}

TEST_F(SourceCheckLive, EverythingThatIsMissingHasItsStatement) {
  Exec(StrCat("CREATE ROLE live_weak LOGIN; CREATE TABLE ", schema_,
              ".good (id int PRIMARY KEY); CREATE TABLE ", schema_,
              ".keyless (a int); CREATE UNLOGGED TABLE ", schema_,
              ".fast (id int PRIMARY KEY); CREATE TABLE ", schema_,
              ".secret (id int PRIMARY KEY); ALTER TABLE ", schema_,
              ".secret ENABLE ROW LEVEL SECURITY"));
  at_end_ = {StrCat("DROP SCHEMA ", schema_, " CASCADE"), "DROP ROLE live_weak"};
  SourceCheckOptions options;
  options.connection = options_;
  std::string& url = options.connection.url;
  url.replace(url.find("//") + 2, url.find('@') - url.find("//") - 2, "live_weak");
  options.slot = "no_slot";
  options.publication = "no_publication";
  options.append_only_publication = "no_append";
  options.tables = {
      {.pattern = {.schema = schema_}, .text = StrCat(schema_, ".*")},
      {.pattern = {.schema = schema_, .name = "absent"}, .text = StrCat(schema_, ".absent")}};
  const auto facts = GatherSourceFacts(options);
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_FALSE(facts->replication_error.empty());
  const std::vector<Finding> findings = JudgeSource(options, *facts);
  const std::string table = StrCat("\"", schema_, "\".");
  for (const std::string& statement : {
           std::string("ALTER ROLE \"live_weak\" REPLICATION"),
           StrCat("GRANT USAGE ON SCHEMA \"", schema_, "\" TO \"live_weak\""),
           StrCat("GRANT SELECT ON ", table, "\"good\" TO \"live_weak\""),
           StrCat("ALTER TABLE ", table, "\"keyless\" ADD PRIMARY KEY (…)"),
           StrCat("ALTER TABLE ", table, "\"fast\" SET LOGGED"),
           std::string("ALTER ROLE \"live_weak\" BYPASSRLS"),
           StrCat("CREATE PUBLICATION \"no_publication\" FOR TABLE ONLY ", table, "\"good\", ONLY ",
                  table, "\"secret\" WITH (publish = 'insert, update, delete, truncate')"),
       }) {
    EXPECT_THAT(findings, Contains(Field(&Finding::statement, statement)));
  }
  EXPECT_THAT(findings, Contains(Field(&Finding::subject, StrCat("table ", schema_, ".absent"))));
}

TEST_F(SourceCheckLive, ReadySourceHasNoErrors) {
  Exec(StrCat("CREATE TABLE ", schema_, ".good (id int PRIMARY KEY)"));
  SourceCheckOptions options{.connection = options_,
                             .slot = "no_slot",
                             .publication = "p",
                             .append_only_publication = "q"};
  options.tables = {{.pattern = {.schema = schema_, .name = "good"}, .text = "good"}};
  const auto facts = GatherSourceFacts(options);
  ASSERT_TRUE(facts.ok()) << facts.status();
  for (const Finding& finding : JudgeSource(options, *facts)) {
    EXPECT_NE(finding.severity, Severity::kError) << finding.subject << ": " << finding.what;
  }
}

}  // namespace
}  // namespace fjord
