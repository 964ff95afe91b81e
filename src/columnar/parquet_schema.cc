#include "columnar/parquet_schema.h"

#include <parquet/api/schema.h>

#include "base/strings.h"

namespace fjord {
namespace {

using parquet::LogicalType;
using parquet::Type;
using parquet::schema::NodePtr;
using parquet::schema::PrimitiveNode;

struct Form {
  std::shared_ptr<const LogicalType> logical;
  Type::type physical;
  int length = -1;
};

Form FormOf(const ColumnType& type) {
  switch (type.kind) {
    case TypeKind::kBoolean: return {LogicalType::None(), Type::BOOLEAN};
    case TypeKind::kInt: return {LogicalType::None(), Type::INT32};
    case TypeKind::kLong: return {LogicalType::None(), Type::INT64};
    case TypeKind::kFloat: return {LogicalType::None(), Type::FLOAT};
    case TypeKind::kDouble: return {LogicalType::None(), Type::DOUBLE};
    case TypeKind::kDate: return {LogicalType::Date(), Type::INT32};
    case TypeKind::kTime:
      return {LogicalType::Time(false, LogicalType::TimeUnit::MICROS), Type::INT64};
    case TypeKind::kTimestamp:
      return {LogicalType::Timestamp(false, LogicalType::TimeUnit::MICROS), Type::INT64};
    case TypeKind::kTimestampTz:
      return {LogicalType::Timestamp(true, LogicalType::TimeUnit::MICROS), Type::INT64};
    case TypeKind::kString: return {LogicalType::String(), Type::BYTE_ARRAY};
    case TypeKind::kBinary: return {LogicalType::None(), Type::BYTE_ARRAY};
    case TypeKind::kUuid: return {LogicalType::UUID(), Type::FIXED_LEN_BYTE_ARRAY, 16};
    case TypeKind::kDecimal: {
      const auto logical = LogicalType::Decimal(type.precision, type.scale);
      if (type.precision <= kInt32DecimalDigitsMax) return {logical, Type::INT32};
      if (type.precision <= kInt64DecimalDigitsMax) return {logical, Type::INT64};
      return {logical, Type::FIXED_LEN_BYTE_ARRAY, DecimalBytes(type.precision)};
    }
  }
  return {LogicalType::None(), Type::BYTE_ARRAY};
}

bool IsPlain(const LogicalType& logical) { return logical.is_none() || logical.is_invalid(); }

bool IsSignedInt(const LogicalType& logical) {
  return IsPlain(logical) ||
         (logical.is_int() && static_cast<const parquet::IntLogicalType&>(logical).is_signed());
}

bool IsDecimalFor(const LogicalType& logical, Type::type physical, int length,
                  const ColumnType& type) {
  if (!logical.is_decimal() || (physical == Type::FIXED_LEN_BYTE_ARRAY && length > 16))
    return false;
  const auto& decimal = static_cast<const parquet::DecimalLogicalType&>(logical);
  return decimal.scale() == type.scale && decimal.precision() <= type.precision;
}

bool Fits(const LogicalType& logical, Type::type physical, int length, const ColumnType& type) {
  switch (type.kind) {
    case TypeKind::kBoolean: return physical == Type::BOOLEAN;
    case TypeKind::kInt: return physical == Type::INT32 && IsSignedInt(logical);
    case TypeKind::kLong:
      return (physical == Type::INT32 || physical == Type::INT64) && IsSignedInt(logical);
    case TypeKind::kFloat: return physical == Type::FLOAT;
    case TypeKind::kDouble: return physical == Type::FLOAT || physical == Type::DOUBLE;
    case TypeKind::kDate: return logical.is_date();
    case TypeKind::kTime: return logical.is_time();
    // A file of before a date column became a timestamp; INT96 is Spark's and Hive's old form, of
    // no stated zone.
    case TypeKind::kTimestamp:
      return logical.is_timestamp() || logical.is_date() || physical == Type::INT96;
    case TypeKind::kTimestampTz: return logical.is_timestamp() || physical == Type::INT96;
    case TypeKind::kString:
      return physical == Type::BYTE_ARRAY &&
             (IsPlain(logical) || logical.is_string() || logical.is_enum() || logical.is_JSON());
    case TypeKind::kBinary:
      return physical == Type::BYTE_ARRAY ||
             (physical == Type::FIXED_LEN_BYTE_ARRAY && IsPlain(logical));
    case TypeKind::kUuid:
      return physical == Type::FIXED_LEN_BYTE_ARRAY && length == 16 &&
             (IsPlain(logical) || logical.is_UUID());
    case TypeKind::kDecimal: return IsDecimalFor(logical, physical, length, type);
  }
  return false;
}

}  // namespace

absl::Status CheckFits(const parquet::ColumnDescriptor& column, const FileField& field) {
  const LogicalType& logical = *column.logical_type();
  if (Fits(logical, column.physical_type(), column.type_length(), field.type))
    return absl::OkStatus();
  return absl::FailedPreconditionError(
      StrCat("column ", field.name, " is ", parquet::TypeToString(column.physical_type()),
             IsPlain(logical) ? std::string() : StrCat(" ", logical.ToString()),
             " in a data file, which cannot be read as ", TypeName(field.type)));
}

absl::int128 PowerOfTen(int n) {
  absl::int128 power = 1;
  for (int i = 0; i < n; ++i) power *= 10;
  return power;
}

int DecimalBytes(int precision) {
  // The least n with 2^(8n-1) > 10^precision - 1.
  const auto limit = static_cast<absl::uint128>(PowerOfTen(precision));
  int bytes = 1;
  while (bytes < 16 && (absl::uint128{1} << (8 * bytes - 1)) < limit) ++bytes;
  return bytes;
}

std::shared_ptr<parquet::schema::GroupNode> MakeParquetSchema(
    const std::vector<FileField>& fields) {
  parquet::schema::NodeVector nodes;
  for (const FileField& field : fields) {
    const Form form = FormOf(field.type);
    nodes.push_back(PrimitiveNode::Make(
        field.name, field.required ? parquet::Repetition::REQUIRED : parquet::Repetition::OPTIONAL,
        form.logical, form.physical, form.length, field.id.value));
  }
  return std::static_pointer_cast<parquet::schema::GroupNode>(
      parquet::schema::GroupNode::Make("table", parquet::Repetition::REQUIRED, nodes));
}

}  // namespace fjord
