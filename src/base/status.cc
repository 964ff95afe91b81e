#include "base/status.h"

#include "absl/strings/cord.h"
#include "base/strings.h"

namespace fjord {

absl::Status Annotate(const absl::Status& status, std::string_view context) {
  if (status.ok()) return status;
  absl::Status annotated(status.code(), StrCat(context, ": ", status.message()));
  status.ForEachPayload(
      [&](auto type, const absl::Cord& payload) { annotated.SetPayload(type, payload); });
  return annotated;
}

std::string_view Message(const absl::Status& status) { return ToStd(status.message()); }

}  // namespace fjord
