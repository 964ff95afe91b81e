// DataFile to and from the Avro record data_file of manifests. Internal to the layer.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "avro/value.h"
#include "iceberg/data_file.h"

namespace fjord {

// In the order of kManifestSchemaV2. Precondition: checked, unpartitioned.
void PutDataFile(std::string& out, const DataFile& file);

// A record of any format version. kDataLoss when it is not one.
absl::StatusOr<DataFile> DecodeDataFile(const AvroValue& value);

}  // namespace fjord
