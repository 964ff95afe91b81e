// The row index beside its bare reference: look-ups with update at 10 M rows, batches
// of 20,000 random keys.
//
// `lake_bench --benchmark_format=json` is what the measure `row-index` of bench/ reads;
// items_per_second is keys a second. FJORD_BENCH_ROWS changes the number of rows,
// FJORD_BENCH_FOLDER the place of the file (default: the current folder).
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "lake/row_index.h"

namespace fjord {
namespace {

constexpr size_t kBatch = 20'000;

uint64_t Rows() {
  static const uint64_t rows = [] {
    const char* text = std::getenv("FJORD_BENCH_ROWS");
    return text == nullptr ? 10'000'000 : std::strtoull(text, nullptr, 10);
  }();
  return rows;
}

std::string Folder() {
  const char* folder = std::getenv("FJORD_BENCH_FOLDER");
  return folder == nullptr ? "." : folder;
}

// SplitMix64: the hash of row n, which the index would get from SipHash.
uint64_t Mix(uint64_t n) {
  n += 0x9e3779b97f4a7c15ull;
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9ull;
  n = (n ^ (n >> 27)) * 0x94d049bb133111ebull;
  return n ^ (n >> 31);
}
Hash128 KeyOf(uint64_t row) { return {Mix(row), Mix(~row)}; }

// One filled index for all benchmarks: filling it takes longer than measuring.
RowIndex& FilledIndex() {
  static const std::unique_ptr<RowIndex> index = [] {
    auto made = RowIndex::CreateScratch(Folder(), {1, 2});
    if (!made.ok()) std::abort();
    std::vector<IndexChange> batch;
    for (uint64_t row = 0; row < Rows(); ++row) {
      batch.push_back({KeyOf(row), {FileNumber(1), RowPosition(static_cast<uint32_t>(row))}});
      if (batch.size() == 65'536 || row + 1 == Rows()) {
        if (!(*made)->Apply(batch).ok()) std::abort();
        batch.clear();
      }
    }
    return *std::move(made);
  }();
  return *index;
}

void RandomBatch(std::mt19937_64& random, std::vector<Hash128>& keys,
                 std::vector<IndexChange>& changes) {
  keys.resize(kBatch);
  changes.resize(kBatch);
  for (size_t i = 0; i < kBatch; ++i) {
    keys[i] = KeyOf(random() % Rows());
    changes[i] = {keys[i], {FileNumber(2), RowPosition(static_cast<uint32_t>(i))}};
  }
}

// What an epoch does: locate the keys, and after the commit apply their new places.
void LookUpWithUpdate(benchmark::State& state) {
  RowIndex& index = FilledIndex();
  std::mt19937_64 random(42);
  std::vector<Hash128> keys;
  std::vector<IndexChange> changes;
  std::vector<RowLocation> places(kBatch);
  for (auto _ : state) {
    state.PauseTiming();
    RandomBatch(random, keys, changes);
    state.ResumeTiming();
    index.Find(keys, places);
    if (!index.Apply(changes).ok()) state.SkipWithError("apply");
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kBatch));
  state.counters["rows"] = static_cast<double>(index.size());
  state.counters["file_bytes_per_row"] =
      static_cast<double>(index.mapped_bytes()) / static_cast<double>(index.size());
}
BENCHMARK(LookUpWithUpdate)->Unit(benchmark::kMillisecond)->MinTime(3);

void LookUp(benchmark::State& state) {
  RowIndex& index = FilledIndex();
  std::mt19937_64 random(43);
  std::vector<Hash128> keys;
  std::vector<IndexChange> changes;
  std::vector<RowLocation> places(kBatch);
  for (auto _ : state) {
    state.PauseTiming();
    RandomBatch(random, keys, changes);
    state.ResumeTiming();
    index.Find(keys, places);
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kBatch));
}
BENCHMARK(LookUp)->Unit(benchmark::kMillisecond)->MinTime(2);

void RemoveAndPutBack(benchmark::State& state) {
  RowIndex& index = FilledIndex();
  std::mt19937_64 random(44);
  std::vector<Hash128> keys;
  std::vector<IndexChange> changes;
  for (auto _ : state) {
    state.PauseTiming();
    RandomBatch(random, keys, changes);
    std::vector<IndexChange> removals = changes;
    for (IndexChange& removal : removals) removal.location = kNoRow;
    state.ResumeTiming();
    if (!index.Apply(removals).ok() || !index.Apply(changes).ok()) state.SkipWithError("apply");
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kBatch));
}
BENCHMARK(RemoveAndPutBack)->Unit(benchmark::kMillisecond)->MinTime(2);

// After a start: nothing of the file is in memory. Stays below the others by
// what the disk can read.
void LookUpOnDisk(benchmark::State& state) {
  constexpr size_t kColdBatch = 2'000;  // few enough that hardly two of them share a page
  const std::string path = Folder() + "/row_index_bench.rows";
  {
    auto index = RowIndex::Create(path, {});
    if (!index.ok()) return state.SkipWithError("create");
    std::vector<IndexChange> batch;
    for (uint64_t row = 0; row < Rows(); ++row) {
      batch.push_back({KeyOf(row), {FileNumber(1), RowPosition(0)}});
      if (batch.size() < 65'536 && row + 1 < Rows()) continue;
      if (!(*index)->Apply(batch).ok()) return state.SkipWithError("apply");
      batch.clear();
    }
    if (!(*index)->FinishStep({}).ok() || !(*index)->Close().ok())
      return state.SkipWithError("close");
  }
  std::mt19937_64 random(45);
  std::vector<Hash128> keys;
  std::vector<IndexChange> changes;
  std::vector<RowLocation> places(kBatch);
  for (auto _ : state) {
    state.PauseTiming();
    const int fd = open(path.c_str(), O_RDONLY);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
    auto index = *RowIndex::Open(path);
    RandomBatch(random, keys, changes);
    state.ResumeTiming();
    index->Find(std::span(keys).first(kColdBatch), places);
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kColdBatch));
  unlink(path.c_str());
}
BENCHMARK(LookUpOnDisk)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(5);

void FirstLoad(benchmark::State& state) {
  constexpr uint64_t kLoaded = 2'000'000;
  std::vector<IndexChange> batch(65'536);
  for (auto _ : state) {
    auto index = RowIndex::CreateScratch(Folder(), {1, 2});
    if (!index.ok()) return state.SkipWithError("create");
    for (uint64_t row = 0; row < kLoaded; row += batch.size()) {
      for (size_t i = 0; i < batch.size(); ++i)
        batch[i] = {KeyOf(row + i), {FileNumber(1), RowPosition(0)}};
      if (!(*index)->Apply(batch).ok()) return state.SkipWithError("apply");
    }
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kLoaded));
}
BENCHMARK(FirstLoad)->Unit(benchmark::kMillisecond);

// The bare reference: a look-up with update in the standard library's hash map, in memory, nothing
// kept over a kill.
void ReferenceUnorderedMap(benchmark::State& state) {
  struct FirstWord {
    size_t operator()(const Hash128& key) const { return key.low; }
  };
  std::unordered_map<Hash128, RowLocation, FirstWord> map;
  map.reserve(Rows());
  for (uint64_t row = 0; row < Rows(); ++row) map[KeyOf(row)] = {FileNumber(1), RowPosition(0)};
  std::mt19937_64 random(42);
  std::vector<Hash128> keys;
  std::vector<IndexChange> changes;
  std::vector<RowLocation> places(kBatch);
  for (auto _ : state) {
    state.PauseTiming();
    RandomBatch(random, keys, changes);
    state.ResumeTiming();
    for (size_t i = 0; i < kBatch; ++i) places[i] = map.find(keys[i])->second;
    for (const IndexChange& change : changes) map[change.key] = change.location;
    benchmark::DoNotOptimize(places.data());
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kBatch));
}
BENCHMARK(ReferenceUnorderedMap)->Unit(benchmark::kMillisecond)->MinTime(3);

}  // namespace
}  // namespace fjord
