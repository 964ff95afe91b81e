// Iceberg's types as Parquet's schema nodes (Iceberg specification, "Parquet"). For this layer's files only.
#pragma once

#include <memory>
#include <vector>

#include "columnar/field.h"

namespace parquet::schema {
class GroupNode;
}

namespace fjord {

std::shared_ptr<parquet::schema::GroupNode> MakeParquetSchema(const std::vector<FileField>& fields);
// Bytes that hold every decimal of a precision: the length of Parquet's fixed-length form.
int DecimalBytes(int precision);

}  // namespace fjord
