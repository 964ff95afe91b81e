// Typed access to the fields of a decoded Avro record by Iceberg field id. Internal to the layer.
//
// Writers differ in names, order and in which optional fields exist at all; ids
// are what they agree on.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "avro/value.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {

// A field of a table in the specification.
struct FieldSpec {
  int32_t id;
  std::string_view name;  // for messages
};

// A view; the record must outlive it. A value of another type than asked for, or a required one
// that is missing, is kDataLoss.
class AvroRecord {
 public:
  static absl::StatusOr<AvroRecord> Of(const AvroValue& value, std::string_view what) {
    if (value.schema == nullptr || value.schema->type != AvroType::kRecord) {
      return absl::DataLossError(StrCat(what, " is no record"));
    }
    return AvroRecord(value);
  }

  // Null when the field is missing or null.
  const AvroValue* Find(FieldSpec field) const {
    const AvroValue* value = record_->FindField(field.id);
    return value == nullptr || value->is_null() ? nullptr : value;
  }

  absl::StatusOr<std::optional<int64_t>> OptionalLong(FieldSpec field) const {
    const AvroValue* value = Find(field);
    if (value == nullptr) return std::nullopt;
    if (value->integer() == nullptr) return Wrong(field, "no integer");
    return *value->integer();
  }
  absl::StatusOr<int64_t> Long(FieldSpec field) const {
    ASSIGN_OR_RETURN(const std::optional<int64_t> value, OptionalLong(field));
    if (!value) return Wrong(field, "missing");
    return *value;
  }
  absl::StatusOr<int64_t> LongOr(FieldSpec field, int64_t absent) const {
    ASSIGN_OR_RETURN(const std::optional<int64_t> value, OptionalLong(field));
    return value.value_or(absent);
  }

  absl::StatusOr<std::optional<int32_t>> OptionalInt(FieldSpec field) const {
    ASSIGN_OR_RETURN(const std::optional<int64_t> value, OptionalLong(field));
    if (!value) return std::nullopt;
    if (*value < std::numeric_limits<int32_t>::min() ||
        *value > std::numeric_limits<int32_t>::max()) {
      return Wrong(field, "not within 32 bits");
    }
    return static_cast<int32_t>(*value);
  }
  absl::StatusOr<int32_t> IntOr(FieldSpec field, int32_t absent) const {
    ASSIGN_OR_RETURN(const std::optional<int32_t> value, OptionalInt(field));
    return value.value_or(absent);
  }
  absl::StatusOr<int32_t> Int(FieldSpec field) const {
    ASSIGN_OR_RETURN(const std::optional<int32_t> value, OptionalInt(field));
    if (!value) return Wrong(field, "missing");
    return *value;
  }

  absl::StatusOr<std::optional<bool>> OptionalBool(FieldSpec field) const {
    const AvroValue* value = Find(field);
    if (value == nullptr) return std::nullopt;
    if (value->boolean() == nullptr) return Wrong(field, "no boolean");
    return *value->boolean();
  }

  // string, bytes or fixed.
  absl::StatusOr<std::optional<std::string>> OptionalBytes(FieldSpec field) const {
    const AvroValue* value = Find(field);
    if (value == nullptr) return std::nullopt;
    if (value->bytes() == nullptr) return Wrong(field, "neither text nor bytes");
    return *value->bytes();
  }
  absl::StatusOr<std::string> Bytes(FieldSpec field) const {
    ASSIGN_OR_RETURN(std::optional<std::string> value, OptionalBytes(field));
    if (!value) return Wrong(field, "missing");
    return *std::move(value);
  }

  // The items of an array; null when the field is missing or null.
  absl::StatusOr<const AvroValue::Items*> OptionalArray(FieldSpec field) const {
    const AvroValue* value = Find(field);
    if (value == nullptr) return nullptr;
    if (value->schema->type != AvroType::kArray) return Wrong(field, "no array");
    return value->items();
  }

  static absl::Status Wrong(FieldSpec field, std::string_view what) {
    return absl::DataLossError(StrCat("field ", field.id, " (", field.name, ") is ", what));
  }

 private:
  explicit AvroRecord(const AvroValue& record) : record_(&record) {}

  const AvroValue* record_;
};

}  // namespace fjord
