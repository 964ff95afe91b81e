#include "base/ids.h"

#include "absl/strings/str_format.h"
#include "base/strings.h"

namespace fjord {

std::string FormatLsn(Lsn lsn) {
  return absl::StrFormat("%X/%X", lsn.value >> 32, lsn.value & 0xffffffffu);
}

absl::StatusOr<Lsn> ParseLsn(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const std::optional<uint32_t> high = ParseInt<uint32_t>(text.substr(0, slash), 16);
    const std::optional<uint32_t> low = ParseInt<uint32_t>(text.substr(slash + 1), 16);
    if (high && low) return Lsn((uint64_t{*high} << 32) | *low);
  }
  return absl::InvalidArgumentError(StrCat("not an LSN: '", text, "'"));
}

}  // namespace fjord
