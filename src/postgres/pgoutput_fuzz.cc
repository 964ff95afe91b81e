// Fuzz target: whatever the bytes, the parser gives a message or kDataLoss and reads nothing
// outside of them.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "postgres/pgoutput.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  // The first byte says where the message stands.
  const auto block =
      (data[0] & 1) != 0 ? fjord::StreamBlock::kInside : fjord::StreamBlock::kOutside;
  const std::string_view payload(reinterpret_cast<const char*>(data) + 1, size - 1);
  fjord::PgOutputScratch scratch;
  const auto message = fjord::ParsePgOutput(payload, block, scratch);
  if (!message.ok() && message.status().code() != absl::StatusCode::kDataLoss) __builtin_trap();
  return 0;
}
