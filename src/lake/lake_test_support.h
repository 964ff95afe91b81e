// For tests of lake and replicate: a small table in memory, and what a reader sees of it.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "base/coding.h"
#include "base/status.h"
#include "columnar/parquet_reader.h"
#include "columnar/position_delete_file.h"
#include "io/fault_store.h"
#include "io/memory_store.h"
#include "lake/copy_writer.h"
#include "lake/head.h"
#include "lake/lake_table.h"
#include "lake/row_index_test_support.h"
#include "lake/scripted_catalog.h"

namespace fjord {

// The values of a row but for its key.
struct TestRow {
  std::optional<std::string> v;
  std::optional<std::string> big;
  friend bool operator==(const TestRow&, const TestRow&) = default;
};
inline std::ostream& operator<<(std::ostream& out, const TestRow& row) {
  return out << row.v.value_or("null") << '|' << row.big.value_or("null");
}
using TestRows = std::map<int32_t, TestRow>;

inline const TableIdent& TestIdent() {
  static const TableIdent ident{{"shop"}, "orders"};
  return ident;
}

// public.orders (id int PRIMARY KEY, v text, big text).
inline LakeTableSpec TestSpec() {
  return {.ident = TestIdent(),
          .display_name = "public.orders",
          .columns = {{"id", {TypeKind::kInt}, true},
                      {"v", {TypeKind::kString}},
                      {"big", {TypeKind::kString}}},
          .key = {0},
          .source = "1/db/slot"};
}

inline std::vector<FileField> TestFields() {
  return {{FieldId(1), "id", {TypeKind::kInt}, true},
          {FieldId(2), "v", {TypeKind::kString}},
          {FieldId(3), "big", {TypeKind::kString}}};
}

inline Hash128 HashOfId(const std::array<uint64_t, 2>& seed, int32_t id) {
  std::string bytes;
  PutFixed32(bytes, static_cast<uint32_t>(id));
  return SipHash128(seed, bytes);
}

inline void AppendText(const std::optional<std::string>& text, ColumnBatch& batch, size_t column) {
  if (!text) {
    batch.columns[column].AppendNull();
    return;
  }
  batch.columns[column].valid.push_back(1);
  batch.columns[column].bytes.push_back(batch.arena.Copy(*text));
}

inline ColumnBatch BatchOf(const TestRows& rows) {
  ColumnBatch batch;
  for (const FileField& field : TestFields()) batch.columns.emplace_back(field.type);
  for (const auto& [id, row] : rows) {
    batch.columns[0].valid.push_back(1);
    batch.columns[0].int32s.push_back(id);
    AppendText(row.v, batch, 1);
    AppendText(row.big, batch, 2);
  }
  return batch;
}

inline std::optional<std::string> TextAt(const Column& column, size_t row) {
  if (column.valid[row] == 0) return std::nullopt;
  return std::string(column.bytes[row]);
}

// A snapshot as a reader takes it: manifests, data files, and deletes that are not older than the
// data. Apart from lake/live_files.h on purpose.
class TestReader {
 public:
  TestReader(ObjectStore& store, const TableMetadata& metadata)
      : store_(store), metadata_(metadata) {}

  absl::StatusOr<std::multimap<int32_t, TestRow>> Read() {
    ASSIGN_OR_RETURN(const std::vector<LiveManifest> manifests,
                     ReadLiveManifests(store_, metadata_, metadata_.current_snapshot_id));
    for (const LiveManifest& manifest : manifests) {
      for (const ManifestEntry& entry : manifest.entries) RETURN_IF_ERROR(Take(entry));
    }
    std::multimap<int32_t, TestRow> rows;
    for (const ManifestEntry& entry : data_) RETURN_IF_ERROR(ReadFile(entry, rows));
    return rows;
  }

 private:
  struct Delete {
    SequenceNumber sequence_number;
    RowPosition position;
  };

  absl::Status Take(const ManifestEntry& entry) {
    if (entry.file.content == FileContent::kData) {
      data_.push_back(entry);
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(std::unique_ptr<ReadableObject> object, store_.Open(entry.file.file_path));
    ASSIGN_OR_RETURN(const PositionsByPath positions, ReadPositionDeletes(std::move(object)));
    for (const auto& [path, rows] : positions) {
      for (const RowPosition row : rows) deletes_[path].push_back({*entry.sequence_number, row});
    }
    return absl::OkStatus();
  }

  absl::Status ReadFile(const ManifestEntry& entry, std::multimap<int32_t, TestRow>& out) {
    std::set<RowPosition> gone;
    for (const Delete& item : deletes_[entry.file.file_path]) {
      if (item.sequence_number >= *entry.sequence_number) gone.insert(item.position);
    }
    ASSIGN_OR_RETURN(std::unique_ptr<ReadableObject> object, store_.Open(entry.file.file_path));
    ASSIGN_OR_RETURN(const std::unique_ptr<ParquetReader> reader,
                     ParquetReader::Open(std::move(object)));
    if (reader->rows() != entry.file.record_count)
      return absl::DataLossError("the manifest has another count of rows than the file");
    return reader->ReadColumns(
        TestFields(), [&](const ColumnBatch& batch, uint64_t first) -> absl::Status {
          for (uint32_t i = 0; i < batch.rows(); ++i) {
            if (gone.contains(RowPosition(static_cast<uint32_t>(first) + i))) continue;
            out.emplace(batch.columns[0].int32s[i],
                        TestRow{TextAt(batch.columns[1], i), TextAt(batch.columns[2], i)});
          }
          return absl::OkStatus();
        });
  }

  ObjectStore& store_;
  const TableMetadata& metadata_;
  std::vector<ManifestEntry> data_;
  std::map<std::string, std::vector<Delete>> deletes_;
};

// Store, catalog and index folder of one table. The table is opened through
// `store`, which can fail.
class TestLake {
 public:
  absl::StatusOr<std::unique_ptr<LakeTable>> Open(LakeTableSpec spec = TestSpec()) {
    return LakeTable::Open({.catalog = &catalog,
                            .store = &store,
                            .index_folder = folder_.path(),
                            .patience = {.pause = absl::ZeroDuration()}},
                           std::move(spec));
  }
  // A table with these rows at LSN 100.
  std::unique_ptr<LakeTable> OpenWithBase(const TestRows& rows, LakeTableSpec spec = TestSpec()) {
    auto table = Open(std::move(spec));
    EXPECT_TRUE(table.ok()) << table.status();
    auto writer = (*table)->NewCopyWriter();
    EXPECT_TRUE(writer->Append(BatchOf(rows)).ok());
    const auto base = (*table)->PublishBase({*writer->Finish()}, {TimelineId(1), Lsn(100)});
    EXPECT_TRUE(base.ok()) << base.status();
    return *std::move(table);
  }

  TableMetadata& metadata() { return catalog.metadata(TestIdent()); }
  std::multimap<int32_t, TestRow> Read() {
    auto rows = TestReader(memory_, metadata()).Read();
    EXPECT_TRUE(rows.ok()) << rows.status();
    return rows.ok() ? *std::move(rows) : std::multimap<int32_t, TestRow>{};
  }
  std::set<std::string> Objects() {
    std::set<std::string> names;
    const auto infos = memory_.List("");
    for (const ObjectInfo& info : *infos) names.insert(info.location);
    return names;
  }
  // Precondition: the table is not open.
  void LoseIndex() {
    std::filesystem::remove_all(folder_.path());
    std::filesystem::create_directories(folder_.path());
  }
  bool HasRedo() { return std::filesystem::exists(folder_ / (metadata().table_uuid + ".redo")); }

 private:
  ScopedFolder folder_{MemoryFolder()};
  MemoryStore memory_;

 public:
  ScriptedCatalog catalog;
  FaultStore store{&memory_};
};

inline std::multimap<int32_t, TestRow> AsRead(const TestRows& rows) {
  return {rows.begin(), rows.end()};
}

// The index finds each row of `rows`, with its values, and no other key below `keys`.
inline void ExpectIndexFits(LakeTable& table, const TestRows& rows, int32_t keys) {
  std::vector<Hash128> hashes;
  for (int32_t id = 0; id < keys; ++id) hashes.push_back(HashOfId(table.key_seed(), id));
  table.BeginEpoch();
  const auto places = table.Locate(hashes);
  ASSERT_TRUE(places.ok()) << places.status();
  std::vector<RowLocation> present;
  for (int32_t id = 0; id < keys; ++id) {
    ASSERT_EQ((*places)[static_cast<size_t>(id)].present(), rows.contains(id)) << "key " << id;
    if (rows.contains(id)) present.push_back((*places)[static_cast<size_t>(id)]);
  }
  const auto values = table.ReadRows(present, std::vector<int>{0, 1, 2});
  ASSERT_TRUE(values.ok()) << values.status();
  size_t at = 0;
  for (const auto& [id, row] : rows) {
    if (id >= keys) break;
    EXPECT_EQ(values->columns[0].int32s[at], id);
    EXPECT_EQ((TestRow{TextAt(values->columns[1], at), TextAt(values->columns[2], at)}), row);
    ++at;
  }
  table.DiscardEpoch();
  EXPECT_EQ(table.rows(), static_cast<int64_t>(rows.size()));
}

}  // namespace fjord
