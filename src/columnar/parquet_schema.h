// Iceberg's types as Parquet's schema nodes (Iceberg specification, "Parquet"). For
// this layer's files only.
#pragma once

#include <memory>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "columnar/field.h"

namespace parquet {
class ColumnDescriptor;
namespace schema {
class GroupNode;
}
}  // namespace parquet

namespace fjord {

// Decimals of up to this many digits are Parquet's INT32 or INT64, longer ones fixed-length bytes.
inline constexpr int kInt32DecimalDigitsMax = 9;
inline constexpr int kInt64DecimalDigitsMax = 18;

// What we write.
std::shared_ptr<parquet::schema::GroupNode> MakeParquetSchema(const std::vector<FileField>& fields);

// Whether the values of a file's column, of any writer and perhaps written before the column's type
// was widened, can be read as the field's type. kFailedPrecondition says what does not fit.
absl::Status CheckFits(const parquet::ColumnDescriptor& column, const FileField& field);

// Bytes that hold every decimal of a precision: the length of Parquet's fixed-length form.
int DecimalBytes(int precision);
// 10^n, n ≤ 38.
absl::int128 PowerOfTen(int n);

}  // namespace fjord
