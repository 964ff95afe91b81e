// Nanoseconds a value takes from its text to its column, by type; and a line of COPY to cells.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "postgres/copy.h"
#include "postgres/tuple.h"

namespace fjord {
namespace {

constexpr size_t kRows = 4096;

// A column of values that differ.
std::vector<std::string> Texts(DecodeKind decode) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < kRows; ++i) {
    const size_t n = i * 7919 % 10'000'000;
    const std::string digits = StrCat(n);
    const std::string two = StrCat(10 + i % 49);
    switch (decode) {
      case DecodeKind::kBoolean: texts.push_back(i % 2 == 0 ? "t" : "f"); break;
      case DecodeKind::kInt32: texts.push_back(digits); break;
      case DecodeKind::kInt64: texts.push_back(StrCat("9007199", digits)); break;
      case DecodeKind::kFloat:
      case DecodeKind::kDouble: texts.push_back(StrCat("0.123", digits)); break;
      case DecodeKind::kDecimal: texts.push_back(StrCat(digits, ".", two)); break;
      case DecodeKind::kText:
      case DecodeKind::kCheckedText: texts.push_back(StrCat("customer number ", digits)); break;
      case DecodeKind::kBytea: texts.push_back(StrCat("\\x0011223344556677", two)); break;
      case DecodeKind::kDate: texts.push_back(StrCat("20", two, "-03-", 10 + i % 19)); break;
      case DecodeKind::kTime: texts.push_back(StrCat("03:04:", two, ".123456")); break;
      case DecodeKind::kTimestamp:
        texts.push_back(StrCat("2024-03-17 03:04:", two, ".123456"));
        break;
      case DecodeKind::kTimestampTz:
        texts.push_back(StrCat("2024-03-17 03:04:", two, ".123456+00"));
        break;
      case DecodeKind::kUuid:
        texts.push_back(StrCat("00112233-4455-6677-8899-aabbccddee", two));
        break;
      case DecodeKind::kArray: texts.push_back(StrCat("{1,", digits, ",NULL}")); break;
    }
  }
  return texts;
}

void BM_Decode(benchmark::State& state, DecodeKind decode, ColumnType lake) {
  const std::vector<std::string> texts = Texts(decode);
  TupleRows rows{.columns = 1};
  for (const std::string& text : texts) rows.Append(std::vector<TextCell>{TextCell::Of(text)});
  const PgColumn column{
      .name = "c", .lake = lake, .decode = decode, .element = ArrayElement::kNumber};
  Column out(lake);
  Arena arena;
  for (auto _ : state) {
    out.Clear();
    arena.Clear();
    const DecodeResult result =
        DecodeColumn(column, ColumnOf(rows, 0), UnrepresentablePolicy::kBlock, out, arena);
    if (result.problem) state.SkipWithError(result.problem->reason.c_str());
    benchmark::DoNotOptimize(out.valid.data());
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kRows));
}

BENCHMARK_CAPTURE(BM_Decode, boolean, DecodeKind::kBoolean, ColumnType{TypeKind::kBoolean});
BENCHMARK_CAPTURE(BM_Decode, int, DecodeKind::kInt32, ColumnType{TypeKind::kInt});
BENCHMARK_CAPTURE(BM_Decode, bigint, DecodeKind::kInt64, ColumnType{TypeKind::kLong});
BENCHMARK_CAPTURE(BM_Decode, double, DecodeKind::kDouble, ColumnType{TypeKind::kDouble});
BENCHMARK_CAPTURE(BM_Decode, numeric, DecodeKind::kDecimal, ColumnType{TypeKind::kDecimal, 12, 2});
BENCHMARK_CAPTURE(BM_Decode, text, DecodeKind::kText, ColumnType{TypeKind::kString});
BENCHMARK_CAPTURE(BM_Decode, checked_text, DecodeKind::kCheckedText, ColumnType{TypeKind::kString});
BENCHMARK_CAPTURE(BM_Decode, bytea, DecodeKind::kBytea, ColumnType{TypeKind::kBinary});
BENCHMARK_CAPTURE(BM_Decode, date, DecodeKind::kDate, ColumnType{TypeKind::kDate});
BENCHMARK_CAPTURE(BM_Decode, time, DecodeKind::kTime, ColumnType{TypeKind::kTime});
BENCHMARK_CAPTURE(BM_Decode, timestamp, DecodeKind::kTimestamp, ColumnType{TypeKind::kTimestamp});
BENCHMARK_CAPTURE(BM_Decode, timestamptz, DecodeKind::kTimestampTz,
                  ColumnType{TypeKind::kTimestampTz});
BENCHMARK_CAPTURE(BM_Decode, uuid, DecodeKind::kUuid, ColumnType{TypeKind::kUuid});
BENCHMARK_CAPTURE(BM_Decode, int_array, DecodeKind::kArray, ColumnType{TypeKind::kString});

void BM_CopyLine(benchmark::State& state) {
  const std::string line =
      "1234567\t42\tcustomer number 77\t2024-03-17 03:04:05.123456+00\t19.99\tnote with a \\\\ in "
      "it";
  CopyBatch batch;
  batch.rows.columns = 6;
  for (auto _ : state) {
    if (batch.rows.rows == kRows) batch.Clear();
    if (!ParseCopyLine(line, batch.arena, batch.rows).ok()) state.SkipWithError("not a line");
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * 6);
}
BENCHMARK(BM_CopyLine);

}  // namespace
}  // namespace fjord
