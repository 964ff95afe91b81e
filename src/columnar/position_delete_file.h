// Position delete files of format version 2 (Iceberg specification, "Position Delete Files").
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "columnar/parquet_writer.h"

namespace fjord {

inline constexpr FieldId kDeleteFilePathId{2147483546};
inline constexpr FieldId kDeletePositionId{2147483545};

// Deleted rows by data file path. Positions ascending, without duplicates.
using PositionsByPath = std::map<std::string, std::vector<RowPosition>>;

// Sorted by path, then position, as the specification asks. With one path the file is scoped to
// that data file, and the least and the greatest path are the whole path: readers see by their
// equality that it is. kInvalidArgument: nothing to delete, positions that do not ascend, a path
// longer than kStatsBytesMax.
absl::StatusOr<WrittenFile> WritePositionDeletes(const PositionsByPath& positions,
                                                 std::unique_ptr<WriteStream> stream);
// Of any writer; sorted and without duplicates. The deleted row itself, which old writers may have
// added, is not read.
absl::StatusOr<PositionsByPath> ReadPositionDeletes(std::unique_ptr<ReadableObject> object);

}  // namespace fjord
