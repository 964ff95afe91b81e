// Arrow's stream interfaces over ours. For this layer's files only.
//
// Arrow's statuses know no codes of ours, so that the first error of an object is kept beside the
// adapter, and what Arrow throws because of it is answered with that.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "io/object_store.h"

namespace arrow::io {
class OutputStream;
class RandomAccessFile;
}  // namespace arrow::io

namespace fjord {

// Both outlive the adapter or its last use; once `error` is set, nothing more reaches the stream.
std::shared_ptr<arrow::io::OutputStream> AdaptForArrow(WriteStream& stream, absl::Status& error);

// An object of at most this size is read whole, by one request.
inline constexpr uint64_t kReadWholeBytesMax = 1 << 20;

std::shared_ptr<arrow::io::RandomAccessFile> AdaptForArrow(std::unique_ptr<ReadableObject> object,
                                                           std::shared_ptr<absl::Status> error);

}  // namespace fjord
