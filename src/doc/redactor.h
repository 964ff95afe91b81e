// Documents without what their schema says must not be kept: the annotation `redact`.
//
//   block    the member or item goes away
//   sha256   "sha256:" and the hex digest of the salt and the value's bytes: a string's UTF-8, an
//            integer's 8 bytes little-endian (also of a double that is one, within ±2^53), another
//            double's bits little-endian, one byte for a boolean, nothing for null, the JSON text
//            of everything else. A string that already is such a digest stays.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "doc/arena.h"
#include "doc/place_map.h"
#include "doc/schema.h"
#include "doc/strategy.h"
#include "doc/validator.h"
#include "doc/value.h"

namespace fjord::doc {

// Confined to one thread; the schema outlives it.
class Redactor {
 public:
  Redactor(const Schema& schema, std::string salt)
      : validator_(schema, kRedactAnnotations), salt_(std::move(salt)) {}

  // The result shares with the document what stayed. kInvalidArgument when the document is not
  // valid, when two redactions claim one place, or when nothing of it may stay.
  absl::StatusOr<Value> Redact(const Value& document, Arena& arena);

 private:
  Value Rewrite(const Value& value, Arena& arena);
  Value RewriteItems(const Value& array, Arena& arena);
  Value RewriteMembers(const Value& object, Arena& arena);
  // The value that takes the place of this one; false when it goes away.
  bool Keep(const Value& value, Arena& arena, Value* kept);
  Value Digest(const Value& value, Arena& arena) const;

  Validator validator_;
  std::string salt_;
  PlaceMap<Redaction> redactions_;
};

}  // namespace fjord::doc
