// A spool: bytes that must wait, in append-only segment files on local disk.
//
// Replication puts there what does not fit into its memory window. A spool is a cache, not a
// log: it is emptied when it is created, since the source sends everything again that was
// not confirmed. Layout: docs/formats/spool.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace fjord {

struct SpoolOptions {
  uint64_t segment_bytes_max = 64ull << 20;  // a new segment is begun past this size
};

// Where bytes lie in the spool.
struct SpoolRef {
  uint32_t segment = 0;
  uint32_t length = 0;  // of the payload, without the frame
  uint64_t offset = 0;  // of the frame in the segment file
};

// Thread-safe. After an I/O error the spool stays usable for what was written before.
class Spool {
 public:
  // Makes the folder when missing and removes every segment that an earlier process left in it.
  static absl::StatusOr<std::unique_ptr<Spool>> Create(std::string folder, SpoolOptions options);
  ~Spool();

  // kResourceExhausted when the disk is full. Nothing is synced: what dies with the
  // machine is sent again.
  absl::StatusOr<SpoolRef> Append(std::string_view payload);
  // kDataLoss when the checksum does not fit.
  absl::StatusOr<std::string> Read(const SpoolRef& ref) const;
  // The bytes are not needed any more; a segment whose bytes are all released is deleted.
  void Release(const SpoolRef& ref);

  // Bytes of all segment files that are still there.
  uint64_t bytes_on_disk() const;

 private:
  struct Impl;
  explicit Spool(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fjord
