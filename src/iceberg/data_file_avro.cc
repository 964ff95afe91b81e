#include "iceberg/data_file_avro.h"

#include <limits>

#include "avro/encoder.h"
#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "iceberg/avro_record.h"
#include "iceberg/bounds.h"
#include "iceberg/manifest_schemas.h"

namespace fjord {
namespace {

namespace fields = manifest_fields;

void PutMap(std::string& out, const std::map<int32_t, int64_t>& map) {
  PutAvroBranch(out, !map.empty());
  if (map.empty()) return;
  PutAvroBlock(out, map.size());
  for (const auto& [key, value] : map) {
    PutAvroLong(out, key);
    PutAvroLong(out, value);
  }
  PutAvroEnd(out);
}

void PutMap(std::string& out, const std::map<int32_t, std::string>& map) {
  PutAvroBranch(out, !map.empty());
  if (map.empty()) return;
  PutAvroBlock(out, map.size());
  for (const auto& [key, value] : map) {
    PutAvroLong(out, key);
    PutAvroBytes(out, value);
  }
  PutAvroEnd(out);
}

template <class Int>
void PutArray(std::string& out, const std::vector<Int>& array) {
  PutAvroBranch(out, !array.empty());
  if (array.empty()) return;
  PutAvroBlock(out, array.size());
  for (const Int item : array) PutAvroLong(out, item);
  PutAvroEnd(out);
}

void PutOptionalBytes(std::string& out, const std::optional<std::string>& value) {
  PutAvroBranch(out, value.has_value());
  if (value) PutAvroBytes(out, *value);
}

// Calls put(key, record) for each pair of a map.
template <class Put>
absl::Status ForEachPair(const AvroRecord& record, const fields::MapSpec& spec, Put put) {
  ASSIGN_OR_RETURN(const AvroValue::Items* items, record.OptionalArray(spec.field));
  if (items == nullptr) return absl::OkStatus();
  for (const AvroValue& item : *items) {
    ASSIGN_OR_RETURN(const AvroRecord pair, AvroRecord::Of(item, spec.field.name));
    ASSIGN_OR_RETURN(const int32_t key, pair.Int(spec.key));
    RETURN_IF_ERROR(put(key, pair));
  }
  return absl::OkStatus();
}

absl::Status ReadMap(const AvroRecord& record, const fields::MapSpec& spec,
                     std::map<int32_t, int64_t>& map) {
  return ForEachPair(record, spec, [&](int32_t key, const AvroRecord& pair) -> absl::Status {
    ASSIGN_OR_RETURN(map[key], pair.Long(spec.value));
    return absl::OkStatus();
  });
}

absl::Status ReadMap(const AvroRecord& record, const fields::MapSpec& spec,
                     std::map<int32_t, std::string>& map) {
  return ForEachPair(record, spec, [&](int32_t key, const AvroRecord& pair) -> absl::Status {
    ASSIGN_OR_RETURN(map[key], pair.Bytes(spec.value));
    return absl::OkStatus();
  });
}

template <class Int>
absl::Status ReadArray(const AvroRecord& record, FieldSpec field, std::vector<Int>& array) {
  ASSIGN_OR_RETURN(const AvroValue::Items* items, record.OptionalArray(field));
  if (items == nullptr) return absl::OkStatus();
  for (const AvroValue& item : *items) {
    const int64_t* v = item.integer();
    if (v == nullptr || *v < std::numeric_limits<Int>::min() ||
        *v > std::numeric_limits<Int>::max()) {
      return AvroRecord::Wrong(field, "not an array of integers that fit");
    }
    array.push_back(static_cast<Int>(*v));
  }
  return absl::OkStatus();
}

// A partition value as the single-value bytes of its type, which the Avro type tells.
absl::StatusOr<std::optional<std::string>> PartitionBytes(const AvroValue& value) {
  std::string out;
  switch (value.schema->type) {
    case AvroType::kNull: return std::nullopt;
    case AvroType::kBoolean: return std::string(1, *value.boolean() ? '\1' : '\0');
    case AvroType::kInt: PutFixed32(out, static_cast<uint32_t>(*value.integer())); return out;
    case AvroType::kLong: PutFixed64(out, static_cast<uint64_t>(*value.integer())); return out;
    case AvroType::kFloat: PutAvroFloat(out, std::get<float>(value.value)); return out;
    case AvroType::kDouble: PutAvroDouble(out, std::get<double>(value.value)); return out;
    case AvroType::kBytes:
    case AvroType::kFixed:
    case AvroType::kString: {
      if (value.schema->logical_type != "decimal") return *value.bytes();
      ASSIGN_OR_RETURN(const absl::int128 unscaled, DecodeDecimalBytes(*value.bytes()));
      return EncodeDecimalBytes(unscaled);
    }
    case AvroType::kEnum:
    case AvroType::kArray:
    case AvroType::kMap:
    case AvroType::kRecord:
    case AvroType::kUnion: break;
  }
  return AvroRecord::Wrong(fields::kPartition, "not made of primitive values");
}

absl::Status ReadPartition(const AvroRecord& record, DataFile& file) {
  const AvroValue* partition = record.Find(fields::kPartition);
  if (partition == nullptr) return absl::OkStatus();  // unpartitioned tables of some writers
  if (partition->schema->type != AvroType::kRecord) {
    return AvroRecord::Wrong(fields::kPartition, "no record");
  }
  for (const AvroValue& value : *partition->items()) {
    ASSIGN_OR_RETURN(std::optional<std::string> bytes, PartitionBytes(value));
    file.partition.push_back(std::move(bytes));
  }
  return absl::OkStatus();
}

absl::Status ReadMetrics(const AvroRecord& record, DataFile& file) {
  RETURN_IF_ERROR(ReadMap(record, fields::kColumnSizes, file.column_sizes));
  RETURN_IF_ERROR(ReadMap(record, fields::kValueCounts, file.value_counts));
  RETURN_IF_ERROR(ReadMap(record, fields::kNullValueCounts, file.null_value_counts));
  RETURN_IF_ERROR(ReadMap(record, fields::kNanValueCounts, file.nan_value_counts));
  RETURN_IF_ERROR(ReadMap(record, fields::kLowerBounds, file.lower_bounds));
  return ReadMap(record, fields::kUpperBounds, file.upper_bounds);
}

}  // namespace

void PutDataFile(std::string& out, const DataFile& file) {
  PutAvroLong(out, static_cast<int32_t>(file.content));
  PutAvroBytes(out, file.file_path);
  PutAvroBytes(out, file.file_format);
  // The partition of an unpartitioned table is a record without fields: no bytes.
  PutAvroLong(out, file.record_count);
  PutAvroLong(out, file.file_size_in_bytes);
  PutMap(out, file.column_sizes);
  PutMap(out, file.value_counts);
  PutMap(out, file.null_value_counts);
  PutMap(out, file.nan_value_counts);
  PutMap(out, file.lower_bounds);
  PutMap(out, file.upper_bounds);
  PutOptionalBytes(out, file.key_metadata);
  PutArray(out, file.split_offsets);
  PutArray(out, file.equality_ids);
  PutAvroBranch(out, file.sort_order_id.has_value());
  if (file.sort_order_id) PutAvroLong(out, *file.sort_order_id);
  PutOptionalBytes(out, file.referenced_data_file);
}

absl::StatusOr<DataFile> DecodeDataFile(const AvroValue& value) {
  ASSIGN_OR_RETURN(const AvroRecord record, AvroRecord::Of(value, "data_file"));
  DataFile file;
  ASSIGN_OR_RETURN(const int32_t content, record.IntOr(fields::kContent, 0));
  if (content < 0 || content > 2) return AvroRecord::Wrong(fields::kContent, StrCat(content));
  file.content = static_cast<FileContent>(content);
  ASSIGN_OR_RETURN(file.file_path, record.Bytes(fields::kFilePath));
  ASSIGN_OR_RETURN(file.file_format, record.Bytes(fields::kFileFormat));
  RETURN_IF_ERROR(ReadPartition(record, file));
  ASSIGN_OR_RETURN(file.record_count, record.Long(fields::kRecordCount));
  if (file.record_count < 0) return AvroRecord::Wrong(fields::kRecordCount, "negative");
  ASSIGN_OR_RETURN(file.file_size_in_bytes, record.Long(fields::kFileSizeInBytes));
  if (file.file_size_in_bytes < 0) return AvroRecord::Wrong(fields::kFileSizeInBytes, "negative");
  RETURN_IF_ERROR(ReadMetrics(record, file));
  ASSIGN_OR_RETURN(file.key_metadata, record.OptionalBytes(fields::kKeyMetadata));
  RETURN_IF_ERROR(ReadArray(record, fields::kSplitOffsets, file.split_offsets));
  RETURN_IF_ERROR(ReadArray(record, fields::kEqualityIds, file.equality_ids));
  ASSIGN_OR_RETURN(file.sort_order_id, record.OptionalInt(fields::kSortOrderId));
  ASSIGN_OR_RETURN(file.first_row_id, record.OptionalLong(fields::kFirstRowId));
  ASSIGN_OR_RETURN(file.referenced_data_file, record.OptionalBytes(fields::kReferencedDataFile));
  ASSIGN_OR_RETURN(file.content_offset, record.OptionalLong(fields::kContentOffset));
  ASSIGN_OR_RETURN(file.content_size_in_bytes, record.OptionalLong(fields::kContentSizeInBytes));
  return file;
}

}  // namespace fjord
