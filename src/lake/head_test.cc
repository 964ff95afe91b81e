#include "lake/head.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "iceberg/manifest.h"
#include "iceberg/manifest_list.h"
#include "io/memory_store.h"

namespace fjord {
namespace {

using absl::StatusCode;

Snapshot Own(int64_t id, std::optional<int64_t> parent, uint64_t lsn) {
  Snapshot snapshot{.id = SnapshotId(id), .sequence_number = SequenceNumber(id)};
  if (parent) snapshot.parent_snapshot_id = SnapshotId(*parent);
  snapshot.summary = OwnSummaryKeys({.base_lsn = Lsn(lsn - 1),
                                     .watermark = {TimelineId(1), Lsn(lsn)},
                                     .source = "s",
                                     .operation = "o"});
  return snapshot;
}

Snapshot Foreign(int64_t id, int64_t parent) {
  Snapshot snapshot{.id = SnapshotId(id),
                    .parent_snapshot_id = SnapshotId(parent),
                    .sequence_number = SequenceNumber(id)};
  snapshot.summary = {{"operation", "replace"}};
  return snapshot;
}

TableMetadata With(std::vector<Snapshot> snapshots, int64_t head, int64_t mirrored,
                   uint64_t mirrored_lsn) {
  TableMetadata metadata;
  metadata.snapshots = std::move(snapshots);
  metadata.current_snapshot_id = SnapshotId(head);
  metadata.properties[kWatermarkProperty] = FormatMirroredWatermark(
      {{TimelineId(1), Lsn(mirrored_lsn)}, SnapshotId(mirrored), SequenceNumber(mirrored)});
  return metadata;
}

TEST(FindLineage, ForeignSnapshotsBehindOursAreNamedOldestFirst) {
  const auto lineage = FindLineage(With({Own(1, {}, 10), Foreign(2, 1), Foreign(3, 2)}, 3, 1, 10));
  ASSERT_TRUE(lineage.ok());
  EXPECT_EQ(lineage->watermark->lsn, Lsn(10));
  EXPECT_EQ(lineage->foreign, (std::vector<SnapshotId>{SnapshotId(2), SnapshotId(3)}));
  EXPECT_FALSE(lineage->rolled_back);
  EXPECT_TRUE(lineage->proven);
}

TEST(FindLineage, RolledBackMainIsNoticed) {
  const auto lineage = FindLineage(With({Own(1, {}, 10), Own(2, 1, 20)}, 1, 2, 20));
  ASSERT_TRUE(lineage.ok());
  EXPECT_TRUE(lineage->rolled_back);
}

TEST(FindLineage, ExpiredChainIsUnproven) {
  const auto lineage = FindLineage(With({Foreign(3, 2)}, 3, 2, 20));
  ASSERT_TRUE(lineage.ok());
  EXPECT_FALSE(lineage->proven);
  EXPECT_EQ(lineage->watermark->lsn, Lsn(20));
}

TEST(FindLineage, TableThatWasNeverWrittenHasNone) {
  const auto lineage = FindLineage(TableMetadata{});
  ASSERT_TRUE(lineage.ok());
  EXPECT_FALSE(lineage->watermark.has_value());
  EXPECT_FALSE(lineage->rolled_back);
  EXPECT_TRUE(lineage->proven);
}

TEST(FindLineage, EmptiedMainIsRolledBack) {
  TableMetadata metadata = With({Own(1, {}, 10)}, 1, 1, 10);
  metadata.current_snapshot_id.reset();
  const auto lineage = FindLineage(metadata);
  ASSERT_TRUE(lineage.ok());
  EXPECT_TRUE(lineage->rolled_back);
}

TEST(FindLineage, TableOfSomebodyElseHasNoWatermark) {
  TableMetadata metadata = With({Foreign(1, 0), Foreign(2, 1)}, 2, 0, 0);
  metadata.properties.clear();
  const auto lineage = FindLineage(metadata);
  ASSERT_TRUE(lineage.ok());
  EXPECT_FALSE(lineage->watermark.has_value());
  EXPECT_EQ(lineage->foreign.size(), 2u);
}

// The newest own snapshot says how far the table is, not an older one behind a foreign one.
TEST(FindLineage, NewestOwnSnapshotDecides) {
  const auto lineage =
      FindLineage(With({Own(1, {}, 10), Foreign(2, 1), Own(3, 2, 30), Foreign(4, 3)}, 4, 3, 30));
  ASSERT_TRUE(lineage.ok());
  EXPECT_EQ(lineage->watermark->lsn, Lsn(30));
  EXPECT_EQ(lineage->own_snapshot, SnapshotId(3));
  EXPECT_EQ(lineage->foreign, std::vector<SnapshotId>{SnapshotId(4)});
  EXPECT_FALSE(lineage->rolled_back);
}

TEST(FindLineage, DamagedKeysOfOursAreDataLoss) {
  for (const auto& [key, value] : std::map<std::string, std::string>{
           {"fjord.lsn", "nonsense"}, {"fjord.base-lsn", "1"}, {"fjord.timeline", "-1"}}) {
    Snapshot damaged = Own(1, {}, 10);
    damaged.summary[key] = value;
    EXPECT_EQ(FindLineage(With({damaged}, 1, 1, 10)).status().code(), StatusCode::kDataLoss) << key;
  }
  for (const char* key : {"fjord.base-lsn", "fjord.timeline", "fjord.source", "fjord.operation"}) {
    Snapshot damaged = Own(1, {}, 10);
    damaged.summary.erase(key);
    EXPECT_EQ(FindLineage(With({damaged}, 1, 1, 10)).status().code(), StatusCode::kDataLoss) << key;
  }
  TableMetadata metadata = With({Own(1, {}, 10)}, 1, 1, 10);
  metadata.properties[kWatermarkProperty] = "{";
  EXPECT_EQ(FindLineage(metadata).status().code(), StatusCode::kDataLoss);
}

TEST(HasOperation, LooksAtTheAncestryOfMainOnly) {
  std::vector<Snapshot> snapshots = {Own(1, {}, 10), Own(2, 1, 20), Foreign(3, 2), Own(4, 1, 20)};
  snapshots[1].summary[kOperationKey] = "ours";
  snapshots[3].summary[kOperationKey] = "on a branch";
  const TableMetadata metadata = With(snapshots, 3, 2, 20);
  EXPECT_TRUE(HasOperation(metadata, "ours"));
  EXPECT_TRUE(HasOperation(metadata, "o"));
  EXPECT_FALSE(HasOperation(metadata, "on a branch"));
  EXPECT_FALSE(HasOperation(metadata, "unheard of"));
  EXPECT_FALSE(HasOperation(TableMetadata{}, "ours"));
}

TEST(HasOperation, EndsWhereTheAncestryWasExpired) {
  EXPECT_FALSE(HasOperation(With({Foreign(3, 2)}, 3, 2, 20), "ours"));
}

class ReadLiveManifestsTest : public testing::Test {
 protected:
  ReadLiveManifestsTest() {
    Snapshot snapshot = Own(7, {}, 10);
    snapshot.manifest_list = "list";
    metadata_ = With({snapshot}, 7, 7, 10);
  }
  void PutList(const std::vector<ManifestFile>& manifests) {
    const auto bytes = EncodeManifestList(
        {.snapshot_id = SnapshotId(7), .sequence_number = SequenceNumber(7)}, manifests);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    ASSERT_TRUE(store_.Replace("list", *bytes).ok());
  }
  ManifestFile PutManifest(const std::string& path, std::vector<ManifestEntry> entries) {
    auto manifest =
        EncodeManifest({.snapshot_id = SnapshotId(7),
                        .schema_json = R"({"type":"struct","schema-id":0,"fields":[]})"},
                       entries);
    EXPECT_TRUE(manifest.ok()) << manifest.status();
    manifest->file.manifest_path = path;
    EXPECT_TRUE(store_.Put(path, manifest->bytes).ok());
    return manifest->file;
  }
  static ManifestEntry Entry(EntryStatus status, const std::string& path) {
    ManifestEntry entry{.status = status, .file = {.file_path = path, .record_count = 1}};
    if (status != EntryStatus::kAdded) {
      entry.snapshot_id = SnapshotId(status == EntryStatus::kDeleted ? 7 : 3);
      entry.sequence_number = entry.file_sequence_number = SequenceNumber(3);
    }
    return entry;
  }
  auto Read() { return ReadLiveManifests(store_, metadata_, metadata_.current_snapshot_id); }

  MemoryStore store_;
  TableMetadata metadata_;
};

TEST_F(ReadLiveManifestsTest, GivesLiveEntriesWithTheirSequenceNumbers) {
  PutList(
      {PutManifest("m1", {Entry(EntryStatus::kAdded, "new"), Entry(EntryStatus::kDeleted, "gone"),
                          Entry(EntryStatus::kExisting, "old")}),
       PutManifest("m2", {Entry(EntryStatus::kDeleted, "gone too")})});
  const auto manifests = Read();
  ASSERT_TRUE(manifests.ok()) << manifests.status();
  ASSERT_EQ(manifests->size(), 1u);
  ASSERT_EQ((*manifests)[0].entries.size(), 2u);
  EXPECT_EQ((*manifests)[0].entries[0].sequence_number, SequenceNumber(7));
  EXPECT_EQ((*manifests)[0].entries[1].sequence_number, SequenceNumber(3));
}

TEST_F(ReadLiveManifestsTest, TableWithoutASnapshotHasNone) {
  const auto manifests = ReadLiveManifests(store_, metadata_, std::nullopt);
  ASSERT_TRUE(manifests.ok());
  EXPECT_TRUE(manifests->empty());
}

TEST_F(ReadLiveManifestsTest, SnapshotThatIsNotThereIsDataLoss) {
  EXPECT_EQ(ReadLiveManifests(store_, metadata_, SnapshotId(8)).status().code(),
            StatusCode::kDataLoss);
}

TEST_F(ReadLiveManifestsTest, DamageNamesTheFile) {
  ASSERT_TRUE(store_.Put("list", "no avro").ok());
  EXPECT_EQ(Read().status().code(), StatusCode::kDataLoss);
  EXPECT_NE(Read().status().message().find("list"), absl::string_view::npos);
  const ManifestFile manifest = PutManifest("m1", {Entry(EntryStatus::kAdded, "a")});
  PutList({manifest});
  ASSERT_TRUE(store_.Replace("m1", "Obj\1 cut").ok());
  EXPECT_EQ(Read().status().code(), StatusCode::kDataLoss) << Read().status();
  EXPECT_NE(Read().status().message().find("m1"), absl::string_view::npos);
}

}  // namespace
}  // namespace fjord
