#include "columnar/parquet_schema.h"

#include <parquet/api/schema.h>

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
    case TypeKind::kTime: return {LogicalType::Time(false, LogicalType::TimeUnit::MICROS), Type::INT64};
    case TypeKind::kTimestamp: return {LogicalType::Timestamp(false, LogicalType::TimeUnit::MICROS), Type::INT64};
    case TypeKind::kTimestampTz: return {LogicalType::Timestamp(true, LogicalType::TimeUnit::MICROS), Type::INT64};
    case TypeKind::kString: return {LogicalType::String(), Type::BYTE_ARRAY};
    case TypeKind::kBinary: return {LogicalType::None(), Type::BYTE_ARRAY};
    case TypeKind::kUuid: return {LogicalType::UUID(), Type::FIXED_LEN_BYTE_ARRAY, 16};
    case TypeKind::kDecimal: {
      const auto logical = LogicalType::Decimal(type.precision, type.scale);
      if (type.precision <= 9) return {logical, Type::INT32};
      if (type.precision <= 18) return {logical, Type::INT64};
      return {logical, Type::FIXED_LEN_BYTE_ARRAY, DecimalBytes(type.precision)};
    }
  }
  return {LogicalType::None(), Type::BYTE_ARRAY};
}

}  // namespace

int DecimalBytes(int precision) {
  // The least n with 2^(8n-1) > 10^precision - 1.
  absl::uint128 limit = 1;
  for (int i = 0; i < precision; ++i) limit *= 10;
  int bytes = 1;
  while (bytes < 16 && (absl::uint128{1} << (8 * bytes - 1)) < limit) ++bytes;
  return bytes;
}

std::shared_ptr<parquet::schema::GroupNode> MakeParquetSchema(const std::vector<FileField>& fields) {
  parquet::schema::NodeVector nodes;
  for (const FileField& field : fields) {
    const Form form = FormOf(field.type);
    nodes.push_back(PrimitiveNode::Make(field.name,
                                        field.required ? parquet::Repetition::REQUIRED : parquet::Repetition::OPTIONAL,
                                        form.logical, form.physical, form.length, field.id.value));
  }
  return std::static_pointer_cast<parquet::schema::GroupNode>(
      parquet::schema::GroupNode::Make("table", parquet::Repetition::REQUIRED, nodes));
}

}  // namespace fjord
