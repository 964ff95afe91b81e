// A data or delete file as a manifest describes it (Iceberg specification, "Manifests", field ids
// 100 … 145).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fjord {

// Field 134. Deletion vectors are position deletes.
enum class FileContent : int32_t { kData = 0, kPositionDeletes = 1, kEqualityDeletes = 2 };

struct DataFile {
  FileContent content = FileContent::kData;
  std::string file_path;                // absolute URI; the same bytes wherever it is repeated
  std::string file_format = "PARQUET";  // upper case, as the Java library writes it
  // One value a field of the partition spec, in its order, as single-value bytes
  // (iceberg/bounds.h). Empty: unpartitioned.
  std::vector<std::optional<std::string>> partition;
  int64_t record_count = 0;
  int64_t file_size_in_bytes = 0;

  // By field id of the column. Empty is written as null.
  std::map<int32_t, int64_t> column_sizes;
  std::map<int32_t, int64_t> value_counts;  // nulls and NaNs included
  std::map<int32_t, int64_t> null_value_counts;
  std::map<int32_t, int64_t> nan_value_counts;  // float and double columns only
  std::map<int32_t, std::string> lower_bounds;  // single-value bytes
  std::map<int32_t, std::string> upper_bounds;

  std::optional<std::string> key_metadata;
  std::vector<int64_t> split_offsets;  // starts of the row groups, ascending
  std::vector<int32_t> equality_ids;   // equality deletes only
  std::optional<int32_t> sort_order_id;
  std::optional<int64_t> first_row_id;  // format version 3
  std::optional<std::string> referenced_data_file;
  std::optional<int64_t> content_offset;         // deletion vectors only
  std::optional<int64_t> content_size_in_bytes;  // deletion vectors only

  friend bool operator==(const DataFile&, const DataFile&) = default;
};

}  // namespace fjord
