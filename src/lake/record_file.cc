#include "lake/record_file.h"

#include "base/digest.h"
#include "base/strings.h"

namespace fjord {

void AppendRecord(std::string& out, std::string_view payload) {
  PutFixed32(out, static_cast<uint32_t>(payload.size()));
  PutFixed32(out, Crc32c(payload));
  out.append(payload);
}

absl::StatusOr<std::string_view> ReadRecord(std::string_view bytes) {
  if (bytes.size() < kRecordHeadBytes)
    return absl::OutOfRangeError("end of the file within a record");
  const uint32_t length = GetFixed32(bytes.data());
  if (length > kRecordBytesMax) return absl::DataLossError(StrCat("record of ", length, " bytes"));
  if (bytes.size() - kRecordHeadBytes < length)
    return absl::OutOfRangeError("end of the file within a record");
  const std::string_view payload = bytes.substr(kRecordHeadBytes, length);
  if (GetFixed32(bytes.data() + 4) != Crc32c(payload))
    return absl::DataLossError("checksum of a record is wrong");
  return payload;
}

}  // namespace fjord
