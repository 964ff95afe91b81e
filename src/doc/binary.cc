#include "doc/binary.h"

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/coding.h"

namespace fjord::doc {
namespace {

// Behind the kinds of values.
constexpr uint8_t kTrueCode = 0x20;
constexpr size_t kItemBytesMin = 1;
constexpr size_t kMemberBytesMin = 2;

uint64_t ZigZag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
int64_t UnZigZag(uint64_t value) { return static_cast<int64_t>(value >> 1 ^ (0 - (value & 1))); }

void AppendText(std::string_view text, std::string* out) {
  PutVarint64(*out, text.size());
  out->append(text);
}

// Reads as long as nothing is wrong; afterwards everything is empty.
class BinaryReader {
 public:
  BinaryReader(std::string_view bytes, Arena& arena)
      : next_(bytes.data()), end_(bytes.data() + bytes.size()), arena_(arena) {}

  bool AtEnd() const { return next_ == end_; }
  bool failed() const { return failed_; }

  Value Read() {
    const uint8_t code = Byte();
    if (code == kTrueCode) return Value::Bool(true);
    switch (static_cast<Kind>(code)) {
      case Kind::kNull: return Value();
      case Kind::kBool: return Value::Bool(false);
      case Kind::kInt: return Value::Int(UnZigZag(Varint()));
      case Kind::kUint: return Value::Uint(Fixed());
      case Kind::kDouble: return Value::Double(std::bit_cast<double>(Fixed()));
      case Kind::kNumberText: return Value::NumberText(Text());
      case Kind::kString: return Value::String(Text());
      case Kind::kArray: return Array();
      case Kind::kObject: return Object();
    }
    return Fail();
  }

 private:
  size_t left() const { return static_cast<size_t>(end_ - next_); }
  Value Fail() {
    failed_ = true;
    next_ = end_;
    return Value();
  }

  uint8_t Byte() {
    if (next_ == end_) {
      failed_ = true;
      return 0;
    }
    return static_cast<uint8_t>(*next_++);
  }

  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = Byte();
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    Fail();
    return 0;
  }

  uint64_t Fixed() {
    if (left() < 8) return Fail(), 0;
    const uint64_t value = GetFixed64(next_);
    next_ += 8;
    return value;
  }

  std::string_view Text() {
    const uint64_t size = Varint();
    if (size > left()) return Fail(), std::string_view();
    const std::string_view text(next_, size);
    next_ += size;
    return text;
  }

  // A count of things that take at least `bytes_min` each.
  size_t Count(size_t bytes_min) {
    const uint64_t count = Varint();
    if (count > left() / bytes_min) return Fail(), 0;
    return count;
  }

  Value Array() {
    const size_t count = Count(kItemBytesMin);
    Value* const items = arena_.AllocateArray<Value>(count);
    for (size_t i = 0; i < count; ++i) items[i] = Read();
    return Value::Array({items, count});
  }

  Value Object() {
    const size_t count = Count(kMemberBytesMin);
    Member* const members = arena_.AllocateArray<Member>(count);
    for (size_t i = 0; i < count; ++i) {
      members[i].name = Name(Text());
      members[i].value = Read();
    }
    return Value::Object({members, count});
  }

  const char* next_;
  const char* end_;
  Arena& arena_;
  bool failed_ = false;
};

}  // namespace

void AppendBinary(const Value& value, std::string* out) {
  const bool is_true = value.is_bool() && value.as_bool();
  out->push_back(static_cast<char>(is_true ? kTrueCode : static_cast<uint8_t>(value.kind())));
  switch (value.kind()) {
    case Kind::kNull:
    case Kind::kBool: return;
    case Kind::kInt: PutVarint64(*out, ZigZag(value.as_int())); return;
    case Kind::kUint: PutFixed64(*out, value.as_uint()); return;
    case Kind::kDouble: PutFixed64(*out, std::bit_cast<uint64_t>(value.as_double())); return;
    case Kind::kNumberText:
    case Kind::kString: AppendText(value.text(), out); return;
    case Kind::kArray:
      PutVarint64(*out, value.size());
      for (const Value& item : value.items()) AppendBinary(item, out);
      return;
    case Kind::kObject:
      PutVarint64(*out, value.size());
      for (const Member& member : value.members()) {
        AppendText(member.name.text(), out);
        AppendBinary(member.value, out);
      }
      return;
  }
}

std::optional<Value> ReadBinary(std::string_view bytes, Arena& arena) {
  BinaryReader reader(bytes, arena);
  const Value value = reader.Read();
  if (reader.failed() || !reader.AtEnd()) return std::nullopt;
  return value;
}

}  // namespace fjord::doc
