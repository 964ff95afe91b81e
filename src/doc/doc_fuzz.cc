// Fuzz target: texts, one after another, as an older document, a newer one and their schema. No
// crash, no leak, no runaway; what is printed reads back as the same value.
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "doc/compare.h"
#include "doc/parser.h"
#include "doc/reducer.h"
#include "doc/serialize.h"

namespace {

using fjord::doc::Arena;
using fjord::doc::Parser;
using fjord::doc::Value;

void CheckRoundTrip(const Value& value, Arena& arena) {
  Parser parser;
  const auto again = parser.Parse(fjord::doc::ToJson(value), arena);
  if (!again.ok() || !fjord::doc::Equal(*again, value)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Arena arena;
  Parser parser;
  std::vector<Value> documents;
  parser.ParseMany(text, arena, &documents).IgnoreError();  // because those before are there
  for (const Value& document : documents) CheckRoundTrip(document, arena);
  if (documents.size() < 3) return 0;
  const auto schema = fjord::doc::Schema::Compile(documents[2], "", {});
  if (!schema.ok()) return 0;
  fjord::doc::Reducer reducer(*schema);
  if (!reducer.Prepare(documents[1]).ok()) return 0;
  for (const auto mode : {fjord::doc::ReduceMode::kPartial, fjord::doc::ReduceMode::kFull}) {
    const auto reduced = reducer.Reduce(&documents[0], mode, arena);
    if (reduced.ok() && reduced->outcome == fjord::doc::Reduced::Outcome::kValue) {
      CheckRoundTrip(reduced->value, arena);
    }
  }
  return 0;
}
