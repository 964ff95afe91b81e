// The Avro schemas that we write into manifests and manifest lists, and the fields in them.
// Internal to the layer.
//
// The texts have the form in which the Java library writes them, because readers depend on details:
// record names (old Java versions map them to classes), bare primitives (BigQuery), null first in
// unions, an id on everything, and maps with int keys as arrays.
#pragma once

#include <string_view>

#include "iceberg/avro_record.h"

namespace fjord {

// Format version 2, record manifest_file.
extern const std::string_view kManifestListSchemaV2;
// Format version 2, record manifest_entry, unpartitioned.
extern const std::string_view kManifestSchemaV2;

namespace manifest_list_fields {
inline constexpr FieldSpec kManifestPath{500, "manifest_path"};
inline constexpr FieldSpec kManifestLength{501, "manifest_length"};
inline constexpr FieldSpec kPartitionSpecId{502, "partition_spec_id"};
inline constexpr FieldSpec kContent{517, "content"};
inline constexpr FieldSpec kSequenceNumber{515, "sequence_number"};
inline constexpr FieldSpec kMinSequenceNumber{516, "min_sequence_number"};
inline constexpr FieldSpec kAddedSnapshotId{503, "added_snapshot_id"};
inline constexpr FieldSpec kAddedFilesCount{504, "added_files_count"};
inline constexpr FieldSpec kExistingFilesCount{505, "existing_files_count"};
inline constexpr FieldSpec kDeletedFilesCount{506, "deleted_files_count"};
inline constexpr FieldSpec kAddedRowsCount{512, "added_rows_count"};
inline constexpr FieldSpec kExistingRowsCount{513, "existing_rows_count"};
inline constexpr FieldSpec kDeletedRowsCount{514, "deleted_rows_count"};
inline constexpr FieldSpec kPartitions{507, "partitions"};
inline constexpr FieldSpec kContainsNull{509, "contains_null"};
inline constexpr FieldSpec kContainsNan{518, "contains_nan"};
inline constexpr FieldSpec kLowerBound{510, "lower_bound"};
inline constexpr FieldSpec kUpperBound{511, "upper_bound"};
inline constexpr FieldSpec kKeyMetadata{519, "key_metadata"};
inline constexpr FieldSpec kFirstRowId{520, "first_row_id"};
}  // namespace manifest_list_fields

namespace manifest_fields {
inline constexpr FieldSpec kStatus{0, "status"};
inline constexpr FieldSpec kSnapshotId{1, "snapshot_id"};
inline constexpr FieldSpec kSequenceNumber{3, "sequence_number"};
inline constexpr FieldSpec kFileSequenceNumber{4, "file_sequence_number"};
inline constexpr FieldSpec kDataFile{2, "data_file"};

inline constexpr FieldSpec kContent{134, "content"};
inline constexpr FieldSpec kFilePath{100, "file_path"};
inline constexpr FieldSpec kFileFormat{101, "file_format"};
inline constexpr FieldSpec kPartition{102, "partition"};
inline constexpr FieldSpec kRecordCount{103, "record_count"};
inline constexpr FieldSpec kFileSizeInBytes{104, "file_size_in_bytes"};
inline constexpr FieldSpec kKeyMetadata{131, "key_metadata"};
inline constexpr FieldSpec kSplitOffsets{132, "split_offsets"};
inline constexpr FieldSpec kEqualityIds{135, "equality_ids"};
inline constexpr FieldSpec kSortOrderId{140, "sort_order_id"};
inline constexpr FieldSpec kFirstRowId{142, "first_row_id"};
inline constexpr FieldSpec kReferencedDataFile{143, "referenced_data_file"};
inline constexpr FieldSpec kContentOffset{144, "content_offset"};
inline constexpr FieldSpec kContentSizeInBytes{145, "content_size_in_bytes"};

// A map with int keys: an array of records with these two fields.
struct MapSpec {
  FieldSpec field;
  FieldSpec key;
  FieldSpec value;
};
inline constexpr MapSpec kColumnSizes{{108, "column_sizes"}, {117, "key"}, {118, "value"}};
inline constexpr MapSpec kValueCounts{{109, "value_counts"}, {119, "key"}, {120, "value"}};
inline constexpr MapSpec kNullValueCounts{{110, "null_value_counts"}, {121, "key"}, {122, "value"}};
inline constexpr MapSpec kNanValueCounts{{137, "nan_value_counts"}, {138, "key"}, {139, "value"}};
inline constexpr MapSpec kLowerBounds{{125, "lower_bounds"}, {126, "key"}, {127, "value"}};
inline constexpr MapSpec kUpperBounds{{128, "upper_bounds"}, {129, "key"}, {130, "value"}};
}  // namespace manifest_fields

}  // namespace fjord
