// Documents of about 600 bytes: parsed, validated, reduced; beside simdjson's own parse of the same
// text. `doc_bench --benchmark_format=json`: bytes_per_second is text, items_per_second documents.
#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/strings.h"
#include "doc/key.h"
#include "doc/parser.h"
#include "doc/reducer.h"
#include "doc/serialize.h"

namespace fjord::doc {
namespace {

constexpr int kDocuments = 10'000;
constexpr size_t kBatchBytes = size_t{128} << 10;

std::string Document(int i) {
  return StrCat(
      R"({"id":)", i / 2, R"(,"_meta":{"uuid":"1f3c8a6e-0b1d-11ef-8000-0242ac1200)", 10 + i % 90,
      R"(","op":"u","source":{"ts_ms":17147318)", 10000 + i % 90000,
      R"(,"schema":"public","table":"orders","loc":[)", i, ",", i + 1, R"(,0]}},"customer":)",
      i % 5000, R"(,"email":"someone.with.a.name)", i,
      R"(@example.test","status":"shipped","total":)", i % 1000, R"(.25,"currency":"EUR","count":)",
      i % 7, R"(,"tags":["new","gift","express"],"notes":)",
      R"("Please leave the parcel with the neighbours at number )", i % 200,
      R"(, they know about it.","address":{"street":"Long Street 12","city":"Harbour","zip":"20457",)",
      R"("country":"DE","lat":53.5436,"lon":9.9886},"created_at":"2024-05-03T10:23:45.123456Z",)",
      R"("updated_at":"2024-05-03T10:24:01.000321Z","active":true,"referrer":null})");
}

const std::vector<std::string>& Batches() {
  static const auto& batches = *[] {
    auto* made = new std::vector<std::string>(1);
    for (int i = 0; i < kDocuments; ++i) {
      if (made->back().size() > kBatchBytes) made->emplace_back();
      made->back() += Document(i) + "\n";
    }
    return made;
  }();
  return batches;
}

size_t TextBytes() {
  size_t bytes = 0;
  for (const std::string& batch : Batches()) bytes += batch.size();
  return bytes;
}

constexpr std::string_view kSchema = R"({
  "type": "object", "required": ["id"], "reduce": {"strategy": "merge"},
  "properties": {
    "id": {"type": "integer"},
    "_meta": {"type": "object", "properties": {"op": {"enum": ["c", "u", "d"]}, "uuid": {"type": "string"},
              "source": {"type": "object", "properties": {"ts_ms": {"type": "integer"}, "loc": {"type": "array", "items": {"type": "integer"}}}}}},
    "customer": {"type": "integer"}, "email": {"type": "string", "maxLength": 200},
    "status": {"type": "string"}, "total": {"type": "number", "reduce": {"strategy": "sum"}},
    "currency": {"type": "string", "minLength": 3, "maxLength": 3},
    "count": {"type": "integer", "minimum": 0, "reduce": {"strategy": "sum"}},
    "tags": {"type": "array", "items": {"type": "string"}},
    "notes": {"type": ["string", "null"]},
    "address": {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}, "lat": {"type": "number"}, "lon": {"type": "number"}}},
    "created_at": {"type": "string", "format": "date-time"}, "updated_at": {"type": "string", "format": "date-time"},
    "active": {"type": "boolean"}}})";

Schema CompiledSchema() {
  Arena arena;
  Parser parser;
  auto schema = Schema::Compile(*parser.Parse(kSchema, arena), "", {});
  if (!schema.ok()) std::abort();
  return *std::move(schema);
}

void Report(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * kDocuments);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(TextBytes()));
}

void BM_SimdjsonDom(benchmark::State& state) {
  simdjson::dom::parser parser;
  std::vector<simdjson::padded_string> batches;
  for (const std::string& batch : Batches()) batches.emplace_back(batch);
  for (auto _ : state) {
    for (const simdjson::padded_string& batch : batches) {
      simdjson::dom::document_stream documents;
      if (parser.parse_many(batch, batch.size()).get(documents)) std::abort();
      for (auto document : documents) {
        simdjson::dom::element element;
        if (document.get(element)) std::abort();
        benchmark::DoNotOptimize(element);
      }
    }
  }
  Report(state);
}
BENCHMARK(BM_SimdjsonDom)->Unit(benchmark::kMillisecond);

// Runs `work(documents, arena)` over all batches.
template <class Work>
void ForEachBatch(benchmark::State& state, Work work) {
  Parser parser;
  Arena arena(size_t{1} << 20);
  std::vector<Value> documents;
  for (auto _ : state) {
    for (const std::string& batch : Batches()) {
      arena.Clear();
      documents.clear();
      if (!parser.ParseMany(batch, arena, &documents).ok()) std::abort();
      work(documents, arena);
    }
  }
  Report(state);
}

void BM_Parse(benchmark::State& state) {
  ForEachBatch(state, [](const std::vector<Value>& documents, Arena&) {
    benchmark::DoNotOptimize(documents.data());
  });
}
BENCHMARK(BM_Parse)->Unit(benchmark::kMillisecond);

void BM_ParseAndValidate(benchmark::State& state) {
  const Schema schema = CompiledSchema();
  Validator validator(schema, kReduceAnnotations);
  ForEachBatch(state, [&](const std::vector<Value>& documents, Arena&) {
    for (const Value& document : documents) {
      if (!validator.Validate(document)) std::abort();
    }
  });
}
BENCHMARK(BM_ParseAndValidate)->Unit(benchmark::kMillisecond);

// Each two neighbours have one key.
void BM_ParseValidateAndReduce(benchmark::State& state) {
  const Schema schema = CompiledSchema();
  Reducer reducer(schema);
  const std::vector<std::string> pointers = {"/id"};
  const Key key = *Key::Create(pointers);
  std::string packed;
  ForEachBatch(state, [&](const std::vector<Value>& documents, Arena& arena) {
    for (size_t i = 0; i < documents.size(); ++i) {
      packed.clear();
      if (!key.AppendPacked(documents[i], &packed).ok()) std::abort();
      if (!reducer.Prepare(documents[i]).ok()) std::abort();
      if (i == 0 || key.Compare(documents[i - 1], documents[i]) != 0) continue;
      const auto reduced = reducer.Reduce(&documents[i - 1], ReduceMode::kPartial, arena);
      if (!reduced.ok()) std::abort();
      benchmark::DoNotOptimize(reduced->value);
    }
  });
}
BENCHMARK(BM_ParseValidateAndReduce)->Unit(benchmark::kMillisecond);

void BM_Serialise(benchmark::State& state) {
  Parser parser;
  Arena arena(size_t{1} << 20);
  std::vector<Value> documents;
  for (const std::string& batch : Batches()) {
    if (!parser.ParseMany(batch, arena, &documents).ok()) std::abort();
  }
  std::string out;
  for (auto _ : state) {
    out.clear();
    for (const Value& document : documents) AppendJson(document, &out);
    benchmark::DoNotOptimize(out.data());
  }
  Report(state);
}
BENCHMARK(BM_Serialise)->Unit(benchmark::kMillisecond);

void BM_DeepCopy(benchmark::State& state) {
  Arena to(size_t{1} << 20);
  ForEachBatch(state, [&](const std::vector<Value>& documents, Arena&) {
    to.Clear();
    for (const Value& document : documents) benchmark::DoNotOptimize(DeepCopy(document, to));
  });
}
BENCHMARK(BM_DeepCopy)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fjord::doc
