#include "columnar/parquet_writer.h"

#include <arrow/io/memory.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parquet/api/reader.h>
#include <parquet/api/schema.h>
#include <parquet/column_page.h>

#include <algorithm>

#include "columnar/columnar_test_support.h"
#include "columnar/dictionary_choice.h"

namespace fjord {
namespace {

using testing::HasSubstr;

std::unique_ptr<parquet::ParquetFileReader> OpenRaw(const std::string& bytes) {
  return parquet::ParquetFileReader::Open(
      std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes)));
}

std::unique_ptr<ParquetWriter> NewWriter(MemoryObject& object, const std::vector<FileField>& fields,
                                         const ParquetWriteOptions& options = {}) {
  return *ParquetWriter::Create(fields, options, std::make_unique<MemoryWriteStream>(object));
}

FileField Text() { return {FieldId(1), "text", {TypeKind::kString}}; }

// Rows of 24 letters, each row another.
ColumnBatch DistinctTexts(size_t rows) {
  std::mt19937_64 random(1);
  ColumnBatch batch = EmptyBatchOf({Text()});
  for (size_t i = 0; i < rows; ++i) {
    std::string text;
    while (text.size() < 24) text.push_back(static_cast<char>('a' + random() % 26));
    batch.columns[0].valid.push_back(1);
    batch.columns[0].bytes.push_back(batch.arena.Copy(text));
  }
  return batch;
}

ColumnBatch RepeatedTexts(size_t rows) {
  ColumnBatch batch = EmptyBatchOf({Text()});
  for (size_t i = 0; i < rows; ++i) {
    batch.columns[0].valid.push_back(1);
    batch.columns[0].bytes.push_back(i % 2 == 0 ? "first of two texts" : "second of two texts");
  }
  return batch;
}

TEST(ParquetWriter, EveryTypeComesBackAsItWas) {
  std::mt19937_64 random(2);
  const ColumnBatch first = RandomBatch(random, EveryType(), 5000);
  const ColumnBatch without_nulls = RandomBatch(random, EveryType(), 700, 0);
  const ColumnBatch all_null = RandomBatch(random, EveryType(), 300, 16);
  const MemoryFile file = WriteFile(EveryType(), {&first, &without_nulls, &all_null});
  TextColumns expected;
  for (const ColumnBatch* batch : {&first, &without_nulls, &all_null})
    AppendAsText(*batch, expected);
  const absl::StatusOr<TextColumns> read = ReadAll(file.bytes, EveryType());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, expected);
}

TEST(ParquetWriter, SaysWhatItWrote) {
  std::mt19937_64 random(4);
  const ColumnBatch batch = RandomBatch(random, EveryType(), 2000);
  const MemoryFile file =
      WriteFile(EveryType(), {&batch, &batch}, {.row_group_bytes_max = 100'000});
  const auto raw = OpenRaw(file.bytes);
  const auto metadata = raw->metadata();
  EXPECT_EQ(file.written.record_count, 4000);
  EXPECT_EQ(file.written.file_size_in_bytes, static_cast<int64_t>(file.bytes.size()));
  ASSERT_EQ(metadata->num_row_groups(), 2);
  ASSERT_EQ(file.written.split_offsets.size(), 2u);
  EXPECT_EQ(file.written.split_offsets[0], 4);  // behind the magic
  for (int group = 0; group < 2; ++group) {
    const auto chunk = metadata->RowGroup(group)->ColumnChunk(0);
    EXPECT_EQ(
        file.written.split_offsets[static_cast<size_t>(group)],
        chunk->has_dictionary_page() ? chunk->dictionary_page_offset() : chunk->data_page_offset());
  }
  ASSERT_EQ(file.written.columns.size(), EveryType().size());
  int64_t compressed = 0;
  for (size_t i = 0; i < EveryType().size(); ++i) {
    EXPECT_EQ(file.written.columns[i].id, EveryType()[i].id);
    EXPECT_EQ(file.written.columns[i].stats.value_count(), 4000);
    compressed += file.written.columns[i].compressed_bytes;
  }
  EXPECT_LT(compressed, file.written.file_size_in_bytes);
  EXPECT_GT(compressed, file.written.file_size_in_bytes * 9 / 10);
}

TEST(ParquetWriter, UsesOnlyEncodingsThatEveryReaderKnows) {
  std::mt19937_64 random(5);
  const ColumnBatch batch = RandomBatch(random, EveryType(), 30'000);
  const MemoryFile file = WriteFile(EveryType(), {&batch});
  const auto raw = OpenRaw(file.bytes);
  for (int i = 0; i < raw->metadata()->num_columns(); ++i) {
    const auto chunk = raw->metadata()->RowGroup(0)->ColumnChunk(i);
    EXPECT_EQ(chunk->compression(), parquet::Compression::ZSTD);
    for (const auto& encoding : chunk->encoding_stats()) {
      EXPECT_THAT(encoding.encoding,
                  testing::AnyOf(parquet::Encoding::PLAIN, parquet::Encoding::RLE_DICTIONARY,
                                 parquet::Encoding::PLAIN_DICTIONARY));
      EXPECT_NE(encoding.page_type, parquet::PageType::DATA_PAGE_V2);
    }
  }
}

TEST(ParquetWriter, AFileWithoutRowsIsAFile) {
  MemoryObject object;
  const auto written = NewWriter(object, EveryType())->Finish();
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(written->record_count, 0);
  EXPECT_TRUE(written->split_offsets.empty());
  EXPECT_EQ(ReadAll(object.bytes, EveryType())->front().size(), 0u);
}

TEST(ParquetWriter, LongValuesMakePagesOfBoundedSize) {
  const std::string value(100'000, 'v');
  ColumnBatch batch = EmptyBatchOf({Text()});
  for (int i = 0; i < 300; ++i) {
    batch.columns[0].valid.push_back(1);
    batch.columns[0].bytes.push_back(value);
  }
  // Without repetition in the sample the dictionary would hide it.
  ColumnBatch first = DistinctTexts(100);
  const MemoryFile file = WriteFile({Text()}, {&first, &batch});
  const auto raw = OpenRaw(file.bytes);
  const auto pages = raw->RowGroup(0)->GetColumnPageReader(0);
  int count = 0;
  int64_t rows_max = 0;
  while (const auto page = pages->NextPage()) {
    ++count;
    rows_max = std::max<int64_t>(rows_max,
                                 std::static_pointer_cast<parquet::DataPage>(page)->num_values());
  }
  EXPECT_GE(count, 20);
  EXPECT_LE(rows_max, 130);
}

TEST(ParquetWriter, HoldsNoMoreThanARowGroup) {
  MemoryObject object;
  constexpr int64_t kMax = 2 << 20;
  const auto writer = NewWriter(object, {Text()}, {.row_group_bytes_max = kMax});
  const ColumnBatch batch = DistinctTexts(20'000);
  int64_t held_max = 0;
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(writer->Append(batch).ok());
    held_max = std::max(held_max, writer->held_bytes());
    EXPECT_EQ(writer->rows(), (i + 1) * 20'000);
  }
  EXPECT_LT(held_max, kMax);
  EXPECT_GT(held_max, kMax / 2);
  const int64_t estimate = writer->bytes();
  const auto written = writer->Finish();
  EXPECT_GT(written->split_offsets.size(), 3u);
  EXPECT_NEAR(static_cast<double>(estimate), static_cast<double>(written->file_size_in_bytes),
              1 << 20);
}

TEST(ParquetWriter, ManyColumnsWhosePagesAreNotFullCountToo) {
  std::vector<FileField> fields;
  ColumnBatch batch;
  const ColumnBatch texts = DistinctTexts(2000);
  for (int i = 0; i < 100; ++i) {
    fields.push_back({FieldId(i + 1), StrCat("c", i), {TypeKind::kString}});
    batch.columns.push_back(texts.columns[0]);
  }
  MemoryObject object;
  const auto writer = NewWriter(object, fields, {.row_group_bytes_max = 8 << 20});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(writer->Append(batch).ok());
  EXPECT_GT(object.bytes.size(), 1'000'000u);  // a row group has ended although no page was full
}

TEST(ParquetWriter, KeysGetNoDictionaryAndRepeatedTextsDo) {
  const ColumnBatch distinct = DistinctTexts(3000);
  const ColumnBatch repeated = RepeatedTexts(3000);
  EXPECT_FALSE(DictionaryPays(distinct.columns[0]));
  EXPECT_TRUE(DictionaryPays(repeated.columns[0]));
  const MemoryFile plain = WriteFile({Text()}, {&distinct});
  const MemoryFile dictionary = WriteFile({Text()}, {&repeated});
  EXPECT_FALSE(
      OpenRaw(plain.bytes)->metadata()->RowGroup(0)->ColumnChunk(0)->has_dictionary_page());
  EXPECT_TRUE(
      OpenRaw(dictionary.bytes)->metadata()->RowGroup(0)->ColumnChunk(0)->has_dictionary_page());
  const MemoryFile forced =
      WriteFile({Text()}, {&distinct}, {.dictionary = DictionaryUse::kAlways});
  EXPECT_TRUE(
      OpenRaw(forced.bytes)->metadata()->RowGroup(0)->ColumnChunk(0)->has_dictionary_page());
}

TEST(ParquetWriter, ADictionaryIsGivenUpWhenItIsFull) {
  const ColumnBatch repeated = RepeatedTexts(3000);
  const ColumnBatch distinct = DistinctTexts(20'000);
  const MemoryFile file =
      WriteFile({Text()}, {&repeated, &distinct}, {.dictionary_bytes_max = 100'000});
  TextColumns expected;
  AppendAsText(repeated, expected);
  AppendAsText(distinct, expected);
  EXPECT_EQ(*ReadAll(file.bytes, {Text()}), expected);
}

// A writer that got an error, and what is true afterwards.
void ExpectRefused(const std::vector<FileField>& fields, const ColumnBatch& batch,
                   const std::string& message) {
  MemoryObject object;
  {
    const auto writer = NewWriter(object, fields);
    const absl::Status status = writer->Append(batch);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(Message(status)), HasSubstr(message));
    EXPECT_EQ(writer->Append(batch), status);
    EXPECT_EQ(writer->Finish().status(), status);
  }
  EXPECT_TRUE(object.aborted);
  EXPECT_FALSE(object.closed);
}

TEST(ParquetWriter, RefusesWhatTheFieldsDoNotAllow) {
  ColumnBatch null = EmptyBatchOf({Text()});
  null.columns[0].AppendNull();
  FileField required = Text();
  required.required = true;
  ExpectRefused({required}, null, "text is required and got a null");
  ExpectRefused({Text(), Text()}, null, "a file of 2 columns got 1");
  ExpectRefused({{FieldId(1), "n", {TypeKind::kInt}}}, null,
                "column n of int got 1 values of string");

  const FileField uuid{FieldId(1), "u", {TypeKind::kUuid}};
  ColumnBatch short_uuid = EmptyBatchOf({uuid});
  short_uuid.columns[0].valid.push_back(1);
  short_uuid.columns[0].bytes.push_back("short");
  ExpectRefused({uuid}, short_uuid, "column u got a UUID of 5 bytes");
  EXPECT_FALSE(ParquetWriter::Create(
                   {}, {}, std::make_unique<MemoryWriteStream>(*std::make_unique<MemoryObject>()))
                   .ok());
}

TEST(ParquetWriter, RefusesDecimalsOfTooManyDigits) {
  for (const int precision : {1, 9, 10, 18, 19, 37, 38}) {
    const FileField field{FieldId(1), "d", {TypeKind::kDecimal, precision, 0}};
    absl::int128 limit = 1;
    for (int i = 0; i < precision; ++i) limit *= 10;
    ColumnBatch batch = EmptyBatchOf({field});
    batch.columns[0].valid = {1, 1};
    batch.columns[0].int128s = {limit - 1, 1 - limit};
    const MemoryFile file = WriteFile({field}, {&batch});
    TextColumns expected;
    AppendAsText(batch, expected);
    EXPECT_EQ(*ReadAll(file.bytes, {field}), expected);
    batch.columns[0].int128s = {0, limit};
    ExpectRefused({field}, batch, "more digits");
    batch.columns[0].int128s = {0, -limit};
    ExpectRefused({field}, batch, "more digits");
  }
}

TEST(ParquetWriter, WithoutFinishTheStreamIsAbortedAndNothingMoreReachesIt) {
  MemoryObject object;
  auto writer = NewWriter(object, {Text()});
  const ColumnBatch batch = DistinctTexts(1000);
  ASSERT_TRUE(writer->Append(batch).ok());
  const size_t before = object.bytes.size();
  writer.reset();
  EXPECT_TRUE(object.aborted);
  EXPECT_FALSE(object.closed);
  EXPECT_EQ(object.bytes.size(), before);
}

TEST(ParquetWriter, AnErrorOfTheStoreComesAsItIs) {
  for (const size_t bytes_max : {size_t{0}, size_t{100}, size_t{100'000}}) {
    MemoryObject object{.bytes_max = bytes_max};
    auto writer = NewWriter(object, {Text()}, {.row_group_bytes_max = 50'000});
    const ColumnBatch batch = DistinctTexts(5000);
    absl::Status status;
    for (int i = 0; i < 10 && status.ok(); ++i) status = writer->Append(batch);
    if (status.ok()) status = writer->Finish().status();
    EXPECT_EQ(status, absl::UnavailableError("the store is full"));
    writer.reset();
    EXPECT_TRUE(object.aborted);
  }
}

}  // namespace
}  // namespace fjord
