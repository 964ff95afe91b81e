#include "doc/schema_type.h"

#include "doc/number.h"

namespace fjord::doc {

TypeMask TypeOfDecimal(const Value& number) {
  return HasIntegralValue(number) ? kIntegerType : kNumberType;
}

TypeMask TypeOfName(std::string_view name) {
  if (name == "null") return kNullType;
  if (name == "boolean") return kBooleanType;
  if (name == "integer") return kIntegerType;
  if (name == "number") return kIntegerType | kNumberType;
  if (name == "string") return kStringType;
  if (name == "array") return kArrayType;
  if (name == "object") return kObjectType;
  return 0;
}

}  // namespace fjord::doc
