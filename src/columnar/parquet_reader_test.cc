#include "columnar/parquet_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "columnar/columnar_test_support.h"

namespace fjord {
namespace {

using testing::HasSubstr;

std::unique_ptr<ParquetReader> Open(const std::string& bytes) {
  auto reader = ParquetReader::Open(std::make_unique<MemoryReadable>(bytes));
  EXPECT_TRUE(reader.ok()) << reader.status();
  return *std::move(reader);
}

std::vector<RowPosition> Positions(const std::vector<uint32_t>& rows) {
  std::vector<RowPosition> positions;
  for (const uint32_t row : rows) positions.emplace_back(row);
  return positions;
}

TextColumns Pick(const TextColumns& all, const std::vector<RowPosition>& positions) {
  TextColumns picked(all.size());
  for (size_t c = 0; c < all.size(); ++c) {
    for (const RowPosition position : positions) picked[c].push_back(all[c][position.value]);
  }
  return picked;
}

// Three row groups of 10,000 rows, in pages of a few hundred.
struct ManyPages {
  MemoryFile file;
  TextColumns rows;
};

const ManyPages& ManyPagesFile() {
  static const ManyPages* const kFile = [] {
    std::mt19937_64 random(6);
    auto* many = new ManyPages;
    const ColumnBatch a = RandomBatch(random, EveryType(), 10'000);
    const ColumnBatch b = RandomBatch(random, EveryType(), 10'000, 0);
    const ColumnBatch c = RandomBatch(random, EveryType(), 10'000, 15);
    for (const ColumnBatch* batch : {&a, &b, &c}) AppendAsText(*batch, many->rows);
    many->file =
        WriteFile(EveryType(), {&a, &b, &c}, {.row_group_bytes_max = 100'000, .page_bytes = 2000});
    return many;
  }();
  return *kFile;
}

TEST(ParquetReader, ReadsTheFieldsThatWereAskedForInTheirOrder) {
  const auto& [file, rows] = ManyPagesFile();
  ASSERT_EQ(file.written.split_offsets.size(), 3u);
  const std::vector<FileField> all = EveryType();
  EXPECT_EQ(*ReadAll(file.bytes, all), rows);
  const TextColumns two = *ReadAll(file.bytes, {all[13], all[0]});
  EXPECT_EQ(two[0], rows[13]);
  EXPECT_EQ(two[1], rows[0]);
}

TEST(ParquetReader, AFieldThatTheFileLacksIsNull) {
  const auto& [file, rows] = ManyPagesFile();
  const FileField added{FieldId(77), "added", {TypeKind::kDecimal, 4, 1}};
  const TextColumns read = *ReadAll(file.bytes, {added, EveryType()[3]});
  EXPECT_EQ(read[0], std::vector<std::string>(30'000, "null"));
  EXPECT_EQ(read[1], rows[3]);
  const ColumnBatch picked = *Open(file.bytes)->ReadRows(Positions({1, 29'999}), {added});
  EXPECT_EQ(picked.columns[0].valid, (std::vector<uint8_t>{0, 0}));
}

TEST(ParquetReader, ARequiredFieldThatTheFileLacksIsRefused) {
  const FileField added{FieldId(77), "added", {TypeKind::kInt}, true};
  const absl::Status status = ReadAll(ManyPagesFile().file.bytes, {added}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(Message(status)),
              HasSubstr("lacks the required column added (field id 77)"));
}

TEST(ParquetReader, ANullInARequiredFieldIsDamage) {
  FileField field = EveryType()[3];
  field.required = true;
  EXPECT_EQ(ReadAll(ManyPagesFile().file.bytes, {field}).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST(ParquetReader, PicksRows) {
  const auto& [file, rows] = ManyPagesFile();
  const std::vector<std::vector<uint32_t>> cases = {{},
                                                    {0},
                                                    {29'999},
                                                    {0, 29'999},
                                                    {9'999, 10'000},
                                                    {5'000, 5'001, 5'002, 15'000},
                                                    {10'000},
                                                    {19'999, 20'000, 20'001}};
  for (const std::vector<uint32_t>& wanted : cases) {
    const auto positions = Positions(wanted);
    const absl::StatusOr<ColumnBatch> read = Open(file.bytes)->ReadRows(positions, EveryType());
    ASSERT_TRUE(read.ok()) << read.status();
    TextColumns got(EveryType().size());
    AppendAsText(*read, got);
    EXPECT_EQ(got, Pick(rows, positions));
  }
}

TEST(ParquetReader, PicksRandomRowsOfEveryDensity) {
  const auto& [file, rows] = ManyPagesFile();
  std::mt19937_64 random(8);
  for (const uint64_t one_of : {2, 20, 300, 5'000}) {
    std::vector<RowPosition> positions;
    for (uint32_t row = 0; row < 30'000; ++row) {
      if (random() % one_of == 0) positions.emplace_back(row);
    }
    TextColumns got(EveryType().size());
    AppendAsText(*Open(file.bytes)->ReadRows(positions, EveryType()), got);
    EXPECT_EQ(got, Pick(rows, positions));
  }
}

TEST(ParquetReader, RefusesPositionsThatDoNotAscendOrLieBeyondTheEnd) {
  const auto reader = Open(ManyPagesFile().file.bytes);
  EXPECT_EQ(reader->ReadRows(Positions({2, 1}), EveryType()).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(reader->ReadRows(Positions({2, 2}), EveryType()).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(reader->ReadRows(Positions({30'000}), EveryType()).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_TRUE(reader->ReadRows(Positions({3}), EveryType()).ok());
}

TEST(ParquetReader, ReadRowsOwnsItsBytes) {
  ColumnBatch batch;
  {
    const auto reader = Open(ManyPagesFile().file.bytes);
    batch = *reader->ReadRows(Positions({7, 20'007}), {EveryType()[14]});
  }
  EXPECT_EQ(ValueToText(batch.columns[0], 0), ManyPagesFile().rows[14][7]);
}

TEST(ParquetReader, BatchesOfLongValuesAreSmall) {
  const FileField text{FieldId(1), "text", {TypeKind::kString}};
  std::mt19937_64 random(9);
  ColumnBatch batch = EmptyBatchOf({text});
  for (int i = 0; i < 600; ++i) {
    std::string value(100'000, '\0');
    for (size_t k = 0; k < value.size(); k += 8) value[k] = static_cast<char>('a' + random() % 26);
    batch.columns[0].valid.push_back(1);
    batch.columns[0].bytes.push_back(batch.arena.Copy(value));
  }
  const MemoryFile file = WriteFile({text}, {&batch});
  size_t rows = 0;
  ASSERT_TRUE(Open(file.bytes)
                  ->ReadColumns({text},
                                [&](const ColumnBatch& read, uint64_t first_row) {
                                  EXPECT_LE(read.arena.bytes_used(), 20u << 20);
                                  EXPECT_EQ(read.columns[0].bytes[0],
                                            batch.columns[0].bytes[first_row]);
                                  rows += read.rows();
                                  return absl::OkStatus();
                                })
                  .ok());
  EXPECT_EQ(rows, 600u);
}

TEST(ParquetReader, TheVisitorsErrorEndsTheReading) {
  int visits = 0;
  const absl::Status status =
      Open(ManyPagesFile().file.bytes)->ReadColumns(EveryType(), [&](const ColumnBatch&, uint64_t) {
        ++visits;
        return absl::AbortedError("enough");
      });
  EXPECT_EQ(status, absl::AbortedError("enough"));
  EXPECT_EQ(visits, 1);
}

// What a widened column's older files have, and what no widening makes fit.
TEST(ParquetReader, WidenedTypesFitAndOthersAreNamed) {
  std::mt19937_64 random(10);
  struct Case {
    ColumnType file;
    ColumnType field;
    bool fits;
  };
  const Case cases[] = {
      {{TypeKind::kInt}, {TypeKind::kLong}, true},
      {{TypeKind::kFloat}, {TypeKind::kDouble}, true},
      {{TypeKind::kDecimal, 9, 2}, {TypeKind::kDecimal, 12, 2}, true},
      {{TypeKind::kDecimal, 18, 2}, {TypeKind::kDecimal, 38, 2}, true},
      {{TypeKind::kDate}, {TypeKind::kTimestamp}, true},
      {{TypeKind::kString}, {TypeKind::kBinary}, true},
      {{TypeKind::kLong}, {TypeKind::kInt}, false},
      {{TypeKind::kDouble}, {TypeKind::kFloat}, false},
      {{TypeKind::kDecimal, 12, 2}, {TypeKind::kDecimal, 9, 2}, false},
      {{TypeKind::kDecimal, 9, 2}, {TypeKind::kDecimal, 9, 3}, false},
      {{TypeKind::kLong}, {TypeKind::kDecimal, 18, 0}, false},
      {{TypeKind::kDecimal, 9, 0}, {TypeKind::kInt}, false},
      {{TypeKind::kLong}, {TypeKind::kTimestamp}, false},
      {{TypeKind::kTimestamp}, {TypeKind::kLong}, false},
      {{TypeKind::kTimestamp}, {TypeKind::kTime}, false},
      {{TypeKind::kDate}, {TypeKind::kTimestampTz}, false},
      {{TypeKind::kInt}, {TypeKind::kDate}, false},
      {{TypeKind::kInt}, {TypeKind::kBoolean}, false},
      {{TypeKind::kUuid}, {TypeKind::kString}, false},
      {{TypeKind::kBinary}, {TypeKind::kUuid}, false},
      {{TypeKind::kString}, {TypeKind::kLong}, false},
  };
  for (const Case& c : cases) {
    const ColumnBatch batch = RandomBatch(random, {{FieldId(1), "c", c.file}}, 100);
    const MemoryFile file = WriteFile({{FieldId(1), "c", c.file}}, {&batch});
    const auto read = ReadAll(file.bytes, {{FieldId(1), "c", c.field}});
    const std::string what = StrCat(TypeName(c.file), " as ", TypeName(c.field));
    if (!c.fits) {
      EXPECT_EQ(read.status().code(), absl::StatusCode::kFailedPrecondition) << what;
      EXPECT_THAT(std::string(Message(read.status())),
                  HasSubstr(StrCat("cannot be read as ", TypeName(c.field))))
          << what;
      continue;
    }
    ASSERT_TRUE(read.ok()) << what << ": " << read.status();
    for (size_t i = 0; i < 100; ++i) {
      const Column& column = batch.columns[0];
      std::string expected = ValueToText(column, i);
      if (column.valid[i] != 0 && c.field.kind == TypeKind::kDouble) {
        Column wide({TypeKind::kDouble});
        wide.valid = {1};
        wide.doubles = {column.floats[i]};
        expected = ValueToText(wide, 0);
      }
      if (column.valid[i] != 0 && c.field.kind == TypeKind::kTimestamp) {
        expected = StrCat(int64_t{column.int32s[i]} * 86'400'000'000);
      }
      EXPECT_EQ((*read)[0][i], expected) << what;
    }
  }
}

class FailingReadable : public ReadableObject {
 public:
  FailingReadable(std::string bytes, int reads) : object_(std::move(bytes)), reads_left_(reads) {}
  uint64_t size() const override { return object_.size(); }
  absl::Status ReadAt(uint64_t offset, char* out, size_t size) const override {
    if (reads_left_-- <= 0) return absl::UnavailableError("try again");
    return object_.ReadAt(offset, out, size);
  }

 private:
  MemoryReadable object_;
  mutable int reads_left_;
};

TEST(ParquetReader, ErrorsOfTheObjectComeAsTheyAre) {
  // Long enough not to be read whole.
  const std::string& small = ManyPagesFile().file.bytes;
  std::vector<FileField> fields = EveryType();
  std::mt19937_64 random(11);
  const ColumnBatch batch = RandomBatch(random, fields, 60'000, 0);
  const MemoryFile large = WriteFile(fields, {&batch}, {.row_group_bytes_max = 1'000'000});
  ASSERT_GT(large.bytes.size(), 1u << 20);
  for (const std::string& bytes : {small, large.bytes}) {
    bool whole = false;
    for (int reads = 0; !whole; ++reads) {
      const auto reader = ParquetReader::Open(std::make_unique<FailingReadable>(bytes, reads));
      const absl::Status status =
          reader.ok() ? ReadAll(**reader, fields).status() : reader.status();
      whole = status.ok();
      if (!whole) EXPECT_EQ(status, absl::UnavailableError("try again"));
      ASSERT_LT(reads, 200);
    }
  }
}

TEST(ParquetReader, WhatIsNoParquetFileIsDamage) {
  const std::string& bytes = ManyPagesFile().file.bytes;
  for (const std::string& wrong : {std::string(), std::string("PAR1"), std::string(1000, 'x'),
                                   bytes.substr(0, bytes.size() - 1)}) {
    EXPECT_EQ(ParquetReader::Open(std::make_unique<MemoryReadable>(wrong)).status().code(),
              absl::StatusCode::kDataLoss);
  }
}

// Pages carry checksums: a changed byte is an error or changes nothing, wherever it is.
TEST(ParquetReader, ChangedBytesGiveNoOtherValues) {
  std::mt19937_64 random(12);
  const std::vector<FileField> fields = EveryType();
  const ColumnBatch batch = RandomBatch(random, fields, 300);
  const MemoryFile file = WriteFile(fields, {&batch});
  TextColumns expected;
  AppendAsText(batch, expected);
  const size_t footer = file.bytes.size() - 8 -
                        *reinterpret_cast<const uint32_t*>(&file.bytes[file.bytes.size() - 8]);
  for (int i = 0; i < 1500; ++i) {
    std::string bytes = file.bytes;
    const size_t at = 4 + random() % (footer - 4);
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (random() % 8)));
    const auto read = ReadAll(bytes, fields);
    if (read.ok()) {
      EXPECT_EQ(*read, expected) << at;
    } else {
      EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss) << read.status();
    }
  }
}

TEST(ParquetReader, AChangedFooterIsSurvived) {
  std::mt19937_64 random(13);
  const std::vector<FileField> fields = EveryType();
  const ColumnBatch batch = RandomBatch(random, fields, 50);
  const MemoryFile file = WriteFile(fields, {&batch});
  for (int i = 0; i < 1500; ++i) {
    std::string bytes = file.bytes;
    const size_t at = bytes.size() * 2 / 3 + random() % (bytes.size() / 3);
    bytes[at] = static_cast<char>(random());
    ReadAll(bytes, fields).status().IgnoreError();  // any answer will do, as long as there is one
  }
}

}  // namespace
}  // namespace fjord
