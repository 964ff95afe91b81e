#include "doc/value.h"

#include <algorithm>
#include <array>

namespace fjord::doc {
namespace {

// Up to here a search from the front is faster than halving.
constexpr size_t kLinearSearchMembersMax = 8;
constexpr size_t kInsertionSortMax = 24;
constexpr size_t kOrderOnStackMax = 64;

Value CopyItems(std::span<const Value> items, Arena& arena) {
  if (items.empty()) return Value::Array({});
  Value* const copies = arena.AllocateArray<Value>(items.size());
  for (size_t i = 0; i < items.size(); ++i) copies[i] = DeepCopy(items[i], arena);
  return Value::Array({copies, items.size()});
}

Value CopyMembers(std::span<const Member> members, Arena& arena) {
  if (members.empty()) return Value::Object({});
  Member* const copies = arena.AllocateArray<Member>(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    copies[i] = {Name(arena.Copy(members[i].name.text())), DeepCopy(members[i].value, arena)};
  }
  return Value::Object({copies, members.size()});
}

bool IsSorted(std::span<const Member> members) {
  for (size_t i = 1; i < members.size(); ++i) {
    if (members[i - 1].name >= members[i].name) return false;
  }
  return true;
}

// `order` becomes the members' indexes, sorted by name and, of equal names, by place. An entry is
// the beginning of a name above its index, so that most comparisons are one of integers.
void SortByName(std::span<const Member> members, std::span<uint64_t> order) {
  for (size_t i = 0; i < members.size(); ++i) {
    order[i] = uint64_t{members[i].name.prefix()} << 32 | i;
  }
  const auto before = [members](uint64_t a, uint64_t b) {
    if (a >> 32 == b >> 32) {
      const auto names =
          members[static_cast<uint32_t>(a)].name <=> members[static_cast<uint32_t>(b)].name;
      if (names != 0) return names < 0;
    }
    return a < b;
  };
  if (order.size() > kInsertionSortMax) {
    std::sort(order.begin(), order.end(), before);
    return;
  }
  for (size_t i = 1; i < order.size(); ++i) {
    const uint64_t entry = order[i];
    size_t place = i;
    for (; place > 0 && before(entry, order[place - 1]); --place) order[place] = order[place - 1];
    order[place] = entry;
  }
}

}  // namespace

const Value* Value::Find(const Name& name) const {
  if (!is_object()) return nullptr;
  const std::span<const Member> all = members();
  if (all.size() <= kLinearSearchMembersMax) {
    for (const Member& member : all) {
      if (member.name == name) return &member.value;
    }
    return nullptr;
  }
  const auto found = std::lower_bound(
      all.begin(), all.end(), name,
      [](const Member& member, const Name& wanted) { return member.name < wanted; });
  return found != all.end() && found->name == name ? &found->value : nullptr;
}

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kNull: return "null";
    case Kind::kBool: return "boolean";
    case Kind::kInt:
    case Kind::kUint: return "integer";
    case Kind::kDouble:
    case Kind::kNumberText: return "number";
    case Kind::kString: return "string";
    case Kind::kArray: return "array";
    case Kind::kObject: return "object";
  }
  return "";
}

Value DeepCopy(const Value& value, Arena& arena) {
  switch (value.kind()) {
    case Kind::kNull:
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble: return value;
    case Kind::kNumberText: return Value::NumberText(arena.Copy(value.text()));
    case Kind::kString: return Value::String(arena.Copy(value.text()));
    case Kind::kArray: return CopyItems(value.items(), arena);
    case Kind::kObject: return CopyMembers(value.members(), arena);
  }
  return value;
}

Value MakeString(std::string_view text, Arena& arena) { return Value::String(arena.Copy(text)); }

Value MakeArray(std::span<const Value> items, Arena& arena) {
  return Value::Array(arena.Copy(items));
}

Value MakeObject(std::span<const Member> members, Arena& arena) {
  if (IsSorted(members)) return Value::Object(arena.Copy(members));
  std::array<uint64_t, kOrderOnStackMax> small;
  const std::span<uint64_t> order{
      members.size() <= small.size() ? small.data() : arena.AllocateArray<uint64_t>(members.size()),
      members.size()};
  SortByName(members, order);
  Member* const kept = arena.AllocateArray<Member>(members.size());
  size_t count = 0;
  for (const uint64_t entry : order) {
    const Member& member = members[static_cast<uint32_t>(entry)];
    if (count > 0 && kept[count - 1].name == member.name) --count;
    kept[count++] = member;
  }
  return Value::Object({kept, count});
}

}  // namespace fjord::doc
