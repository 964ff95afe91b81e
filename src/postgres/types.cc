#include "postgres/types.h"

#include <algorithm>

namespace fjord {
namespace {

// Oids of built-in types (pg_type.dat of PostgreSQL; fixed for ever).
namespace oid {
constexpr uint32_t kBool = 16, kBytea = 17, kChar = 18, kInt8 = 20, kInt2 = 21, kInt4 = 23,
                   kJson = 114, kFloat4 = 700, kFloat8 = 701, kDate = 1082, kTime = 1083,
                   kTimestamp = 1114, kTimestampTz = 1184, kNumeric = 1700, kUuid = 2950,
                   kJsonb = 3802;
}  // namespace oid

constexpr int kDecimalPrecisionMax = 38;

struct Mapped {
  ColumnType lake;
  DecodeKind decode;
};

Mapped MapNumeric(int32_t typmod) {
  const Mapped text{{TypeKind::kString}, DecodeKind::kText};
  const auto modifier = NumericModifierOf(typmod);
  if (!modifier) return text;
  // numeric(p, -k) has k zeros before the point; numeric(p, s > p) has zeros behind it.
  const int scale = std::max(modifier->scale, 0);
  const int precision = modifier->scale < 0 ? modifier->precision - modifier->scale
                                            : std::max(modifier->precision, modifier->scale);
  if (precision > kDecimalPrecisionMax) return text;
  return {{TypeKind::kDecimal, precision, scale}, DecodeKind::kDecimal};
}

Mapped MapType(const ColumnInfo& column) {
  if (column.is_array) return {{TypeKind::kString}, DecodeKind::kArray};
  switch (column.base_type.value) {
    case oid::kBool: return {{TypeKind::kBoolean}, DecodeKind::kBoolean};
    case oid::kInt2:
    case oid::kInt4: return {{TypeKind::kInt}, DecodeKind::kInt32};
    case oid::kInt8: return {{TypeKind::kLong}, DecodeKind::kInt64};
    case oid::kFloat4: return {{TypeKind::kFloat}, DecodeKind::kFloat};
    case oid::kFloat8: return {{TypeKind::kDouble}, DecodeKind::kDouble};
    case oid::kNumeric: return MapNumeric(column.base_typmod);
    case oid::kBytea: return {{TypeKind::kBinary}, DecodeKind::kBytea};
    case oid::kDate: return {{TypeKind::kDate}, DecodeKind::kDate};
    case oid::kTime: return {{TypeKind::kTime}, DecodeKind::kTime};
    case oid::kTimestamp: return {{TypeKind::kTimestamp}, DecodeKind::kTimestamp};
    case oid::kTimestampTz: return {{TypeKind::kTimestampTz}, DecodeKind::kTimestampTz};
    case oid::kUuid: return {{TypeKind::kUuid}, DecodeKind::kUuid};
    // One byte, which may be any: not UTF-8 by itself.
    case oid::kChar: return {{TypeKind::kString}, DecodeKind::kCheckedText};
    default: return {{TypeKind::kString}, DecodeKind::kText};
  }
}

ArrayElement ElementOf(Oid element) {
  switch (element.value) {
    case oid::kInt2:
    case oid::kInt4:
    case oid::kInt8:
    case oid::kFloat4:
    case oid::kFloat8:
    case oid::kNumeric: return ArrayElement::kNumber;
    case oid::kBool: return ArrayElement::kBoolean;
    case oid::kJson:
    case oid::kJsonb: return ArrayElement::kJson;
    default: return ArrayElement::kString;
  }
}

bool HasUnrepresentableValues(DecodeKind decode) {
  switch (decode) {
    case DecodeKind::kDecimal:
    case DecodeKind::kDate:
    case DecodeKind::kTime:
    case DecodeKind::kTimestamp:
    case DecodeKind::kTimestampTz: return true;
    case DecodeKind::kBoolean:
    case DecodeKind::kInt32:
    case DecodeKind::kInt64:
    case DecodeKind::kFloat:
    case DecodeKind::kDouble:
    case DecodeKind::kText:
    case DecodeKind::kCheckedText:
    case DecodeKind::kBytea:
    case DecodeKind::kUuid:
    case DecodeKind::kArray: return false;
  }
  return false;
}

PgColumn MapColumn(const ColumnInfo& info, bool is_key, const TypeOptions& options) {
  Mapped mapped = MapType(info);
  if (options.unrepresentable == UnrepresentablePolicy::kText && !is_key &&
      HasUnrepresentableValues(mapped.decode)) {
    mapped = {{TypeKind::kString}, DecodeKind::kText};
  }
  const bool unchecked = options.database_encoding == "SQL_ASCII";
  if (mapped.decode == DecodeKind::kText && unchecked) mapped.decode = DecodeKind::kCheckedText;
  return PgColumn{.attnum = info.attnum,
                  .name = info.name,
                  .type = info.type,
                  .typmod = info.typmod,
                  .type_name = info.type_name,
                  .lake = mapped.lake,
                  .decode = mapped.decode,
                  .element = ElementOf(info.element_base_type),
                  .element_delimiter = info.element_delimiter,
                  .check_utf8 = unchecked || info.element_base_type.value == oid::kChar,
                  .required = info.not_null,
                  .is_key = is_key};
}

bool Contains(const std::vector<int16_t>& attnums, int16_t attnum) {
  return std::find(attnums.begin(), attnums.end(), attnum) != attnums.end();
}

}  // namespace

std::optional<NumericModifier> NumericModifierOf(int32_t typmod) {
  constexpr int32_t kHeader = 4;
  if (typmod < kHeader) return std::nullopt;
  const int32_t packed = typmod - kHeader;
  // The scale is a signed number of 11 bits (before PostgreSQL 15: never negative
  // and never above 1000).
  return NumericModifier{.precision = (packed >> 16) & 0xffff,
                         .scale = ((packed & 0x7ff) ^ 1024) - 1024};
}

ColumnMapping MapColumns(const TableInfo& table, const std::vector<int16_t>& key_attnums,
                         const std::vector<int16_t>& published_attnums,
                         const TypeOptions& options) {
  ColumnMapping mapping;
  for (const ColumnInfo& info : table.columns) {
    if (!published_attnums.empty() && !Contains(published_attnums, info.attnum)) continue;
    if (info.generated != 0) {
      mapping.left_out.push_back(info.name);
      continue;
    }
    mapping.columns.push_back(MapColumn(info, Contains(key_attnums, info.attnum), options));
  }
  for (const int16_t attnum : key_attnums) {
    for (size_t i = 0; i < mapping.columns.size(); ++i) {
      if (mapping.columns[i].attnum == attnum) mapping.key.push_back(static_cast<int>(i));
    }
  }
  return mapping;
}

}  // namespace fjord
