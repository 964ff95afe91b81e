#include "spec/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status.h"

namespace fjord {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kShop = R"(replications:
  shop:
    source:
      postgres: {url: "postgres://fjord@db.internal/shop", password: {env: SHOP_PASSWORD}}
    lake:
      catalog: {embedded: {path: ./lake}}
      formatVersion: 2
    tables:
      - public.orders
      - {source: public.events, target: analytics.events, appendOnly: true, onDivergence: block}
      - inventory.*
    publish: {every: 500ms, rows: 20000, bytes: 64MiB}
    snapshots: {keep: 1h, atLeast: 20, atMost: 200}
    tableDefaults: {onDivergence: repair, externalWrites: accept, onUnrepresentable: null}
    memory: 300MiB
server: {listen: "127.0.0.1:8080"}
stateDir: ./.fjord/state
)";

TEST(Config, ReadsEveryKey) {
  const absl::StatusOr<Config> config = ParseConfig(kShop, "/etc/fjord/fjord.yaml");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->state_dir, "/etc/fjord/.fjord/state");
  EXPECT_EQ(config->data_dir, "/etc/fjord/.fjord/data");
  EXPECT_EQ(config->server->host, "127.0.0.1");
  EXPECT_EQ(config->server->port, 8080);
  const Replication& shop = config->replications.at("shop");
  EXPECT_EQ(shop.name, "shop");
  EXPECT_EQ(shop.source.url, "postgres://fjord@db.internal/shop");
  EXPECT_EQ(shop.source.password->Describe(), "environment variable SHOP_PASSWORD");
  EXPECT_EQ(shop.source.slot, "fjord_shop");
  EXPECT_EQ(shop.source.publication, "fjord_shop");
  const auto& embedded = std::get<EmbeddedCatalogConfig>(shop.lake.catalog);
  EXPECT_EQ(embedded.path, "/etc/fjord/lake");
  EXPECT_EQ(embedded.warehouse, "/etc/fjord/lake");
  EXPECT_EQ(embedded.name, "fjord");
  EXPECT_EQ(shop.publish.every, absl::Milliseconds(500));
  EXPECT_EQ(shop.publish.bytes, 64 << 20);
  EXPECT_EQ(shop.memory_bytes_max, 300 << 20);
}

TEST(Config, TablesInheritTheDefaultsAndMayOverrideThem) {
  const absl::StatusOr<Config> config = ParseConfig(kShop, "fjord.yaml");
  ASSERT_TRUE(config.ok()) << config.status();
  const std::vector<TableEntry>& tables = config->replications.at("shop").tables;
  ASSERT_EQ(tables.size(), 3U);
  EXPECT_EQ(tables[0].policy.on_divergence, OnDivergence::kRepair);
  EXPECT_EQ(tables[0].policy.on_unrepresentable, OnUnrepresentable::kNull);
  EXPECT_EQ(tables[1].policy.on_divergence, OnDivergence::kBlock);
  EXPECT_EQ(tables[1].policy.external_writes, ExternalWrites::kAccept);
  EXPECT_TRUE(tables[1].append_only);
  EXPECT_EQ(tables[1].TargetOf({"public", "events"}), (TableName{"analytics", "events"}));
  EXPECT_TRUE(tables[2].source.is_wildcard());
  EXPECT_EQ(tables[2].TargetOf({"inventory", "stock"}), (TableName{"inventory", "stock"}));
}

TEST(Config, SaysTheSameInJson) {
  const absl::StatusOr<Config> config = ParseConfig(
      R"({"replications": {"a": {"source": {"postgres": {"url": "host=db dbname=x"}},
          "lake": {"catalog": {"embedded": {"path": "/lake"}}}, "tables": ["public.t"]}}})",
      "fjord.json");
  ASSERT_TRUE(config.ok()) << config.status();
}

// The text of a file with one replication whose parts can be put in.
struct Parts {
  std::string source = "postgres: {url: \"postgres://u@h/d\"}";
  std::string lake = "catalog: {embedded: {path: lake}}";
  std::string tables = "[public.t]";
  std::string more = "";
};
std::string Text(const Parts& parts) {
  return "replications:\n  r:\n    source: {" + parts.source + "}\n    lake: {" + parts.lake +
         "}\n    tables: " + parts.tables + "\n" + parts.more;
}

TEST(Config, RestCatalogAndS3) {
  const absl::StatusOr<Config> config = ParseConfig(
      Text(
          {.lake =
               R"(catalog: {rest: {uri: "https://cat.example/api/", warehouse: wh, credential: {file: id}}},
        storage: {s3: {endpoint: "http://127.0.0.1:9000", pathStyle: true, region: eu-central-1,
          credential: {accessKeyId: {env: A}, secretAccessKey: {env: B}}}})"}),
      "/c/fjord.yaml");
  ASSERT_TRUE(config.ok()) << config.status();
  const Lake& lake = config->replications.at("r").lake;
  const auto& rest = std::get<RestCatalogConfig>(lake.catalog);
  EXPECT_EQ(rest.uri, "https://cat.example/api");
  EXPECT_EQ(rest.credential->Describe(), "secret file /c/id");
  ASSERT_TRUE(lake.s3.has_value());
  EXPECT_EQ(lake.s3->path_style, true);
  EXPECT_EQ(lake.s3->credential->secret_access_key.Describe(), "environment variable B");
}

TEST(Config, WrittenDefaultsAreTheDefaults) {
  const absl::StatusOr<Config> silent = ParseConfig(Text({}), "/c/fjord.yaml");
  const absl::StatusOr<Config> spoken = ParseConfig(
      Text({.lake = "catalog: {embedded: {path: lake, name: fjord}}, formatVersion: 2",
            .tables = "[{source: public.t, appendOnly: false, onDivergence: block}]",
            .more = "    publish: {every: 500ms, rows: 20000, bytes: 64MiB}\n"
                    "    snapshots: {keep: 1h, atLeast: 20, atMost: 200}\n"
                    "    tableDefaults: {onDivergence: block, onUnrepresentable: block, "
                    "externalWrites: block, arrays: text}\n"
                    "    memory: 256MiB\n"
                    "stateDir: ./.fjord/state\ndataDir: ./.fjord/data\n"}),
      "/c/fjord.yaml");
  ASSERT_TRUE(silent.ok()) << silent.status();
  ASSERT_TRUE(spoken.ok()) << spoken.status();
  const Replication& a = silent->replications.at("r");
  const Replication& b = spoken->replications.at("r");
  EXPECT_EQ(a.publish.every, b.publish.every);
  EXPECT_EQ(a.publish.rows, b.publish.rows);
  EXPECT_EQ(a.publish.bytes, b.publish.bytes);
  EXPECT_EQ(a.snapshots.keep, b.snapshots.keep);
  EXPECT_EQ(a.snapshots.at_least, b.snapshots.at_least);
  EXPECT_EQ(a.snapshots.at_most, b.snapshots.at_most);
  EXPECT_EQ(a.table_defaults, b.table_defaults);
  EXPECT_EQ(a.tables[0].policy, b.tables[0].policy);
  EXPECT_EQ(a.memory_bytes_max, b.memory_bytes_max);
  EXPECT_EQ(silent->state_dir, spoken->state_dir);
  EXPECT_EQ(silent->data_dir, spoken->data_dir);
}

// Prints as its situation in the output of a failed test.
struct BadFile {
  std::string situation;
  std::string text;
  std::vector<std::string> lines;  // the whole message

  friend std::ostream& operator<<(std::ostream& out, const BadFile& file) {
    return out << file.situation;
  }
};

class Refused : public ::testing::TestWithParam<BadFile> {};

TEST_P(Refused, WithEveryReason) {
  const absl::StatusOr<Config> config = ParseConfig(GetParam().text, "f.yaml");
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument);
  std::string expected;
  for (const std::string& line : GetParam().lines) {
    expected += (expected.empty() ? "" : "\n") + line;
  }
  EXPECT_EQ(Message(config.status()), expected);
}

INSTANTIATE_TEST_SUITE_P(
    BadFiles, Refused,
    ::testing::Values(
        BadFile{"Empty",
                "# nothing\n",
                {R"(f.yaml: the file is empty: it needs the key "replications")"}},
        BadFile{"NotYaml",
                "replications: [\n",
                {"f.yaml:2:1: not YAML: end of sequence flow not found"}},
        BadFile{"ListAtTheTop",
                "- a\n",
                {"f.yaml:1:1: expected a mapping with the keys replications, server, stateDir, "
                 "dataDir, found a list"}},
        BadFile{"TwoDocuments",
                "a: 1\n---\nb: 2\n",
                {"f.yaml:3:1: a second document begins; a file holds one"}},
        BadFile{
            "SeveralMistakesAtOnce",
            Text({.source = "postgress: {url: x}",
                  .more = "    publish: {evry: 1s, rows: many}\n"}),
            {R"(f.yaml:3:13: replications.r.source: the key "postgres" is missing)",
             R"(f.yaml:3:14: replications.r.source: unknown key "postgress"; did you mean "postgres"?)",
             R"(f.yaml:6:15: replications.r.publish: unknown key "evry"; did you mean "every"?)",
             R"(f.yaml:6:31: replications.r.publish.rows: expected an integer, found text)"}},
        BadFile{
            "AnotherSpelling",
            Text({.tables = "[{source: a.b, append_only: true}]"}),
            {R"(f.yaml:5:28: replications.r.tables[0]: unknown key "append_only"; did you mean "appendOnly"?)"}},
        BadFile{
            "KeyInAnotherPlace",
            Text({.more = "    publication: p\n"}),
            {R"(f.yaml:6:5: replications.r: unknown key "publication"; its place is replications.<name>.source.postgres.publication)"}},
        BadFile{
            "KeyLikeNone",
            Text({.more = "    zzzzzzzzz: p\n"}),
            {R"(f.yaml:6:5: replications.r: unknown key "zzzzzzzzz"; the keys here are source, lake, tables, publish, snapshots, tableDefaults, memory, workers)"}},
        BadFile{"DuplicateKey",
                Text({.more = "    workers: 2\n    workers: 3\n"}),
                {R"(f.yaml:7:5: replications.r: the key "workers" is there twice)"}},
        BadFile{
            "NotYetKeys",
            Text({.lake = "catalog: {embedded: {path: lake}}, formatVersion: 3",
                  .tables = "[{source: a.b, partitionBy: [\"day(at)\"], arrays: list}]",
                  .more = "    publish: {atomic: true}\ncaptures: {}\n"}),
            {R"(f.yaml:4:62: replications.r.lake.formatVersion: not yet: the value 3 is known, but this version of fjord cannot do it)",
             R"(f.yaml:5:28: replications.r.tables[0]: not yet: the key "partitionBy" is known, but this version of fjord cannot do it)",
             R"(f.yaml:5:62: replications.r.tables[0].arrays: not yet: the value list is known, but this version of fjord cannot do it)",
             R"(f.yaml:6:15: replications.r.publish: not yet: the key "atomic" is known, but this version of fjord cannot do it)",
             R"(f.yaml:7:1: not yet: the key "captures" is known, but this version of fjord cannot do it)"}},
        BadFile{"InlinePassword",
                Text({.source = "postgres: {url: \"postgres://u@h/d\", password: hunter2}"}),
                {"f.yaml:3:60: replications.r.source.postgres.password: expected {env: NAME} or "
                 "{file: PATH}; a secret is never written into this file, found text"}},
        BadFile{
            "TwoPasswords",
            Text({.source = "postgres: {url: \"postgres://u:p@h/d\", password: {env: P}}"}),
            {R"(f.yaml:3:62: replications.r.source.postgres: the url holds a password already: keep one of the two, best the key "password")"}},
        BadFile{
            "SecretOfTwoSources",
            Text({.source = "postgres: {url: \"postgres://u@h/d\", password: {env: P, file: x}}"}),
            {"f.yaml:3:60: replications.r.source.postgres.password: exactly one of env, file has "
             "to be there"}},
        BadFile{
            "UrlOfAnotherKind",
            Text({.source = "postgres: {url: \"mysql://u:secret@h/d\"}"}),
            {R"(f.yaml:3:30: replications.r.source.postgres.url: expected a URL such as postgres://user@host/database, found "mysql://u:***@h/d")"}},
        BadFile{"TwoCatalogs",
                Text({.lake = "catalog: {embedded: {path: a}, rest: {uri: \"http://x\"}}"}),
                {"f.yaml:4:21: replications.r.lake.catalog: exactly one of embedded, rest has to "
                 "be there"}},
        BadFile{
            "TokenBesideCredential",
            Text({.lake = "catalog: {rest: {uri: \"http://x\", credential: {env: A}, token: {env: "
                          "B}}}"}),
            {R"(f.yaml:4:75: replications.r.lake.catalog.rest: "credential" and "token" exclude each other)"}},
        BadFile{
            "ScopeWithoutCredential",
            Text({.lake = "catalog: {rest: {uri: \"http://x\", scope: s}}"}),
            {R"(f.yaml:4:53: replications.r.lake.catalog.rest: "scope" does nothing without "credential")"}},
        BadFile{
            "S3BesideALocalWarehouse",
            Text({.lake = "catalog: {embedded: {path: a}}, storage: {s3: {region: x}}"}),
            {"f.yaml:4:58: replications.r.lake.storage.s3: it does nothing, since the warehouse is "
             "a local folder: add `warehouse: s3://bucket/prefix` to the catalog"}},
        BadFile{
            "Units",
            Text({.more = "    publish: {every: 500, bytes: 64MB}\n    snapshots: {keep: 1 h}\n"}),
            {R"(f.yaml:6:22: replications.r.publish.every: expected a duration: an integer and ms, s, m, h or d, such as 500ms, found "500")",
             R"(f.yaml:6:34: replications.r.publish.bytes: expected a size: an integer and B, KiB, MiB or GiB, such as 64MiB, found "64MB")",
             R"(f.yaml:7:23: replications.r.snapshots.keep: expected a duration: an integer and ms, s, m, h or d, such as 500ms, found "1 h")"}},
        BadFile{"OutOfRange",
                Text({.more = "    publish: {every: 1ms}\n    memory: 1MiB\n    workers: 0\n"}),
                {"f.yaml:6:22: replications.r.publish.every: 1ms is out of range: 10ms to 24h",
                 "f.yaml:7:13: replications.r.memory: 1MiB is out of range: 64MiB to 1024GiB",
                 "f.yaml:8:14: replications.r.workers: 0 is out of range: 1 to 256"}},
        BadFile{"AtLeastAboveAtMost",
                Text({.more = "    snapshots: {atLeast: 30, atMost: 10}\n"}),
                {"f.yaml:6:16: replications.r.snapshots: atLeast (30) is above atMost (10)"}},
        BadFile{
            "TableWithoutSchema",
            Text({.tables = "[orders]"}),
            {R"(f.yaml:5:14: replications.r.tables[0]: expected schema.table, such as public.orders or inventory.*, found "orders")"}},
        BadFile{
            "TableTwice",
            Text({.tables = "[a.b, {source: a.b}]"}),
            {"f.yaml:5:19: replications.r.tables[1]: a.b is in the list already",
             "f.yaml:5:19: replications.r.tables[1]: another table has the target a.b already"}},
        BadFile{
            "TwoTablesWithOneTarget",
            Text({.tables = "[a.b, {source: c.d, target: a.b}]"}),
            {"f.yaml:5:19: replications.r.tables[1]: another table has the target a.b already"}},
        BadFile{"PatternWithOneTarget",
                Text({.tables = "[{source: a.*, target: a.b}]"}),
                {"f.yaml:5:36: replications.r.tables[0].target: the source is a pattern, so the "
                 "target has to be namespace.*"}},
        BadFile{"NoTables",
                Text({.tables = "[]"}),
                {"f.yaml:5:13: replications.r.tables: the list is empty"}},
        BadFile{"KeyWithoutValue",
                Text({.more = "server:\n"}),
                {"f.yaml:6:1: server: expected a mapping with the keys listen, found nothing"}},
        BadFile{
            "NumberAsText",
            Text({.more = "stateDir: 12\n"}),
            {R"(f.yaml:6:11: stateDir: expected a folder, found an integer; write it in quotes: "12")"}},
        BadFile{"QuotedBoolean",
                Text({.tables = "[{source: a.b, appendOnly: \"true\"}]"}),
                {"f.yaml:5:40: replications.r.tables[0].appendOnly: expected true or false, found "
                 "text; without quotes"}},
        BadFile{
            "UnknownValue",
            Text({.more = "    tableDefaults: {onDivergence: repare}\n"}),
            {R"(f.yaml:6:35: replications.r.tableDefaults.onDivergence: unknown value "repare"; did you mean repair?)"}},
        BadFile{
            "ReplicationName",
            "replications:\n  My-Shop: {source: {postgres: {url: \"postgres://h\"}}, lake: "
            "{catalog: {embedded: {path: x}}}, tables: [a.b]}\n",
            {R"(f.yaml:2:3: replications: the name "My-Shop" is not possible: a name is a lower-case letter and up to 39 more letters, digits or underscores)"}},
        BadFile{"StateIsData",
                Text({.more = "stateDir: x\ndataDir: ./x\n"}),
                {"f.yaml:7:10: dataDir: it is the same folder as stateDir, which may be deleted at "
                 "any time"}},
        BadFile{"Port",
                Text({.more = "server: {listen: \"127.0.0.1:80800\"}\n"}),
                {"f.yaml:6:18: server.listen: a port is a number from 0 to 65535"}}),
    [](const auto& info) { return info.param.situation; });

TEST(Config, TwoReplicationsMayNotShareASlotOrATarget) {
  const absl::StatusOr<Config> config = ParseConfig(R"(replications:
  a: &a
    source: {postgres: {url: "postgres://h/d", slot: s}}
    lake: {catalog: {embedded: {path: lake}}}
    tables: [public.t]
  b: *a
)",
                                                    "f.yaml");
  ASSERT_FALSE(config.ok());
  EXPECT_THAT(std::string(Message(config.status())),
              HasSubstr("another replication uses the slot s"));
  EXPECT_THAT(std::string(Message(config.status())),
              HasSubstr("another replication writes to the target public.t"));
}

TEST(Config, AnAliasBombEnds) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string one = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + one;
    for (int j = 0; j < 8; ++j) text += ", " + one;
    text += "]\n";
  }
  const absl::StatusOr<Config> config = ParseConfig(text, "f.yaml");
  ASSERT_FALSE(config.ok());
  EXPECT_THAT(std::string(Message(config.status())), HasSubstr("too many values"));
}

TEST(Config, DeepNestingIsRefused) {
  const absl::StatusOr<Config> config = ParseConfig(std::string(20'000, '['), "f.yaml");
  EXPECT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Config, AMissingFileIsNamed) {
  const absl::StatusOr<Config> config = LoadConfig("/nowhere/fjord.yaml");
  EXPECT_EQ(config.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(Message(config.status())), HasSubstr("/nowhere/fjord.yaml"));
}

}  // namespace
}  // namespace fjord
