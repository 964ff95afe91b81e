#include "base/status.h"

#include "base/strings.h"

namespace fjord {

absl::Status Annotate(const absl::Status& status, std::string_view context) {
  if (status.ok()) return status;
  return absl::Status(status.code(), StrCat(context, ": ", status.message()));
}

std::string_view Message(const absl::Status& status) { return ToStd(status.message()); }

}  // namespace fjord
