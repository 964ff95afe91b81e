#include "cli/exit_code.h"

namespace fjord {

ExitCode ExitCodeFor(const absl::Status& status) {
  if (status.ok()) return ExitCode::kClean;
  if (absl::IsUnavailable(status)) return ExitCode::kUnavailable;
  if (absl::IsInvalidArgument(status)) return ExitCode::kConfiguration;
  return ExitCode::kFailure;
}

}  // namespace fjord
