#include "doc/key.h"

#include "base/status.h"
#include "base/strings.h"
#include "doc/compare.h"
#include "doc/packed.h"

namespace fjord::doc {

absl::StatusOr<Key> Key::Create(std::span<const std::string> pointers) {
  if (pointers.empty()) return absl::InvalidArgumentError("a key needs at least one pointer");
  Key key;
  for (const std::string& text : pointers) {
    ASSIGN_OR_RETURN(Pointer pointer, Pointer::Parse(text));
    key.parts_.push_back({std::move(pointer), Value()});
  }
  return key;
}

absl::Status Key::AppendPacked(const Value& document, std::string* packed) const {
  for (size_t part = 0; part < parts_.size(); ++part) {
    const absl::Status status = doc::AppendPacked(Extract(part, document), packed);
    if (!status.ok()) return Annotate(status, StrCat("key ", parts_[part].pointer.text()));
  }
  return absl::OkStatus();
}

std::strong_ordering Key::Compare(const Value& a, const Value& b) const {
  for (size_t part = 0; part < parts_.size(); ++part) {
    const auto order = doc::Compare(Extract(part, a), Extract(part, b));
    if (order != 0) return order;
  }
  return std::strong_ordering::equal;
}

}  // namespace fjord::doc
