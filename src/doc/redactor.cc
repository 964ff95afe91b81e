#include "doc/redactor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"
#include "doc/pointer.h"
#include "doc/serialize.h"

namespace fjord::doc {
namespace {

constexpr std::string_view kPrefix = "sha256:";
constexpr size_t kDigestDigits = 64;
constexpr double kExactIntegerMax = 0x1p53;

bool IsDigest(const Value& value) {
  if (!value.is_string() || value.size() != kPrefix.size() + kDigestDigits) return false;
  const std::string_view text = value.text();
  return text.starts_with(kPrefix) &&
         text.find_first_not_of("0123456789abcdef", kPrefix.size()) == std::string_view::npos;
}

std::string LittleEndian(uint64_t bits) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(bits >> (8 * i) & 0xff);
  return bytes;
}

std::string DoubleBytes(double value) {
  if (std::trunc(value) == value && std::abs(value) <= kExactIntegerMax) {
    return LittleEndian(static_cast<uint64_t>(static_cast<int64_t>(value)));
  }
  return LittleEndian(std::bit_cast<uint64_t>(value));
}

std::string BytesOf(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull: return "";
    case Kind::kBool: return std::string(1, value.as_bool() ? '\1' : '\0');
    case Kind::kInt: return LittleEndian(static_cast<uint64_t>(value.as_int()));
    case Kind::kUint: return LittleEndian(value.as_uint());
    case Kind::kDouble: return DoubleBytes(value.as_double());
    case Kind::kString: return std::string(value.text());
    case Kind::kNumberText:
    case Kind::kArray:
    case Kind::kObject: return ToJson(value);
  }
  return "";
}

}  // namespace

absl::StatusOr<Value> Redactor::Redact(const Value& document, Arena& arena) {
  RETURN_IF_ERROR(validator_.Check(document));
  redactions_.Clear();
  for (const Annotation& annotation : validator_.annotations()) {
    const Redaction redaction = *annotation.annotations->redact;
    if (redactions_.Put(annotation.place, redaction) != redaction) {
      return absl::InvalidArgumentError(
          StrCat("conflicting strategies: two different redact annotations apply at \"",
                 PointerTo(document, annotation.place).value_or(""), "\""));
    }
  }
  if (redactions_.empty()) return document;
  Value kept;
  if (Keep(document, arena, &kept)) return kept;
  return absl::InvalidArgumentError(
      "the schema blocks the whole document: put \"redact\" at the members that must not be kept");
}

bool Redactor::Keep(const Value& value, Arena& arena, Value* kept) {
  const Redaction* const redaction = redactions_.Find(&value);
  if (redaction != nullptr && *redaction == Redaction::kBlock) return false;
  *kept = redaction != nullptr ? Digest(value, arena) : Rewrite(value, arena);
  return true;
}

Value Redactor::Rewrite(const Value& value, Arena& arena) {
  if (value.is_array()) return RewriteItems(value, arena);
  if (value.is_object()) return RewriteMembers(value, arena);
  return value;
}

Value Redactor::RewriteItems(const Value& array, Arena& arena) {
  Value* const kept = arena.AllocateArray<Value>(array.size());
  size_t count = 0;
  for (const Value& item : array.items()) {
    if (Keep(item, arena, &kept[count])) ++count;
  }
  return Value::Array({kept, count});
}

Value Redactor::RewriteMembers(const Value& object, Arena& arena) {
  Member* const kept = arena.AllocateArray<Member>(object.size());
  size_t count = 0;
  for (const Member& member : object.members()) {
    kept[count].name = member.name;
    if (Keep(member.value, arena, &kept[count].value)) ++count;
  }
  return Value::Object({kept, count});
}

Value Redactor::Digest(const Value& value, Arena& arena) const {
  if (IsDigest(value)) return value;
  return MakeString(StrCat(kPrefix, Hex(Sha256(salt_ + BytesOf(value)))), arena);
}

}  // namespace fjord::doc
