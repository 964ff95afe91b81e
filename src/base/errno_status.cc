#include "base/errno_status.h"

#include <cerrno>
#include <cstring>

#include "base/strings.h"

namespace fjord {

absl::Status ErrnoStatus(int error, std::string_view what, std::string_view path) {
  const std::string message = StrCat(what, " ", path, ": ", std::strerror(error));
  switch (error) {
    case ENOENT: return absl::NotFoundError(message);
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM: return absl::ResourceExhaustedError(message);
    default: return absl::FailedPreconditionError(message);
  }
}

}  // namespace fjord
