// Every answer that a catalog can give to a commit, and what becomes of the table.
#include "lake/publisher.h"

#include <gtest/gtest.h>

#include "lake/lake_test_support.h"

namespace fjord {
namespace {

using absl::StatusCode;

constexpr Watermark kNext{TimelineId(1), Lsn(200)};

// What the next opening of the table makes of its row index.
enum class IndexAfter { kKept, kRebuilt };

struct Case {
  std::string name;
  std::vector<CommitAnswer> answers;
  int failing_loads = 0;
  StatusCode code = StatusCode::kOk;  // of Publish
  int sends = 1;
  int looks = 0;
  bool in = true;
  IndexAfter index = IndexAfter::kKept;
};

void PrintTo(const Case& item, std::ostream* out) { *out << item.name; }

std::vector<Case> Cases() {
  using enum CommitAnswer;
  return {
      {.name = "Done", .answers = {kDone}},
      {.name = "ConflictThatIsOurOwn", .answers = {kDoneButConflict}, .looks = 1},
      {.name = "ConflictByAnotherEngine",
       .answers = {kForeignFirst},
       .code = StatusCode::kAborted,
       .looks = 1,
       .in = false,
       .index = IndexAfter::kRebuilt},
      {.name = "ConflictWithoutACause",
       .answers = {kConflict},
       .code = StatusCode::kAborted,
       .looks = 1,
       .in = false},
      {.name = "UnknownAndDone", .answers = {kDoneButUnknown}, .looks = 1},
      {.name = "UnknownAndNotDone", .answers = {kUnknown}, .sends = 2, .looks = 1},
      {.name = "UnknownAndDoneAndSeenAtTheThirdLook",
       .answers = {kDoneButUnknown},
       .failing_loads = 2,
       .looks = 3},
      {.name = "UnknownAndDoneAndTheTableCannotBeLoaded",
       .answers = {kDoneButUnknown},
       .failing_loads = 3,
       .code = StatusCode::kUnknown,
       .looks = 3},
      {.name = "UnknownAndNotDoneAndTheTableCannotBeLoaded",
       .answers = {kUnknown},
       .failing_loads = 3,
       .code = StatusCode::kUnknown,
       .looks = 3,
       .in = false},
      {.name = "UnknownThenConflictByAnotherEngine",
       .answers = {kUnknown, kForeignFirst},
       .code = StatusCode::kAborted,
       .sends = 2,
       .looks = 2,
       .in = false,
       .index = IndexAfter::kRebuilt},
      {.name = "UnknownThenDenied",
       .answers = {kUnknown, kDenied},
       .code = StatusCode::kPermissionDenied,
       .sends = 2,
       .looks = 1,
       .in = false},
      {.name = "UnknownAndDoneAndAnotherEngineOnTop",
       .answers = {kDoneThenForeign},
       .code = StatusCode::kAborted,
       .looks = 1,
       .index = IndexAfter::kRebuilt},
      {.name = "RetryableOnce", .answers = {kUnavailable}, .sends = 2, .looks = 1},
      {.name = "RetryableForEver",
       .answers = std::vector<CommitAnswer>(5, kUnavailable),
       .code = StatusCode::kUnknown,
       .sends = 5,
       .looks = 5,
       .in = false},
      {.name = "Denied", .answers = {kDenied}, .code = StatusCode::kPermissionDenied, .in = false},
  };
}

class CommitTest : public testing::Test {
 protected:
  CommitTest() : table_(lake_.OpenWithBase(before_)) { Stage(after_); }

  // An epoch that makes `rows` the content: what differs is written, what is not there is removed.
  void Stage(const TestRows& rows) {
    table_->BeginEpoch();
    TestRows written;
    std::vector<Hash128> keys;
    std::vector<Hash128> removed;
    for (const auto& [id, row] : rows) {
      written.emplace(id, row);
      keys.push_back(HashOfId(table_->key_seed(), id));
    }
    for (const auto& [id, row] : lake_.Read()) {
      if (!rows.contains(id)) removed.push_back(HashOfId(table_->key_seed(), id));
    }
    ASSERT_TRUE(table_->Append(BatchOf(written), keys).ok());
    table_->Remove(removed);
    ASSERT_TRUE(table_->EndPart().ok());
  }

  // Opens the table again; how often a data file was opened for it.
  int Reopen() {
    table_.reset();
    int opened = 0;
    lake_.store.SetHook([&](StoreCall call, std::string_view location) {
      opened += call == StoreCall::kOpen && !location.ends_with("-deletes.parquet") ? 1 : 0;
    });
    auto table = lake_.Open();
    lake_.store.SetHook({});
    EXPECT_TRUE(table.ok()) << table.status();
    table_ = *std::move(table);
    return opened;
  }

  const TestRows before_ = {{1, {"one", "1"}}, {2, {"two", "2"}}, {3, {"three", "3"}}};
  const TestRows after_ = {{2, {"new two", "2"}}, {3, {"three", "3"}}, {4, {"four", {}}}};
  TestLake lake_;
  std::unique_ptr<LakeTable> table_;
};

class CommitOutcome : public CommitTest, public testing::WithParamInterface<Case> {};

TEST_P(CommitOutcome, IsFoundOutAndTheTableGoesOnFromThere) {
  const Case& item = GetParam();
  const std::set<std::string> objects_before = lake_.Objects();
  const int commits_before = lake_.catalog.commits();
  const int loads_before = lake_.catalog.loads();
  lake_.catalog.PlanCommits(item.answers);
  lake_.catalog.FailLoads(item.failing_loads, absl::UnavailableError("the catalog is away"));

  const auto published = table_->Publish(kNext);
  EXPECT_EQ(published.status().code(), item.code) << published.status();
  EXPECT_EQ(lake_.catalog.commits() - commits_before, item.sends);
  EXPECT_EQ(lake_.catalog.loads() - loads_before, item.looks);
  const TestRows& expected = item.in ? after_ : before_;
  EXPECT_EQ(lake_.Read(), AsRead(expected));
  // The redo stays while it may be needed, and no longer.
  EXPECT_EQ(lake_.HasRedo(), !published.ok());
  if (published.ok()) {
    EXPECT_EQ(*published, *lake_.metadata().current_snapshot_id);
    EXPECT_EQ(table_->watermark(), kNext);
    ExpectIndexFits(*table_, after_, 10);
  }

  // What was sent may be the table's: giving the epoch up deletes nothing.
  const std::set<std::string> objects = lake_.Objects();
  EXPECT_TRUE(
      std::includes(objects.begin(), objects.end(), objects_before.begin(), objects_before.end()));
  table_->DiscardEpoch();
  EXPECT_EQ(lake_.Objects(), objects);

  EXPECT_EQ(Reopen() > 0, item.index == IndexAfter::kRebuilt);
  EXPECT_FALSE(lake_.HasRedo());
  EXPECT_EQ(table_->watermark()->lsn, item.in ? kNext.lsn : Lsn(100));
  ExpectIndexFits(*table_, expected, 10);

  const TestRows last = {{1, {"back", {}}}, {4, {{}, "end"}}};
  Stage(last);
  ASSERT_TRUE(table_->Publish({TimelineId(1), Lsn(300)}).ok());
  EXPECT_EQ(lake_.Read(), AsRead(last));
  ExpectIndexFits(*table_, last, 10);
}

INSTANTIATE_TEST_SUITE_P(Answers, CommitOutcome, testing::ValuesIn(Cases()),
                         [](const testing::TestParamInfo<Case>& info) { return info.param.name; });

// A request that was given up as unknown, and the table opened without it, may still arrive.
TEST_F(CommitTest, LateCommitIsTakenUpAndItsEpochIsNotPublishedTwice) {
  lake_.catalog.PlanCommits({CommitAnswer::kLate});
  lake_.catalog.FailLoads(3, absl::UnavailableError("the catalog is away"));
  ASSERT_EQ(table_->Publish(kNext).status().code(), StatusCode::kUnknown);
  Reopen();
  ASSERT_EQ(table_->watermark()->lsn, Lsn(100));
  Stage(after_);
  lake_.catalog.LandLateCommits();
  EXPECT_EQ(table_->Publish(kNext).status().code(), StatusCode::kAborted);
  EXPECT_EQ(lake_.Read(), AsRead(after_));
  Reopen();
  EXPECT_EQ(table_->watermark(), kNext);
  ExpectIndexFits(*table_, after_, 10);
}

TEST_F(CommitTest, LateCommitAfterItsEpochWasPublishedAgainIsRefused) {
  lake_.catalog.PlanCommits({CommitAnswer::kLate});
  lake_.catalog.FailLoads(3, absl::UnavailableError("the catalog is away"));
  ASSERT_EQ(table_->Publish(kNext).status().code(), StatusCode::kUnknown);
  Reopen();
  Stage(after_);
  ASSERT_TRUE(table_->Publish(kNext).ok());
  lake_.catalog.LandLateCommits();
  ASSERT_EQ(lake_.catalog.late_outcomes().size(), 1u);
  EXPECT_EQ(lake_.catalog.late_outcomes()[0].code(), StatusCode::kAborted);
  EXPECT_EQ(lake_.Read(), AsRead(after_));
}

TEST_F(CommitTest, OwnCommitThatSomebodyRolledBackWaitsForAPerson) {
  lake_.catalog.PlanCommits({CommitAnswer::kDoneThenRolledBack});
  const absl::Status status = table_->Publish(kNext).status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << status;
  EXPECT_NE(status.message().find("rollback"), absl::string_view::npos) << status;
  table_.reset();
  EXPECT_EQ(lake_.Open().status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(CommitTest, FilesOfAnEpochThatWasNeverSentAreDeleted) {
  table_->DiscardEpoch();
  const std::set<std::string> before = lake_.Objects();
  Stage(after_);
  ASSERT_GT(lake_.Objects().size(), before.size());
  lake_.store.Plan({.call = StoreCall::kPut, .location_part = "/metadata/snap-"});
  ASSERT_EQ(table_->Publish(kNext).status().code(), StatusCode::kUnavailable);
  table_->DiscardEpoch();
  for (const std::string& object : lake_.Objects()) {
    EXPECT_TRUE(before.contains(object) || !object.ends_with(".parquet") ||
                object.ends_with("-deletes.parquet"))
        << object;
  }
  EXPECT_EQ(lake_.catalog.commits(), 1);  // of the base
  Stage(after_);
  ASSERT_TRUE(table_->Publish(kNext).ok());
  EXPECT_EQ(lake_.Read(), AsRead(after_));
  ExpectIndexFits(*table_, after_, 10);
}

// A commit that moves no branch of ours, but takes the sequence number that our plan has.
TEST_F(CommitTest, CommitToAnotherBranchMakesUsPlanAgain) {
  TableMetadata& metadata = lake_.metadata();
  metadata.last_sequence_number.value += 1;
  EXPECT_EQ(table_->Publish(kNext).status().code(), StatusCode::kAborted);
  Reopen();
  Stage(after_);
  ASSERT_TRUE(table_->Publish(kNext).ok());
  EXPECT_EQ(lake_.Read(), AsRead(after_));
}

TEST_F(CommitTest, LogicalWriteOfAnotherEngineBlocksTheTable) {
  const auto list = EncodeManifestList({.snapshot_id = SnapshotId(7),
                                        .parent_snapshot_id = lake_.metadata().current_snapshot_id,
                                        .sequence_number = SequenceNumber(2)},
                                       {});
  ASSERT_TRUE(lake_.store.Put("memory://foreign-list", *list).ok());
  ASSERT_TRUE(lake_.catalog.CommitForeign(TestIdent(), "memory://foreign-list").ok());
  EXPECT_EQ(table_->Publish(kNext).status().code(), StatusCode::kAborted);
  table_.reset();
  const absl::Status status = lake_.Open().status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("3 went, 0 came"), absl::string_view::npos) << status;
}

// What the publisher keeps in memory of the new head is what a reader of its files sees.
TEST_F(CommitTest, ManifestsInMemoryAreThoseOfTheSnapshot) {
  TableHead head{.loaded = *lake_.catalog.LoadTable(TestIdent())};
  for (int i = 0; i < 20; ++i) {
    head.snapshot = head.loaded.metadata.current_snapshot_id;
    auto manifests = ReadLiveManifests(lake_.store, head.loaded.metadata, head.snapshot);
    ASSERT_TRUE(manifests.ok()) << manifests.status();
    if (i > 0) {
      ASSERT_EQ(manifests->size(), head.manifests.size());
      for (size_t m = 0; m < manifests->size(); ++m) {
        EXPECT_EQ((*manifests)[m].file, head.manifests[m].file);
        EXPECT_EQ((*manifests)[m].entries.size(), head.manifests[m].entries.size());
      }
    }
    head.manifests = *std::move(manifests);
    CommitInput input{.base = &head,
                      .snapshot = NewSnapshotId(head.loaded.metadata),
                      .own = {.watermark = {TimelineId(1), Lsn(200 + static_cast<uint64_t>(i))},
                              .source = "s",
                              .operation = StrCat("operation ", i)}};
    const std::string path = StrCat("memory://data-", i);
    input.changes.added_data = {{.file_path = path, .record_count = 1, .file_size_in_bytes = 1}};
    if (i % 3 == 2) input.changes.removed = {StrCat("memory://data-", i - 1)};
    input.changes.clear = i == 10;
    auto prepared = PrepareCommit(lake_.store, input);
    ASSERT_TRUE(prepared.ok()) << prepared.status();
    auto committed = SendCommit(lake_.catalog, TestIdent(), *prepared, {});
    ASSERT_TRUE(committed.ok()) << committed.status();
    head.loaded = *std::move(committed);
    head.manifests = std::move(prepared->manifests);
  }
}

}  // namespace
}  // namespace fjord
