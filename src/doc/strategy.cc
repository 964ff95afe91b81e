#include "doc/strategy.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "doc/serialize.h"

namespace fjord::doc {
namespace {

using StrategyKind = Strategy::Kind;

struct StrategyRow {
  std::string_view name;
  StrategyKind kind;
  std::vector<std::string> parameters;
};

const std::vector<StrategyRow>& Strategies() {
  static const auto& rows = *new std::vector<StrategyRow>{
      {"append", StrategyKind::kAppend, {}},
      {"firstWriteWins", StrategyKind::kFirstWriteWins, {}},
      {"jsonSchemaMerge", StrategyKind::kJsonSchemaMerge, {}},
      {"lastWriteWins", StrategyKind::kLastWriteWins, {"associative", "delete"}},
      {"maximize", StrategyKind::kMaximize, {"key"}},
      {"merge", StrategyKind::kMerge, {"delete", "key"}},
      {"minimize", StrategyKind::kMinimize, {"key"}},
      {"set", StrategyKind::kSet, {"key"}},
      {"sum", StrategyKind::kSum, {}},
  };
  return rows;
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& known) {
  const std::optional<std::string> nearest = Nearest(word, known);
  return nearest ? StrCat("; did you mean \"", *nearest, "\"?")
                 : StrCat("; there is ", Join(known, ", "));
}

// The name behind "strategy".
absl::StatusOr<std::string_view> StrategyName(const Value& keyword, std::string_view where) {
  const Value* const name = keyword.Find("strategy");
  if (name == nullptr || !name->is_string()) {
    return absl::InvalidArgumentError(
        StrCat("\"", where, "\" is {\"strategy\": NAME, …}, not ", ToJson(keyword).substr(0, 100)));
  }
  return name->text();
}

absl::StatusOr<const StrategyRow*> FindStrategy(std::string_view name) {
  std::vector<std::string> known;
  for (const StrategyRow& row : Strategies()) {
    if (row.name == name) return &row;
    known.emplace_back(row.name);
  }
  return absl::InvalidArgumentError(
      StrCat("there is no reduction strategy \"", name, "\"", DidYouMean(name, known)));
}

absl::StatusOr<bool> BoolParameter(const Member& parameter) {
  if (parameter.value.is_bool()) return parameter.value.as_bool();
  return absl::InvalidArgumentError(
      StrCat("\"", parameter.name.text(), "\" of a reduction strategy is true or false"));
}

absl::StatusOr<std::vector<Pointer>> KeyParameter(const Value& value) {
  std::vector<Pointer> key;
  if (!value.is_array() || value.size() == 0) {
    return absl::InvalidArgumentError("\"key\" of a reduction strategy is a list of JSON pointers");
  }
  for (const Value& item : value.items()) {
    if (!item.is_string()) return KeyParameter(Value());
    ASSIGN_OR_RETURN(Pointer pointer, Pointer::Parse(item.text()));
    key.push_back(std::move(pointer));
  }
  return key;
}

absl::Status SetParameter(const StrategyRow& row, const Member& parameter, Strategy* strategy) {
  const std::string_view name = parameter.name.text();
  if (std::find(row.parameters.begin(), row.parameters.end(), name) == row.parameters.end()) {
    return absl::InvalidArgumentError(
        StrCat("the reduction strategy ", row.name, " has no parameter \"", name, "\"",
               row.parameters.empty() ? "" : DidYouMean(name, row.parameters)));
  }
  if (name == "key") {
    ASSIGN_OR_RETURN(strategy->key, KeyParameter(parameter.value));
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const bool on, BoolParameter(parameter));
  if (name == "delete") {
    strategy->at_full = on ? Strategy::AtFullReduction::kDelete : Strategy::AtFullReduction::kKeep;
  } else {
    strategy->partial = on ? Strategy::Partial::kAllowed : Strategy::Partial::kOnlyWhenEqual;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Strategy> ParseStrategy(const Value& keyword) {
  ASSIGN_OR_RETURN(const std::string_view name, StrategyName(keyword, "reduce"));
  ASSIGN_OR_RETURN(const StrategyRow* row, FindStrategy(name));
  Strategy strategy{.kind = row->kind};
  for (const Member& parameter : keyword.members()) {
    if (parameter.name.text() == "strategy") continue;
    RETURN_IF_ERROR(SetParameter(*row, parameter, &strategy));
  }
  return strategy;
}

absl::StatusOr<Redaction> ParseRedaction(const Value& keyword) {
  ASSIGN_OR_RETURN(const std::string_view name, StrategyName(keyword, "redact"));
  if (keyword.size() == 1 && name == "block") return Redaction::kBlock;
  if (keyword.size() == 1 && name == "sha256") return Redaction::kSha256;
  return absl::InvalidArgumentError(
      StrCat("\"redact\" is {\"strategy\": \"block\"} or {\"strategy\": \"sha256\"}, not ",
             ToJson(keyword).substr(0, 100)));
}

}  // namespace fjord::doc
