// What a row costs on its way into Parquet, compression included, and what a small file costs.
//
// The row: int8 key, int4, 20 characters of text, numeric(10,2), timestamptz, boolean.
#include <benchmark/benchmark.h>

#include <random>

#include "columnar/parquet_reader.h"
#include "columnar/parquet_test_support.h"
#include "columnar/parquet_writer.h"

namespace fjord {
namespace {

std::vector<FileField> Fields() {
  return {{FieldId(1), "id", {TypeKind::kLong}, true},
          {FieldId(2), "quantity", {TypeKind::kInt}},
          {FieldId(3), "name", {TypeKind::kString}},
          {FieldId(4), "price", {TypeKind::kDecimal, 10, 2}},
          {FieldId(5), "at", {TypeKind::kTimestampTz}},
          {FieldId(6), "done", {TypeKind::kBoolean}}};
}

// Every text once, or one of 50.
enum class Texts { kUnique, kFew };

ColumnBatch MakeBatch(size_t first, size_t rows, Texts texts) {
  std::mt19937_64 random(first);
  ColumnBatch batch;
  for (const FileField& field : Fields()) batch.columns.emplace_back(field.type);
  for (size_t i = first; i < first + rows; ++i) {
    for (Column& column : batch.columns) column.valid.push_back(1);
    batch.columns[0].int64s.push_back(static_cast<int64_t>(1'000'000 + i));
    batch.columns[1].int32s.push_back(static_cast<int32_t>(random() % 1000));
    uint64_t seed = texts == Texts::kFew ? random() % 50 : random();
    char* text = batch.arena.Allocate(20);
    for (int k = 0; k < 20; ++k, seed = seed * 6364136223846793005u + 1442695040888963407u) {
      text[k] = static_cast<char>('a' + (seed >> 33) % 26);
    }
    batch.columns[2].bytes.emplace_back(text, 20);
    batch.columns[3].int128s.push_back(static_cast<int64_t>(random() % 10'000'000));
    batch.columns[4].int64s.push_back(1'700'000'000'000'000 +
                                      static_cast<int64_t>(i * 1000 + random() % 1000));
    batch.columns[5].int32s.push_back(static_cast<int32_t>(random() % 2));
  }
  return batch;
}

void WriteRows(benchmark::State& state, Texts texts, const ParquetWriteOptions& options) {
  const auto rows_per_file = static_cast<size_t>(state.range(0));
  const size_t rows_per_batch = std::min<size_t>(rows_per_file, 10'000);
  std::vector<ColumnBatch> batches;
  for (size_t row = 0; row < rows_per_file; row += rows_per_batch)
    batches.push_back(MakeBatch(row, rows_per_batch, texts));
  double bytes = 0;
  for (auto _ : state) {
    MemoryObject object;
    auto writer =
        *ParquetWriter::Create(Fields(), options, std::make_unique<MemoryWriteStream>(object));
    for (const ColumnBatch& batch : batches) {
      if (!writer->Append(batch).ok()) state.SkipWithError("append");
    }
    if (!writer->Finish().ok()) state.SkipWithError("finish");
    bytes = static_cast<double>(object.bytes.size());
  }
  const double rows = static_cast<double>(rows_per_file);
  state.counters["cpu_per_row"] = benchmark::Counter(
      rows, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["bytes_per_row"] = bytes / rows;
}

void WriteUniqueTexts(benchmark::State& state) { WriteRows(state, Texts::kUnique, {}); }
void WriteFewTexts(benchmark::State& state) { WriteRows(state, Texts::kFew, {}); }
void WriteZstdLevel3(benchmark::State& state) {
  WriteRows(state, Texts::kUnique, {.zstd_level = 3});
}
BENCHMARK(WriteUniqueTexts)
    ->Arg(100)
    ->Arg(1000)
    ->Arg(20'000)
    ->Arg(200'000)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(WriteFewTexts)->Arg(200'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(WriteZstdLevel3)->Arg(200'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace fjord
