// Packed values: bytes whose order is the order of keys, in the tuple encoding of FoundationDB
// (its specification "tuple.md").
//
//   null     00
//   false    26, true 27
//   string   02, UTF-8 with 00 as 00 FF, 00
//   integer  14 ± the number of bytes, then the bytes, big-endian; of a negative one the one's
//            complement. Beyond 8 bytes: 1D and the length, or 0B and the length's complement.
//   double   21, eight bytes big-endian; sign bit flipped, of a negative one all bits
//   array, object   01, their compact JSON as a string has it, 00
//
// A double is packed as one even when its value is an integer: 1 and 1.0 are different keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "doc/value.h"

namespace fjord::doc {

// kInvalidArgument for a number that has no packed form: a decimal that no double holds.
absl::Status AppendPacked(const Value& value, std::string* packed);

// Which part of the hash range documents of this key belong to.
uint32_t PackedKeyHash(std::string_view packed);

}  // namespace fjord::doc
