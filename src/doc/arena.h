// Memory of documents: taken piece by piece, given back all at once.
//
// Confined to one thread. Addresses stay valid until Clear or destruction.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace fjord::doc {

class Arena {
 public:
  explicit Arena(size_t chunk_bytes = size_t{64} << 10) : chunk_bytes_(chunk_bytes) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Uninitialised, aligned to 8.
  char* Allocate(size_t bytes) {
    bytes = (bytes + 7) & ~size_t{7};
    if (bytes > static_cast<size_t>(end_ - next_)) Grow(bytes);
    char* const place = next_;
    next_ += bytes;
    return place;
  }

  template <class T>
  T* AllocateArray(size_t count) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= 8);
    return reinterpret_cast<T*>(Allocate(count * sizeof(T)));
  }

  template <class T>
  std::span<const T> Copy(std::span<const T> from) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (from.empty()) return {};
    T* const to = AllocateArray<T>(from.size());
    std::memcpy(static_cast<void*>(to), from.data(), from.size_bytes());
    return {to, from.size()};
  }

  std::string_view Copy(std::string_view text) {
    if (text.empty()) return {};
    char* const to = Allocate(text.size());
    std::memcpy(to, text.data(), text.size());
    return {to, text.size()};
  }

  // Memory that Clear keeps for what comes next, in whole chunks and at least one.
  static constexpr size_t kKeptBytesMax = size_t{16} << 20;

  // Forgets everything.
  void Clear();

  // Bytes of all chunks since the last Clear, full or not: what a memory budget counts.
  size_t bytes_reserved() const { return bytes_reserved_; }

 private:
  struct Chunk {
    std::unique_ptr<char[]> memory;
    size_t bytes;
  };

  void Grow(size_t bytes);
  void Use(size_t chunk);

  size_t chunk_bytes_;
  size_t bytes_reserved_ = 0;
  char* next_ = nullptr;
  char* end_ = nullptr;
  std::vector<Chunk> chunks_;
  size_t next_chunk_ = 0;  // those from here on are free
};

}  // namespace fjord::doc
