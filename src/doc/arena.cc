#include "doc/arena.h"

#include <algorithm>

namespace fjord::doc {

void Arena::Use(size_t chunk) {
  next_ = chunks_[chunk].memory.get();
  end_ = next_ + chunks_[chunk].bytes;
  bytes_reserved_ += chunks_[chunk].bytes;
  next_chunk_ = chunk + 1;
}

void Arena::Grow(size_t bytes) {
  size_t chunk = next_chunk_;
  while (chunk < chunks_.size() && chunks_[chunk].bytes < bytes) ++chunk;
  if (chunk == chunks_.size()) {
    const size_t size = std::max(bytes, chunk_bytes_);
    // Not make_unique: that would clear the memory first.
    chunks_.push_back({std::unique_ptr<char[]>(new char[size]), size});
  }
  Use(chunk);
}

void Arena::Clear() {
  if (chunks_.empty()) return;
  size_t kept = 0;
  size_t bytes = 0;
  while (kept < chunks_.size() && (kept == 0 || bytes + chunks_[kept].bytes <= kKeptBytesMax)) {
    bytes += chunks_[kept++].bytes;
  }
  chunks_.resize(kept);
  bytes_reserved_ = 0;
  Use(0);
}

}  // namespace fjord::doc
