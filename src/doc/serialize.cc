#include "doc/serialize.h"

#include <array>
#include <charconv>

#include "doc/number.h"

namespace fjord::doc {
namespace {

constexpr std::array<bool, 256> kNeedsEscape = [] {
  std::array<bool, 256> table{};
  for (size_t c = 0; c < 0x20; ++c) table[c] = true;
  table['"'] = table['\\'] = true;
  return table;
}();

void AppendEscape(char c, std::string* out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"': out->append("\\\""); return;
    case '\\': out->append("\\\\"); return;
    case '\n': out->append("\\n"); return;
    case '\r': out->append("\\r"); return;
    case '\t': out->append("\\t"); return;
    case '\b': out->append("\\b"); return;
    case '\f': out->append("\\f"); return;
    default:
      out->append("\\u00");
      out->push_back(kHex[static_cast<uint8_t>(c) >> 4]);
      out->push_back(kHex[static_cast<uint8_t>(c) & 15]);
  }
}

template <class Integer>
void AppendInteger(Integer value, std::string* out) {
  std::array<char, 24> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  out->append(buffer.data(), end);
}

void AppendItems(std::span<const Value> items, std::string* out) {
  out->push_back('[');
  for (const Value& item : items) {
    if (&item != items.data()) out->push_back(',');
    AppendJson(item, out);
  }
  out->push_back(']');
}

void AppendMembers(std::span<const Member> members, std::string* out) {
  out->push_back('{');
  for (const Member& member : members) {
    if (&member != members.data()) out->push_back(',');
    AppendJsonString(member.name.text(), out);
    out->push_back(':');
    AppendJson(member.value, out);
  }
  out->push_back('}');
}

}  // namespace

void AppendJsonString(std::string_view text, std::string* out) {
  out->push_back('"');
  size_t clean = 0;  // where what is not yet appended begins
  for (size_t i = 0; i < text.size(); ++i) {
    if (!kNeedsEscape[static_cast<uint8_t>(text[i])]) continue;
    out->append(text, clean, i - clean);
    AppendEscape(text[i], out);
    clean = i + 1;
  }
  out->append(text, clean);
  out->push_back('"');
}

void AppendJson(const Value& value, std::string* out) {
  switch (value.kind()) {
    case Kind::kNull: out->append("null"); return;
    case Kind::kBool: out->append(value.as_bool() ? "true" : "false"); return;
    case Kind::kInt: AppendInteger(value.as_int(), out); return;
    case Kind::kUint: AppendInteger(value.as_uint(), out); return;
    case Kind::kDouble: AppendDouble(value.as_double(), out); return;
    case Kind::kNumberText: out->append(value.text()); return;
    case Kind::kString: AppendJsonString(value.text(), out); return;
    case Kind::kArray: AppendItems(value.items(), out); return;
    case Kind::kObject: AppendMembers(value.members(), out); return;
  }
}

std::string ToJson(const Value& value) {
  std::string text;
  AppendJson(value, &text);
  return text;
}

}  // namespace fjord::doc
