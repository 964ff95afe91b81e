// The key of a collection: where its parts are in a document, and their packed form.
#pragma once

#include <compare>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "doc/pointer.h"
#include "doc/value.h"

namespace fjord::doc {

// Immutable but for SetDefault, which belongs before the first use.
class Key {
 public:
  static absl::StatusOr<Key> Create(std::span<const std::string> pointers);

  size_t size() const { return parts_.size(); }
  const Pointer& pointer(size_t part) const { return parts_[part].pointer; }

  // The value of a part whose location is not there, from the schema's `default`; null otherwise.
  // Borrows it.
  void SetDefault(size_t part, const Value& value) { parts_[part].absent = value; }

  const Value& Extract(size_t part, const Value& document) const {
    const Value* const found = parts_[part].pointer.Find(document);
    return found == nullptr ? parts_[part].absent : *found;
  }

  // All parts, one after another; see doc/packed.h. kInvalidArgument names the part.
  absl::Status AppendPacked(const Value& document, std::string* packed) const;

  // Part by part in the total order of values.
  std::strong_ordering Compare(const Value& a, const Value& b) const;

 private:
  struct Part {
    Pointer pointer;
    Value absent;
  };

  std::vector<Part> parts_;
};

}  // namespace fjord::doc
