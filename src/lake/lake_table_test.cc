#include "lake/lake_table.h"

#include <gtest/gtest.h>

#include <functional>

#include "iceberg/manifest.h"
#include "iceberg/manifest_list.h"
#include "lake/lake_test_support.h"

namespace fjord {
namespace {

using absl::StatusCode;

TestRows Numbered(int32_t count) {
  TestRows rows;
  for (int32_t id = 0; id < count; ++id) rows[id] = {StrCat("v", id), {}};
  return rows;
}

class LakeTableTest : public testing::Test {
 protected:
  // An epoch that writes these rows, and removes those keys.
  absl::Status Write(const TestRows& rows, const std::vector<int32_t>& removed = {}) {
    std::vector<Hash128> keys;
    for (const auto& [id, row] : rows) keys.push_back(HashOfId(table_->key_seed(), id));
    std::vector<Hash128> gone;
    for (const int32_t id : removed) gone.push_back(HashOfId(table_->key_seed(), id));
    table_->BeginEpoch();
    if (!rows.empty()) RETURN_IF_ERROR(table_->Append(BatchOf(rows), keys));
    table_->Remove(gone);
    RETURN_IF_ERROR(table_->EndPart());
    const absl::Status status = table_->Publish({TimelineId(1), Lsn(lsn_ += 10)}).status();
    if (!status.ok()) return status;
    for (const auto& [id, row] : rows) rows_[id] = row;
    for (const int32_t id : removed) rows_.erase(id);
    return status;
  }
  void Start(const TestRows& rows) {
    table_ = lake_.OpenWithBase(rows, spec_);
    rows_ = rows;
  }
  void Reopen() {
    table_.reset();
    auto table = lake_.Open(spec_);
    ASSERT_TRUE(table.ok()) << table.status();
    table_ = *std::move(table);
  }
  void ExpectRows() {
    ASSERT_EQ(lake_.Read(), AsRead(rows_));
    ASSERT_NO_FATAL_FAILURE(ExpectIndexFits(*table_, rows_, 100));
  }

  // Another engine's snapshot of these data files, without deletes.
  absl::Status CommitFiles(const std::vector<TestRows>& files) {
    const TableMetadata& metadata = lake_.metadata();
    const SnapshotId id(4711);
    std::vector<ManifestEntry> entries;
    for (const TestRows& rows : files) {
      CopyWriter writer(&lake_.store, StrCat("memory://foreign/", RandomUuid()), TestFields());
      RETURN_IF_ERROR(writer.Append(BatchOf(rows)));
      ASSIGN_OR_RETURN(const CopiedFile file, writer.Finish());
      entries.push_back({.snapshot_id = id, .file = file.file});
    }
    const Schema& schema = metadata.CurrentSchema();
    ASSIGN_OR_RETURN(
        EncodedManifest manifest,
        EncodeManifest(
            {.snapshot_id = id, .schema_json = SchemaToJson(schema).Dump(), .schema_id = schema.id},
            entries));
    manifest.file.manifest_path = "memory://foreign/manifest";
    RETURN_IF_ERROR(lake_.store.Replace(manifest.file.manifest_path, manifest.bytes));
    ASSIGN_OR_RETURN(
        const std::string list,
        EncodeManifestList(
            {.snapshot_id = id,
             .sequence_number = SequenceNumber(metadata.last_sequence_number.value + 1)},
            {manifest.file}));
    RETURN_IF_ERROR(lake_.store.Replace("memory://foreign/list", list));
    return lake_.catalog.CommitForeign(TestIdent(), "memory://foreign/list");
  }

  TestLake lake_;
  LakeTableSpec spec_ = TestSpec();
  TestRows rows_;
  uint64_t lsn_ = 100;
  std::unique_ptr<LakeTable> table_;
};

TEST_F(LakeTableTest, CompactionByAnotherEngineIsTakenUp) {
  Start(Numbered(10));
  ASSERT_TRUE(Write({{3, {"new", "x"}}, {20, {"added", {}}}}, {4}).ok());
  TestRows first(rows_.begin(), rows_.find(5));
  TestRows second(rows_.find(5), rows_.end());
  ASSERT_TRUE(CommitFiles({first, second}).ok());
  EXPECT_EQ(Write({{3, {"too late", {}}}}).code(), StatusCode::kAborted);
  ASSERT_NO_FATAL_FAILURE(Reopen());
  ASSERT_NO_FATAL_FAILURE(ExpectRows());
  EXPECT_EQ(table_->watermark()->lsn, Lsn(110));
  ASSERT_TRUE(Write({{3, {"newer", {}}}}, {20}).ok());
  ExpectRows();
}

TEST_F(LakeTableTest, ForeignSnapshotWithOtherRowsBlocksTheTable) {
  for (const auto& change : std::vector<std::function<void(TestRows&)>>{
           [](TestRows& rows) { rows.erase(1); }, [](TestRows& rows) { rows[50] = {"new", {}}; },
           [](TestRows& rows) { rows[1].v = "changed"; },
           [](TestRows& rows) { std::swap(rows[1].v, rows[2].v); },
           [](TestRows& rows) { rows[1].big = ""; },  // null before
           [](TestRows& rows) { std::swap(rows[1].v, rows[1].big); }}) {
    ASSERT_TRUE(lake_.catalog.DropTable(TestIdent()).ok());
    Start(Numbered(10));
    TestRows changed = rows_;
    change(changed);
    ASSERT_TRUE(CommitFiles({changed}).ok());
    table_.reset();
    const absl::Status status = lake_.Open(spec_).status();
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << status;
    EXPECT_NE(status.message().find("changed rows"), absl::string_view::npos) << status;
  }
}

TEST_F(LakeTableTest, ForeignRowsAreTakenWhereTheConfigurationSaysSo) {
  spec_.accept_external_writes = true;
  Start(Numbered(10));
  rows_[50] = {"theirs", {}};
  rows_.erase(2);
  ASSERT_TRUE(CommitFiles({rows_}).ok());
  ASSERT_NO_FATAL_FAILURE(Reopen());
  ASSERT_NO_FATAL_FAILURE(ExpectRows());
  ASSERT_TRUE(Write({{2, {"back", {}}}}, {50}).ok());
  ExpectRows();
}

TEST_F(LakeTableTest, TwoForeignRowsOfOneKeyBlockTheTable) {
  spec_.accept_external_writes = true;
  Start(Numbered(3));
  ASSERT_TRUE(CommitFiles({rows_, {{1, {"twin", {}}}}}).ok());
  table_.reset();
  const absl::Status status = lake_.Open(spec_).status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << status;
  EXPECT_NE(status.message().find("two rows of one key"), absl::string_view::npos) << status;
}

// More data files than get a delete file of their own, deletes that are merged and dropped, and an
// index that is kept or lost: the same rows.
TEST_F(LakeTableTest, ManyEpochsKeepRowsAndIndexTogether) {
  Start(Numbered(30));
  for (int epoch = 0; epoch < 40; ++epoch) {
    TestRows written;
    for (int32_t i = 0; i < 6; ++i) written[(epoch * 7 + i * 5) % 40] = {StrCat(epoch), {}};
    std::vector<int32_t> removed;
    if (const int32_t id = (epoch * 3) % 40; rows_.contains(id) && !written.contains(id))
      removed.push_back(id);
    ASSERT_TRUE(Write(written, removed).ok());
    ASSERT_NO_FATAL_FAILURE(ExpectRows()) << "epoch " << epoch;
    if (epoch % 5 == 4) ASSERT_NO_FATAL_FAILURE(Reopen());
    if (epoch % 10 == 7) {
      table_.reset();
      lake_.LoseIndex();
      ASSERT_NO_FATAL_FAILURE(Reopen());
      ASSERT_NO_FATAL_FAILURE(ExpectRows()) << "index lost after epoch " << epoch;
    }
  }
}

TEST_F(LakeTableTest, OpeningThatFailsAnywhereWorksTheNextTime) {
  Start(Numbered(10));
  ASSERT_TRUE(Write({{3, {"new", "x"}}, {20, {"added", {}}}}, {4}).ok());
  for (int n = 1; n < 200; ++n) {
    table_.reset();
    if (n % 2 == 0) lake_.LoseIndex();
    lake_.store.Plan({.nth = n});
    auto opened = lake_.Open(spec_);
    lake_.store.ForgetFaults();
    if (!opened.ok())
      EXPECT_EQ(opened.status().code(), StatusCode::kUnavailable) << opened.status();
    const bool whole = opened.ok() && n % 2 == 0;
    if (opened.ok()) opened->reset();
    ASSERT_NO_FATAL_FAILURE(Reopen());
    ASSERT_NO_FATAL_FAILURE(ExpectRows()) << "call " << n;
    if (whole) return;
  }
  FAIL() << "an opening without an end of its calls";
}

// Snapshots that a tag or a branch of somebody leads to stay.
TEST_F(LakeTableTest, TaggedSnapshotsAreNotExpired) {
  spec_.retention = {.keep = absl::ZeroDuration(), .at_least = 2, .at_most = 2};
  Start(Numbered(3));
  ASSERT_TRUE(Write({{1, {"a", {}}}}).ok());
  const SnapshotId tagged = *lake_.metadata().current_snapshot_id;
  lake_.metadata().refs["keep"] = {.snapshot_id = tagged, .type = "tag"};
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Write({{1, {StrCat(i), {}}}}).ok());
  EXPECT_NE(lake_.metadata().FindSnapshot(tagged), nullptr);
  EXPECT_LE(lake_.metadata().snapshots.size(), 4u);
  ExpectRows();
}

// The tag came after the table was looked at, on a snapshot that the next commit expires.
TEST_F(LakeTableTest, TagThatIsMadeMeanwhileCostsAnotherPlanNotTheTable) {
  spec_.retention = {.keep = absl::ZeroDuration(), .at_least = 2, .at_most = 2};
  Start(Numbered(3));
  ASSERT_TRUE(Write({{1, {"a", {}}}}).ok());
  const SnapshotId oldest = lake_.metadata().snapshots[0].id;
  lake_.metadata().refs["keep"] = {.snapshot_id = oldest, .type = "tag"};
  EXPECT_EQ(Write({{1, {"b", {}}}}).code(), StatusCode::kAborted);
  ASSERT_NO_FATAL_FAILURE(Reopen());
  ASSERT_TRUE(Write({{1, {"b", {}}}}).ok());
  EXPECT_NE(lake_.metadata().FindSnapshot(oldest), nullptr);
  ExpectRows();
}

// The base is found out like an epoch; its files stay.
TEST(BaseOutcome, UnknownBaseIsTheTablesWhenItLanded) {
  for (const CommitAnswer answer : {CommitAnswer::kDoneButUnknown, CommitAnswer::kUnknown}) {
    TestLake lake;
    auto table = lake.Open();
    ASSERT_TRUE(table.ok()) << table.status();
    const TestRows rows = {{1, {"one", {}}}};
    auto writer = (*table)->NewCopyWriter();
    ASSERT_TRUE(writer->Append(BatchOf(rows)).ok());
    lake.catalog.PlanCommits({answer});
    lake.catalog.FailLoads(3, absl::UnavailableError("the catalog is away"));
    const auto base = (*table)->PublishBase({*writer->Finish()}, {TimelineId(1), Lsn(100)});
    EXPECT_EQ(base.status().code(), StatusCode::kUnknown);
    table->reset();
    auto opened = lake.Open();
    ASSERT_TRUE(opened.ok()) << opened.status();
    const bool in = answer == CommitAnswer::kDoneButUnknown;
    EXPECT_EQ((*opened)->watermark().has_value(), in);
    EXPECT_EQ(lake.Read(), in ? AsRead(rows) : AsRead({}));
    EXPECT_EQ(lake.Objects().empty(), false);
  }
}

TEST(OpenTable, CreationThatFailsSaysWhyNotThatThereIsNoTable) {
  TestLake lake;
  lake.catalog.FailCreations(1, absl::UnavailableError("the catalog is away"));
  const absl::Status status = lake.Open().status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable) << status;
  EXPECT_TRUE(lake.Open().ok());
}

}  // namespace
}  // namespace fjord
