// The strategy `jsonSchemaMerge`: both sides are JSON schemas, the result is one that admits what
// either admits.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "doc/reduction.h"
#include "doc/shape.h"

namespace fjord::doc {
namespace {

constexpr std::string_view kGeneration = "x-collection-generation-id";
constexpr std::string_view kLimit = "x-complexity-limit";
constexpr int64_t kLimitMax = 100'000;

// Hexadecimal digits without leading zeros, so that longer is larger.
std::optional<std::string_view> GenerationOf(const Value& schema) {
  const Value* const found = schema.Find(kGeneration);
  if (found == nullptr || !found->is_string()) return std::nullopt;
  std::string_view text = found->text();
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  return text;
}

std::strong_ordering CompareGenerations(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

absl::StatusOr<ShapeLimits> LimitsOf(const Value& schema) {
  const Value* const found = schema.Find(kLimit);
  if (found == nullptr) return ShapeLimits{};
  if (found->kind() != Kind::kInt || found->as_int() < 1 || found->as_int() > kLimitMax) {
    return absl::InvalidArgumentError("x-complexity-limit is an integer from 1 to 100000");
  }
  return ShapeLimits{.locations_max = static_cast<size_t>(found->as_int())};
}

absl::StatusOr<Shape> UnitedShape(const Value* lhs, const Value& rhs) {
  ASSIGN_OR_RETURN(Shape newer, ShapeOfSchema(rhs));
  Shape shape;
  if (lhs != nullptr) {
    ASSIGN_OR_RETURN(shape, ShapeOfSchema(*lhs));
  }
  shape = Unite(std::move(shape), std::move(newer));
  ASSIGN_OR_RETURN(const ShapeLimits limits, LimitsOf(rhs));
  EnforceLimits(shape, limits);
  return shape;
}

// The newer side's keyword, else the older one's.
void Retain(std::string_view keyword, const Value* lhs, const Value& rhs,
            std::vector<Member>* members) {
  const Value* found = rhs.Find(keyword);
  if (found == nullptr && lhs != nullptr) found = lhs->Find(keyword);
  if (found != nullptr) members->push_back({Name(keyword), *found});
}

}  // namespace

Step Reduction::MergeSchemas(const Value* lhs, const Value& rhs) {
  const std::optional<std::string_view> newer = GenerationOf(rhs);
  const std::optional<std::string_view> older = lhs == nullptr ? std::nullopt : GenerationOf(*lhs);
  if (newer && older) {
    const auto order = CompareGenerations(*newer, *older);
    if (order < 0) return Step::Of(*lhs);
    if (order > 0) lhs = nullptr;
  }
  const absl::StatusOr<Shape> shape = UnitedShape(lhs, rhs);
  if (!shape.ok()) return Fail(rhs, std::string(Message(shape.status())));
  const Value schema = ToSchema(*shape, arena_);
  if (!schema.is_object()) return Step::Of(schema);
  std::vector<Member> members(schema.members().begin(), schema.members().end());
  Retain(kGeneration, lhs, rhs, &members);
  Retain(kLimit, lhs, rhs, &members);
  return Step::Of(MakeObject(members, arena_));
}

}  // namespace fjord::doc
