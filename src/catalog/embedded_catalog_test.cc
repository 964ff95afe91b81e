#include "catalog/embedded_catalog.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/sqlite.h"
#include "base/status.h"
#include "catalog/catalog_test_support.h"

namespace fjord {
namespace {

const TableIdent kOrders{{"shop"}, "orders"};

class EmbeddedCatalogTest : public testing::Test {
 protected:
  std::unique_ptr<Catalog> Open() {
    auto catalog = OpenEmbeddedCatalog({.database = StrCat(folder_.path(), "/catalog.db"),
                                        .warehouse = StrCat("file://", folder_.path())},
                                       &store_);
    EXPECT_TRUE(catalog.ok()) << catalog.status();
    return *std::move(catalog);
  }
  LoadedTable Make(Catalog& catalog, const TableIdent& ident,
                   std::map<std::string, std::string> properties = {}) {
    EXPECT_TRUE(catalog.CreateNamespace(ident.ns).ok());
    const auto table = catalog.CreateTable(
        ident, {.schema = SchemaForTest(), .properties = std::move(properties)});
    EXPECT_TRUE(table.ok()) << table.status();
    return *table;
  }
  // Names of the files in a table's metadata folder, sorted.
  std::vector<std::string> MetadataFiles(const LoadedTable& table) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(
             StrCat(table.metadata.location.substr(7), "/metadata"))) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(".metadata.json")) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string Hint(const LoadedTable& table) {
    std::ifstream in(StrCat(table.metadata.location.substr(7), "/metadata/version-hint.text"));
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

  TestFolder folder_;
  FailingStore store_;
};

TEST_F(EmbeddedCatalogTest, ATableIsThereAfterReopening) {
  LoadedTable made;
  {
    const auto catalog = Open();
    made = Make(*catalog, kOrders, {{"a", "b"}});
    EXPECT_EQ(made.metadata.location, StrCat("file://", folder_.path(), "/shop/orders"));
    EXPECT_TRUE(
        made.metadata_location.starts_with(StrCat(made.metadata.location, "/metadata/00000-")));
  }
  const auto catalog = Open();
  const auto loaded = catalog->LoadTable(kOrders);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->metadata, made.metadata);
  EXPECT_EQ(loaded->metadata_location, made.metadata_location);
  EXPECT_TRUE(*catalog->TableExists(kOrders));
  EXPECT_FALSE(*catalog->TableExists({{"shop"}, "others"}));
}

TEST_F(EmbeddedCatalogTest, WhatIsMissingOrThereAlreadyIsSaid) {
  const auto catalog = Open();
  EXPECT_TRUE(absl::IsNotFound(catalog->LoadTable(kOrders).status()));
  EXPECT_TRUE(
      absl::IsNotFound(catalog->CreateTable(kOrders, {.schema = SchemaForTest()}).status()));
  EXPECT_TRUE(absl::IsNotFound(catalog->ListTables({"shop"}).status()));
  EXPECT_TRUE(absl::IsNotFound(catalog->DropTable(kOrders)));
  const LoadedTable made = Make(*catalog, kOrders);
  EXPECT_TRUE(
      absl::IsAlreadyExists(catalog->CreateTable(kOrders, {.schema = SchemaForTest()}).status()));
  EXPECT_TRUE(absl::IsNotFound(
      catalog->CommitTable({{"shop"}, "others"}, PropertyCommit("a", "b")).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(catalog->CreateNamespace({})));
  EXPECT_TRUE(absl::IsInvalidArgument(
      catalog->CreateTable({{"shop"}, ""}, {.schema = SchemaForTest()}).status()));
  // A lost metadata file is not a missing table: nobody must make it anew.
  std::filesystem::remove(made.metadata_location.substr(7));
  EXPECT_TRUE(absl::IsDataLoss(Open()->LoadTable(kOrders).status()));
}

TEST_F(EmbeddedCatalogTest, ACommitReplacesTheMetadataAndTheHint) {
  const auto catalog = Open();
  const LoadedTable made = Make(*catalog, kOrders);
  const auto committed =
      catalog->CommitTable(kOrders, SnapshotCommit(made.metadata, SnapshotId(7)));
  ASSERT_TRUE(committed.ok()) << committed.status();
  EXPECT_EQ(committed->metadata.current_snapshot_id, SnapshotId(7));
  EXPECT_NE(committed->metadata_location.find("/metadata/00001-"), std::string::npos);
  ASSERT_EQ(committed->metadata.metadata_log.size(), 1u);
  EXPECT_EQ(committed->metadata.metadata_log[0].metadata_file, made.metadata_location);
  EXPECT_EQ(committed->metadata.metadata_log[0].timestamp_ms, made.metadata.last_updated_ms);
  EXPECT_EQ(StrCat(Hint(*committed), ".metadata.json"), MetadataFiles(*committed)[1]);
  EXPECT_EQ(Open()->LoadTable(kOrders)->metadata, committed->metadata);
}

TEST_F(EmbeddedCatalogTest, ARejectedCommitLeavesNoFile) {
  const auto catalog = Open();
  const LoadedTable made = Make(*catalog, kOrders);
  ASSERT_TRUE(catalog->CommitTable(kOrders, SnapshotCommit(made.metadata, SnapshotId(7))).ok());
  const absl::Status late =
      catalog->CommitTable(kOrders, SnapshotCommit(made.metadata, SnapshotId(8))).status();
  EXPECT_TRUE(absl::IsAborted(late)) << late;
  EXPECT_EQ(MetadataFiles(made).size(), 2u);
}

TEST_F(EmbeddedCatalogTest, SomebodyElsesCommitIsNoConflictWhenTheRequirementsHold) {
  const auto catalog = Open();
  const auto other = Open();  // as another process, with its own cache
  Make(*catalog, kOrders);
  ASSERT_TRUE(other->CommitTable(kOrders, PropertyCommit("theirs", "1")).ok());
  const auto committed = catalog->CommitTable(kOrders, PropertyCommit("ours", "2"));
  ASSERT_TRUE(committed.ok()) << committed.status();
  EXPECT_EQ(committed->metadata.properties.at("theirs"), "1");
  EXPECT_EQ(committed->metadata.properties.at("ours"), "2");
}

TEST_F(EmbeddedCatalogTest, OfCommittersOnTheSameHeadExactlyOneWins) {
  constexpr int kCommitters = 8;
  const LoadedTable made = Make(*Open(), kOrders);
  std::vector<std::unique_ptr<Catalog>> catalogs;
  for (int i = 0; i < 2; ++i) catalogs.push_back(Open());
  std::vector<absl::Status> outcomes(kCommitters);
  std::vector<std::thread> threads;
  for (int i = 0; i < kCommitters; ++i) {
    threads.emplace_back([&, i] {
      outcomes[i] = catalogs[i % 2]
                        ->CommitTable(kOrders, SnapshotCommit(made.metadata, SnapshotId(100 + i)))
                        .status();
    });
  }
  for (std::thread& thread : threads) thread.join();
  int won = 0;
  for (const absl::Status& outcome : outcomes) {
    won += outcome.ok();
    EXPECT_TRUE(outcome.ok() || absl::IsAborted(outcome)) << outcome;
  }
  EXPECT_EQ(won, 1);
  const auto loaded = Open()->LoadTable(kOrders);
  EXPECT_EQ(loaded->metadata.snapshots.size(), 1u);
  EXPECT_TRUE(outcomes[loaded->metadata.current_snapshot_id->value - 100].ok());
  EXPECT_EQ(MetadataFiles(made).size(), 2u);
  EXPECT_NE(loaded->metadata_location.find(Hint(made)), std::string::npos);
}

TEST_F(EmbeddedCatalogTest, IndependentCommitsOfManyThreadsAreAllIn) {
  const auto catalog = Open();
  Make(*catalog, kOrders);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 5; ++k) {
        absl::Status status;
        do {
          status =
              catalog->CommitTable(kOrders, PropertyCommit(StrCat("p", i, ".", k), "x")).status();
        } while (absl::IsUnavailable(status));
        EXPECT_TRUE(status.ok()) << status;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto loaded = catalog->LoadTable(kOrders);
  EXPECT_EQ(loaded->metadata.properties.size(), 20u);
  EXPECT_EQ(loaded->metadata.metadata_log.size(), 20u);
  EXPECT_EQ(MetadataFiles(*loaded).size(), 21u);
  EXPECT_NE(loaded->metadata_location.find(Hint(*loaded)), std::string::npos);
}

TEST_F(EmbeddedCatalogTest, SeveralTablesAreCommittedAllOrNone) {
  const auto catalog = Open();
  const TableIdent lines{{"shop"}, "lines"};
  const LoadedTable a = Make(*catalog, kOrders);
  const LoadedTable b = Make(*catalog, lines);
  ASSERT_TRUE(catalog->SupportsAtomicCommits());
  ASSERT_TRUE(catalog
                  ->CommitTables({{kOrders, SnapshotCommit(a.metadata, SnapshotId(1))},
                                  {lines, SnapshotCommit(b.metadata, SnapshotId(2))}})
                  .ok());
  const LoadedTable a1 = *catalog->LoadTable(kOrders);
  EXPECT_EQ(a1.metadata.current_snapshot_id, SnapshotId(1));
  EXPECT_EQ(catalog->LoadTable(lines)->metadata.current_snapshot_id, SnapshotId(2));
  // The second is on an old head.
  const absl::Status status =
      catalog->CommitTables({{kOrders, SnapshotCommit(a1.metadata, SnapshotId(3))},
                             {lines, SnapshotCommit(b.metadata, SnapshotId(4))}});
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_NE(Message(status).find("shop.lines"), std::string_view::npos) << status;
  EXPECT_EQ(catalog->LoadTable(kOrders)->metadata.current_snapshot_id, SnapshotId(1));
  EXPECT_EQ(MetadataFiles(a).size(), 2u);
  EXPECT_TRUE(absl::IsInvalidArgument(catalog->CommitTables(
      {{kOrders, PropertyCommit("a", "b")}, {kOrders, PropertyCommit("a", "c")}})));
}

TEST_F(EmbeddedCatalogTest, AStoreThatFailsCommitsNothingAndLeavesNoFile) {
  const auto catalog = Open();
  const TableIdent lines{{"shop"}, "lines"};
  const LoadedTable a = Make(*catalog, kOrders);
  Make(*catalog, lines);
  store_.FailPut(2, absl::UnavailableError("injected"));
  EXPECT_TRUE(absl::IsUnavailable(catalog->CommitTables(
      {{kOrders, PropertyCommit("a", "b")}, {lines, PropertyCommit("a", "b")}})));
  EXPECT_TRUE(catalog->LoadTable(kOrders)->metadata.properties.empty());
  EXPECT_EQ(MetadataFiles(a).size(), 1u);
}

TEST_F(EmbeddedCatalogTest, ABusyDatabaseIsWaitedFor) {
  const auto catalog = Open();
  Make(*catalog, kOrders);
  auto other = SqliteDatabase::Open(StrCat(folder_.path(), "/catalog.db"));
  ASSERT_TRUE(other.ok() && (*other)->Exec("BEGIN IMMEDIATE").ok());
  absl::Status status;
  std::thread committer(
      [&] { status = catalog->CommitTable(kOrders, PropertyCommit("a", "b")).status(); });
  while (store_.puts() < 2) std::this_thread::yield();  // it has come to the database
  ASSERT_TRUE((*other)->Exec("COMMIT").ok());
  committer.join();
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(EmbeddedCatalogTest, TheMetadataLogIsCappedAndFallenFilesAreDeletedWhenAsked) {
  const auto catalog = Open();
  const LoadedTable made = Make(*catalog, kOrders, {{"write.metadata.previous-versions-max", "2"}});
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(catalog->CommitTable(kOrders, PropertyCommit("i", StrCat(i))).ok());
  }
  EXPECT_EQ(catalog->LoadTable(kOrders)->metadata.metadata_log.size(), 2u);
  EXPECT_EQ(MetadataFiles(made).size(), 5u);
  ASSERT_TRUE(catalog
                  ->CommitTable(
                      kOrders, PropertyCommit("write.metadata.delete-after-commit.enabled", "true"))
                  .ok());
  // Only what falls off from now on goes; earlier files were not asked about.
  const std::vector<std::string> files = MetadataFiles(made);
  EXPECT_EQ(files.size(), 5u);
  const auto loaded = Open()->LoadTable(kOrders);
  ASSERT_TRUE(loaded.ok());
  for (const MetadataLogEntry& entry : loaded->metadata.metadata_log) {
    EXPECT_TRUE(std::filesystem::exists(entry.metadata_file.substr(7)));
  }
}

TEST_F(EmbeddedCatalogTest, TheLastCommitIsNotReadAgain) {
  const auto catalog = Open();
  const LoadedTable made = Make(*catalog, kOrders);
  ASSERT_TRUE(catalog->CommitTable(kOrders, SnapshotCommit(made.metadata, SnapshotId(7))).ok());
  ASSERT_TRUE(catalog->LoadTable(kOrders).ok());
  EXPECT_EQ(store_.gets(), 0);
}

TEST_F(EmbeddedCatalogTest, NamesOfAllKindsStayInTheirOwnFolder) {
  const auto catalog = Open();
  const TableIdent idents[] = {{{".."}, ".."},
                               {{"a/b"}, "c"},
                               {{"a"}, "b/c"},
                               {{"Shop"}, "Orders"},
                               {{"shop"}, "orders"},
                               {{"ü"}, "x y"},
                               {{"a.b"}, "with \"'%_?*"},
                               {{"a%2Fb"}, "c"}};
  std::set<std::string> locations;
  for (const TableIdent& ident : idents) {
    const LoadedTable table = Make(*catalog, ident);
    EXPECT_TRUE(locations.insert(table.metadata.location).second) << table.metadata.location;
    EXPECT_EQ(table.metadata.location.find(".."), std::string::npos);
    const auto loaded = catalog->LoadTable(ident);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(loaded->metadata_location, table.metadata_location);
    EXPECT_EQ(catalog->ListTables(ident.ns)->size(), 1u) << ident.ToString();
  }
}

TEST_F(EmbeddedCatalogTest, ADroppedTableLeavesItsFilesAndMayBeMadeAgain) {
  const auto catalog = Open();
  const LoadedTable made = Make(*catalog, kOrders);
  ASSERT_TRUE(catalog->DropTable(kOrders).ok());
  EXPECT_TRUE(absl::IsNotFound(catalog->LoadTable(kOrders).status()));
  EXPECT_EQ(MetadataFiles(made).size(), 1u);
  const LoadedTable again = Make(*catalog, kOrders);
  EXPECT_NE(again.metadata.table_uuid, made.metadata.table_uuid);
}

TEST_F(EmbeddedCatalogTest, NamespacesHaveLevelsAndProperties) {
  const auto catalog = Open();
  ASSERT_TRUE(catalog->CreateNamespaceWith({"a", "b"}, {{"owner", "x"}}).ok());
  ASSERT_TRUE(catalog->CreateNamespace({"c_d"}).ok());
  ASSERT_TRUE(catalog->CreateNamespace({"cxd", "e"}).ok());
  EXPECT_EQ(*catalog->ListNamespaces({}), (std::vector<Namespace>{{"a"}, {"c_d"}, {"cxd"}}));
  EXPECT_EQ(*catalog->ListNamespaces({"a"}), (std::vector<Namespace>{{"a", "b"}}));
  EXPECT_TRUE(catalog->ListNamespaces({"c_d"})->empty());
  EXPECT_TRUE(absl::IsNotFound(catalog->ListNamespaces({"nowhere"}).status()));
  EXPECT_TRUE(absl::IsAlreadyExists(catalog->CreateNamespaceWith({"a"}, {})));
  EXPECT_TRUE(catalog->CreateNamespace({"a"}).ok());
  EXPECT_EQ(catalog->LoadNamespace({"a", "b"})->at("owner"), "x");
  const auto change = catalog->ChangeNamespace({"a", "b"}, {"owner", "absent"}, {{"size", "1"}});
  ASSERT_TRUE(change.ok());
  EXPECT_EQ(change->removed, std::vector<std::string>{"owner"});
  EXPECT_EQ(change->missing, std::vector<std::string>{"absent"});
  EXPECT_EQ(change->updated, std::vector<std::string>{"size"});
  Make(*catalog, {{"a", "b"}, "t"});
  EXPECT_TRUE(absl::IsFailedPrecondition(catalog->DropNamespace({"a", "b"})));
  EXPECT_EQ(catalog->LoadNamespace({"a", "b"})->at("size"), "1");
  ASSERT_TRUE(catalog->DropTable({{"a", "b"}, "t"}).ok());
  EXPECT_TRUE(catalog->DropNamespace({"a", "b"}).ok());
  EXPECT_TRUE(absl::IsNotFound(catalog->DropNamespace({"a", "b"})));
}

TEST_F(EmbeddedCatalogTest, TablesAreRenamedAndRegistered) {
  const auto catalog = Open();
  const LoadedTable made = Make(*catalog, kOrders);
  const TableIdent moved{{"archive"}, "orders"};
  EXPECT_TRUE(absl::IsNotFound(catalog->RenameTable(kOrders, moved)));
  ASSERT_TRUE(catalog->CreateNamespace({"archive"}).ok());
  ASSERT_TRUE(catalog->RenameTable(kOrders, moved).ok());
  EXPECT_EQ(catalog->LoadTable(moved)->metadata, made.metadata);
  EXPECT_TRUE(absl::IsNotFound(catalog->LoadTable(kOrders).status()));
  ASSERT_TRUE(catalog->RegisterTable(kOrders, made.metadata_location).ok());
  EXPECT_TRUE(
      absl::IsAlreadyExists(catalog->RegisterTable(kOrders, made.metadata_location).status()));
  EXPECT_TRUE(absl::IsAlreadyExists(catalog->RenameTable(kOrders, moved)));
  EXPECT_TRUE(absl::IsNotFound(
      catalog->RegisterTable({{"shop"}, "x"}, "file:///nowhere/x.metadata.json").status()));
}

TEST_F(EmbeddedCatalogTest, AStagedTableIsMadeByItsFirstCommit) {
  const auto catalog = Open();
  ASSERT_TRUE(catalog->CreateNamespace({"shop"}).ok());
  const auto staged = catalog->StageTable(kOrders, {.schema = SchemaForTest()});
  ASSERT_TRUE(staged.ok()) << staged.status();
  EXPECT_EQ(staged->metadata_location, "");
  EXPECT_FALSE(*catalog->TableExists(kOrders));
  CommitRequest request;
  request.requirements.Push(AssertCreate());
  request.updates =
      JsonForTest(StrCat(R"([{"action":"assign-uuid","uuid":")", staged->metadata.table_uuid,
                         R"("},{"action":"add-schema","schema":)",
                         SchemaToJson(staged->metadata.CurrentSchema()).Dump(),
                         R"(},{"action":"set-current-schema","schema-id":-1}])"));
  const auto made = catalog->CommitTable(kOrders, request);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->metadata.table_uuid, staged->metadata.table_uuid);
  EXPECT_EQ(made->metadata.location, staged->metadata.location);
  EXPECT_TRUE(absl::IsAborted(catalog->CommitTable(kOrders, request).status()));
}

TEST_F(EmbeddedCatalogTest, MetadataMayBeKeptElsewhereAndThenHasNoHint) {
  const auto catalog = Open();
  const std::string elsewhere = StrCat("file://", folder_.path(), "/elsewhere");
  const LoadedTable made =
      Make(*catalog, kOrders, {{"write.metadata.path", StrCat(elsewhere, "/")}});
  EXPECT_TRUE(made.metadata_location.starts_with(StrCat(elsewhere, "/00000-")));
  EXPECT_FALSE(std::filesystem::exists(made.metadata.location.substr(7)));
}

// Runs a Python program of tests/unit_py with the project's virtual environment.
void RunPython(std::string_view script, const std::string& arguments) {
  const std::string command = StrCat(FJORD_SOURCE_DIR, "/.venv/bin/python ", FJORD_SOURCE_DIR,
                                     "/tests/unit_py/", script, " ", arguments, " 2>&1");
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

TEST_F(EmbeddedCatalogTest, PyIcebergOpensWhatWeWroteAndDuckDbTheFolder) {
  const auto catalog = Open();
  LoadedTable table = Make(*catalog, kOrders, {{"owner", "fjord"}});
  ASSERT_TRUE(catalog->CommitTable(kOrders, PropertyCommit("second", "yes")).ok());
  RunPython("embedded_catalog_peer.py", StrCat("read ", folder_.path()));
}

TEST_F(EmbeddedCatalogTest, WeOpenWhatPyIcebergWrote) {
  RunPython("embedded_catalog_peer.py", StrCat("write ", folder_.path()));
  const auto catalog = Open();
  const auto table = catalog->LoadTable({{"peer"}, "things"});
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->metadata.snapshots.size(), 2u);
  EXPECT_EQ(table->metadata.CurrentSchema().fields[0].name, "id");
  EXPECT_EQ(*catalog->ListNamespaces({}), (std::vector<Namespace>{{"peer"}}));
  // A commit of ours goes on from PyIceberg's, and PyIceberg from ours.
  ASSERT_TRUE(catalog->CommitTable({{"peer"}, "things"}, PropertyCommit("ours", "yes")).ok());
  RunPython("embedded_catalog_peer.py", StrCat("append ", folder_.path()));
  EXPECT_EQ(catalog->LoadTable({{"peer"}, "things"})->metadata.snapshots.size(), 3u);
}

TEST_F(EmbeddedCatalogTest, CommitsOfPyIcebergAndOursAtTheSameTimeAreAllIn) {
  RunPython("embedded_catalog_peer.py", StrCat("write ", folder_.path()));
  const auto catalog = Open();
  const TableIdent things{{"peer"}, "things"};
  std::thread peer(
      [&] { RunPython("embedded_catalog_peer.py", StrCat("properties ", folder_.path())); });
  int ours = 0;
  // Until the peer has said that it is done.
  const std::string done = "peer.done";
  while (!catalog->LoadTable(things)->metadata.properties.contains(done)) {
    const auto committed = catalog->CommitTable(things, PropertyCommit(StrCat("ours.", ours), "x"));
    if (committed.ok()) {
      ++ours;
    } else {
      EXPECT_TRUE(absl::IsUnavailable(committed.status())) << committed.status();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  peer.join();
  const auto properties = catalog->LoadTable(things)->metadata.properties;
  int found = 0;
  for (const auto& [name, value] : properties) found += name.starts_with("ours.");
  EXPECT_EQ(found, ours);
  EXPECT_GT(ours, 0);
}

TEST(EmbeddedCatalog, AV0FileGetsTheColumnThatItLacks) {
  const TestFolder folder;
  const std::string path = StrCat(folder.path(), "/catalog.db");
  {
    auto db = SqliteDatabase::Open(path);
    ASSERT_TRUE(db.ok());
    ASSERT_TRUE((*db)
                    ->Exec("CREATE TABLE iceberg_tables (catalog_name VARCHAR(255) NOT NULL, "
                           "table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT "
                           "NULL, metadata_location VARCHAR(1000), previous_metadata_location "
                           "VARCHAR(1000), PRIMARY KEY (catalog_name, table_namespace, "
                           "table_name))")
                    .ok());
  }
  FailingStore store;
  auto catalog = OpenEmbeddedCatalog(
      {.database = path, .warehouse = StrCat("file://", folder.path())}, &store);
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  ASSERT_TRUE((*catalog)->CreateNamespace({"n"}).ok());
  EXPECT_TRUE((*catalog)->CreateTable({{"n"}, "t"}, {.schema = SchemaForTest()}).ok());
}

TEST(EmbeddedCatalog, AFileThatIsNoDatabaseIsRefused) {
  const TestFolder folder;
  const std::string path = StrCat(folder.path(), "/catalog.db");
  std::ofstream(path) << std::string(4096, 'x');
  FailingStore store;
  const auto catalog = OpenEmbeddedCatalog({.database = path, .warehouse = "file:///w"}, &store);
  EXPECT_TRUE(absl::IsDataLoss(catalog.status())) << catalog.status();
}

}  // namespace
}  // namespace fjord
