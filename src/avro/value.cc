#include "avro/value.h"

namespace fjord {

const AvroValue* AvroValue::FindField(int32_t field_id) const {
  if (schema == nullptr || schema->type != AvroType::kRecord) return nullptr;
  const Items* values = items();
  if (values == nullptr) return nullptr;
  for (size_t i = 0; i < values->size(); ++i) {
    if (schema->fields[i].field_id == field_id) return &(*values)[i];
  }
  return nullptr;
}

}  // namespace fjord
