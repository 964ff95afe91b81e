#include "iceberg/summary.h"

#include <gtest/gtest.h>

#include "iceberg/manifest_test_support.h"

namespace fjord {
namespace {

DataFile File(int number) {
  DataFile file;
  file.file_path = StrCat(number);
  file.record_count = 100 * number;
  file.file_size_in_bytes = 100'000 + number;
  return file;
}

DataFile PositionDeletes(int number) {
  DataFile file = File(number);
  file.content = FileContent::kPositionDeletes;
  return file;
}

DataFile EqualityDeletes(int number) {
  DataFile file = File(number);
  file.content = FileContent::kEqualityDeletes;
  return file;
}

SnapshotSummary FromJson(const Json& json) {
  SnapshotSummary summary;
  for (const auto& [key, value] : json.object()) summary[key] = value.as_string();
  return summary;
}

TEST(Summary, IsTheOneOfPyIcebergOverThreeSnapshots) {
  const Json expected = FixtureJson("summaries.json");
  std::vector<SummaryDelta> steps(3);
  steps[0].Add(File(1));
  steps[0].Add(File(2));
  steps[1].Add(File(3));
  steps[1].Add(PositionDeletes(6));
  steps[1].Add(EqualityDeletes(7));
  steps[2].Add(File(4));
  steps[2].Remove(File(1));
  steps[2].Remove(PositionDeletes(6));
  SnapshotSummary parent;
  for (size_t i = 0; i < steps.size(); ++i) {
    SnapshotSummary summary =
        BuildSummary(steps[i].Operation(), steps[i], i == 0 ? nullptr : &parent, {});
    parent = summary;
    // PyIceberg counts changed partitions of partitioned tables only, Java of every table.
    EXPECT_EQ(summary["changed-partition-count"], "1");
    summary.erase("changed-partition-count");
    EXPECT_EQ(summary, FromJson(expected.array()[i])) << i;
  }
}

TEST(Summary, ASnapshotWithoutFilesKeepsTheTotals) {
  const SnapshotSummary parent = {{"total-records", "7"}, {"total-data-files", "1"}};
  const SummaryDelta nothing;
  EXPECT_EQ(BuildSummary(nothing.Operation(), nothing, &parent, {{"fjord.lsn", "0/1"}}),
            (SnapshotSummary{{"operation", "append"},
                             {"total-records", "7"},
                             {"total-data-files", "1"},
                             {"fjord.lsn", "0/1"}}));
}

TEST(Summary, ATotalThatIsNotKnownIsLeftOut) {
  SummaryDelta delta;
  delta.Add(File(1));
  delta.Remove(File(5));
  const SnapshotSummary parent = {{"total-records", "many"},
                                  {"total-data-files", "3"},
                                  {"total-files-size", "1"},
                                  {"total-delete-files", "9223372036854775808"}};
  const SnapshotSummary summary = BuildSummary(SnapshotOperation::kReplace, delta, &parent, {});
  EXPECT_EQ(summary.at("operation"), "replace");
  EXPECT_EQ(summary.at("total-data-files"), "3");
  EXPECT_FALSE(summary.contains("total-records"));
  EXPECT_FALSE(summary.contains("total-files-size"));  // would be negative
  EXPECT_FALSE(summary.contains("total-delete-files"));
  EXPECT_FALSE(summary.contains("total-position-deletes"));
}

TEST(Summary, DeletionVectorsCountTheirOwnPartOfThePuffinFile) {
  DataFile vector = PositionDeletes(2);
  vector.file_format = "PUFFIN";
  vector.content_offset = 4;
  vector.content_size_in_bytes = 44;
  SummaryDelta delta;
  delta.Add(vector);
  const SnapshotSummary summary = BuildSummary(delta.Operation(), delta, nullptr, {});
  EXPECT_EQ(summary.at("added-dvs"), "1");
  EXPECT_EQ(summary.at("added-delete-files"), "1");
  EXPECT_EQ(summary.at("added-files-size"), "44");
  EXPECT_EQ(summary.at("added-position-deletes"), "200");
  EXPECT_FALSE(summary.contains("added-position-delete-files"));
}

TEST(Summary, ChangedPartitionsAreCountedOnce) {
  SummaryDelta delta;
  for (const char* value : {"a", "b", "a"}) {
    DataFile file = File(1);
    file.partition = {value};
    delta.Add(file);
  }
  EXPECT_EQ(BuildSummary(delta.Operation(), delta, nullptr, {}).at("changed-partition-count"), "2");
}

TEST(Summary, TheOperationFollowsFromTheFiles) {
  struct Case {
    std::vector<DataFile> added;
    std::vector<DataFile> removed;
    SnapshotOperation operation;
  };
  const Case cases[] = {
      {{}, {}, SnapshotOperation::kAppend},
      {{File(1)}, {}, SnapshotOperation::kAppend},
      {{PositionDeletes(1)}, {}, SnapshotOperation::kDelete},
      {{}, {File(1)}, SnapshotOperation::kDelete},
      {{}, {File(1), PositionDeletes(1)}, SnapshotOperation::kDelete},
      {{File(1), PositionDeletes(1)}, {}, SnapshotOperation::kOverwrite},
      {{File(1)}, {File(2)}, SnapshotOperation::kOverwrite},
      {{}, {PositionDeletes(1)}, SnapshotOperation::kOverwrite},
  };
  for (const Case& c : cases) {
    SummaryDelta delta;
    for (const DataFile& file : c.added) delta.Add(file);
    for (const DataFile& file : c.removed) delta.Remove(file);
    EXPECT_EQ(delta.Operation(), c.operation);
  }
}

}  // namespace
}  // namespace fjord
