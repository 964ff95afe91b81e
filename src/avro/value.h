// Decoded Avro values as small trees.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "avro/schema.h"

namespace fjord {

struct AvroPair;

// A decoded value. Unions are resolved: `schema` is the branch that was taken, and is never a
// union. Refers to the reader's schema and must not outlive it.
struct AvroValue {
  using Items = std::vector<AvroValue>;  // array; record: one a field
  using Pairs = std::vector<AvroPair>;   // map

  const AvroSchema* schema = nullptr;
  // null: monostate; int, long: int64_t; bytes, string, fixed, and the symbol
  // of an enum: std::string.
  std::variant<std::monostate, bool, int64_t, float, double, std::string, Items, Pairs> value;

  bool is_null() const { return std::holds_alternative<std::monostate>(value); }
  const bool* boolean() const { return std::get_if<bool>(&value); }
  const int64_t* integer() const { return std::get_if<int64_t>(&value); }
  const std::string* bytes() const { return std::get_if<std::string>(&value); }
  const Items* items() const { return std::get_if<Items>(&value); }
  const Pairs* pairs() const { return std::get_if<Pairs>(&value); }

  // The field of a record with this Iceberg field id, or null when there is none.
  const AvroValue* FindField(int32_t field_id) const;
};

struct AvroPair {
  std::string key;
  AvroValue value;
};

}  // namespace fjord
