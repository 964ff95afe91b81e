#include "doc/validator.h"

#include <optional>

#include "base/strings.h"
#include "doc/evaluated.h"
#include "doc/pointer.h"
#include "doc/serialize.h"

namespace fjord::doc {
namespace {

constexpr size_t kExcerptBytesMax = 120;

std::string Excerpt(const Value& value) {
  std::string text = ToJson(value);
  if (text.size() > kExcerptBytesMax) {
    size_t end = kExcerptBytesMax;
    // Not in the middle of a character.
    while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;
    text.resize(end);
    text += "…";
  }
  return text;
}

// The names that `required` misses.
std::string MissingNames(const Value& required, const Value& object) {
  std::vector<std::string> missing;
  for (const Value& name : required.items()) {
    if (object.Find(name.text()) == nullptr) missing.emplace_back(name.text());
  }
  return Join(missing, ", ");
}

std::string MessageOf(const SchemaNode& node, std::string_view keyword, const Value& place) {
  const Value* const wanted = node.source->Find(keyword);
  if (keyword == "required") return StrCat("misses ", MissingNames(*wanted, place));
  if (wanted == nullptr) return StrCat(Excerpt(place), " is not allowed here");
  return StrCat(Excerpt(place), " does not satisfy \"", keyword, "\": ", Excerpt(*wanted));
}

}  // namespace

bool Validator::Validate(const Value& document) {
  annotations_.clear();
  failures_.clear();
  gave_up_ = false;
  const bool ok = Visit(*graph_.root, document, nullptr) && !gave_up_;
  if (!ok) annotations_.clear();
  return ok;
}

std::vector<SchemaError> Validator::Explain(const Value& document) {
  explaining_ = true;
  const bool ok = Validate(document);
  explaining_ = false;
  std::vector<SchemaError> errors;
  if (ok) return errors;
  if (gave_up_) {
    errors.push_back({"", graph_.root->location, "the schema refers to itself without end"});
    return errors;
  }
  for (const Failure& failure : failures_) errors.push_back(Describe(document, failure));
  return errors;
}

absl::Status Validator::Check(const Value& document) {
  if (Validate(document)) return absl::OkStatus();
  const std::vector<SchemaError> errors = Explain(document);
  const SchemaError& first = errors.front();
  return absl::InvalidArgumentError(
      StrCat("the document does not match its schema: at \"", first.instance_path, "\", ",
             first.message, " (", first.schema_path, ")",
             errors.size() > 1 ? StrCat(", and ", errors.size() - 1, " more") : ""));
}

SchemaError Validator::Describe(const Value& document, const Failure& failure) const {
  SchemaError error;
  error.instance_path = PointerTo(document, failure.place).value_or("");
  error.schema_path = failure.node->location;
  if (failure.node->source->Find(failure.keyword) != nullptr) {
    AppendPointerToken(failure.keyword, &error.schema_path);
  }
  error.message = MessageOf(*failure.node, failure.keyword, *failure.place);
  return error;
}

bool Validator::Fail(const SchemaNode& node, std::string_view keyword, const Value& place) {
  if (explaining_ && failures_.size() < kErrorsMax) failures_.push_back({&node, keyword, &place});
  return false;
}

void Validator::ReturnTo(const Mark& mark) {
  annotations_.resize(mark.annotations);
  failures_.resize(mark.failures);
}

bool Validator::Try(const SchemaNode& node, const Value& value, Evaluated* evaluated) {
  const Mark mark = Now();
  Evaluated seen;
  if (!Visit(node, value, evaluated == nullptr ? nullptr : &seen)) {
    ReturnTo(mark);
    return false;
  }
  if (evaluated != nullptr) evaluated->Merge(seen);
  return true;
}

bool Validator::Visit(const SchemaNode& node, const Value& value, Evaluated* evaluated) {
  if (node.never) return Fail(node, "", value);
  // Without the flag a schema with two references to itself would be tried 2^kDepthMax times.
  gave_up_ |= depth_ == kDepthMax;
  if (gave_up_) return false;
  ++depth_;
  const bool enters =
      graph_.has_dynamic_scope && (scope_.empty() || scope_.back() != node.resource);
  if (enters) scope_.push_back(node.resource);
  const bool inner = node.unevaluated_items != nullptr || node.unevaluated_properties != nullptr;
  const bool ok =
      inner ? VisitUnevaluated(node, value, evaluated) : VisitRules(node, value, evaluated);
  if (enters) scope_.pop_back();
  --depth_;
  if (ok && (node.annotation_kinds & wanted_) != 0) {
    annotations_.push_back({&value, &node.annotations});
  }
  return ok;
}

bool Validator::VisitRules(const SchemaNode& node, const Value& value, Evaluated* evaluated) {
  bool ok = CheckValue(node, value);
  if (GoesOn(ok) && node.numbers != nullptr && value.is_number()) ok &= CheckNumber(node, value);
  if (GoesOn(ok) && node.strings != nullptr && value.is_string()) ok &= CheckString(node, value);
  if (GoesOn(ok) && node.arrays != nullptr && value.is_array()) {
    ok &= CheckArray(node, value, evaluated);
  }
  if (GoesOn(ok) && node.objects != nullptr && value.is_object()) {
    ok &= CheckObject(node, value, evaluated);
  }
  if (GoesOn(ok) && node.logic != nullptr) ok &= CheckLogic(node, value, evaluated);
  return ok;
}

bool Validator::VisitUnevaluated(const SchemaNode& node, const Value& value, Evaluated* outer) {
  Evaluated seen;
  bool ok = VisitRules(node, value, &seen);
  if (ok) ok = CheckUnevaluated(node, value, seen);
  if (outer == nullptr) return ok;
  outer->Merge(seen);
  if ((value.is_array() && node.unevaluated_items != nullptr) ||
      (value.is_object() && node.unevaluated_properties != nullptr)) {
    outer->MarkAll();
  }
  return ok;
}

bool Validator::CheckUnevaluated(const SchemaNode& node, const Value& value,
                                 const Evaluated& seen) {
  bool ok = true;
  const size_t size = value.is_array() || value.is_object() ? value.size() : 0;
  for (size_t i = 0; i < size && GoesOn(ok); ++i) {
    if (seen.Has(i)) continue;
    const SchemaNode* const rest =
        value.is_array() ? node.unevaluated_items : node.unevaluated_properties;
    if (rest == nullptr) return ok;
    ok &= Visit(*rest, value.is_array() ? value.items()[i] : value.members()[i].value, nullptr);
  }
  return ok;
}

}  // namespace fjord::doc
