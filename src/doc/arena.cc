#include "doc/arena.h"

#include <algorithm>
#include <utility>

namespace fjord::doc {

void Arena::Use(const Chunk& chunk) {
  next_ = chunk.memory.get();
  end_ = next_ + chunk.bytes;
}

void Arena::Grow(size_t bytes) {
  const size_t size = std::max(bytes, chunk_bytes_);
  // Not make_unique: that would clear the memory first.
  chunks_.push_back({std::unique_ptr<char[]>(new char[size]), size});
  bytes_reserved_ += size;
  Use(chunks_.back());
}

void Arena::Clear() {
  if (chunks_.empty()) return;
  auto largest = std::max_element(chunks_.begin(), chunks_.end(),
                                  [](const Chunk& a, const Chunk& b) { return a.bytes < b.bytes; });
  std::swap(*largest, chunks_.front());
  chunks_.resize(1);
  bytes_reserved_ = chunks_.front().bytes;
  Use(chunks_.front());
}

}  // namespace fjord::doc
