// The types of JSON Schema, as bits.
#pragma once

#include <cstdint>
#include <string_view>

#include "doc/value.h"

namespace fjord::doc {

using TypeMask = uint8_t;
enum SchemaType : TypeMask {
  kNullType = 1,
  kBooleanType = 2,
  kIntegerType = 4,
  kNumberType = 8,  // with a fraction
  kStringType = 16,
  kArrayType = 32,
  kObjectType = 64,
  kAnyType = 127,
};

// Of a number that is no 64-bit integer.
TypeMask TypeOfDecimal(const Value& number);

// One bit.
inline TypeMask TypeOf(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull: return kNullType;
    case Kind::kBool: return kBooleanType;
    case Kind::kInt:
    case Kind::kUint: return kIntegerType;
    case Kind::kDouble:
    case Kind::kNumberText: return TypeOfDecimal(value);
    case Kind::kString: return kStringType;
    case Kind::kArray: return kArrayType;
    case Kind::kObject: return kObjectType;
  }
  return 0;
}

// The bits of a name, "number" being both kinds of numbers; 0 when there is no such type.
TypeMask TypeOfName(std::string_view name);

}  // namespace fjord::doc
