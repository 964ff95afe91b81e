// What the tests of the row index share: keys, a model map, places for files.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "lake/row_index.h"
#include "lake/row_index_file.h"

namespace fjord {

using IndexModel = std::map<Hash128, RowLocation>;

// A folder that is removed with the object.
class ScopedFolder {
 public:
  explicit ScopedFolder(const std::string& parent = testing::TempDir())
      : path_(parent + "/row-index-" + RandomUuid()) {
    std::filesystem::create_directories(path_);
  }
  ~ScopedFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// In memory where there is such a place: what survives a kill of the process needs no disk, and
// syncs cost nothing.
inline std::string MemoryFolder() {
  return std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : testing::TempDir();
}

inline RowLocation At(uint32_t file, uint32_t position) {
  return {FileNumber(file), RowPosition(position)};
}

// The hash of the n-th test key.
inline Hash128 TestKey(uint64_t n) {
  return SipHash128({1, 2}, {reinterpret_cast<const char*>(&n), sizeof(n)});
}

inline void ApplyToModel(IndexModel& model, std::span<const IndexChange> changes) {
  for (const IndexChange& change : changes) {
    if (change.location.present()) {
      model[change.key] = change.location;
    } else {
      model.erase(change.key);
    }
  }
}

inline IndexModel ContentOf(const RowIndex& index) {
  IndexModel content;
  index.ForEachEntry([&](const Hash128& key, RowLocation location) { content[key] = location; });
  return content;
}

// All entries, through both ways of reading, and the structure itself.
inline void ExpectEqualsModel(RowIndex& index, const IndexModel& model) {
  ASSERT_TRUE(index.file_for_test().Verify().ok()) << index.file_for_test().Verify();
  ASSERT_EQ(index.size(), model.size());
  ASSERT_EQ(ContentOf(index), model);
  std::vector<Hash128> keys;
  for (const auto& [key, location] : model) keys.push_back(key);
  std::vector<RowLocation> found(keys.size());
  index.Find(keys, found);
  for (size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(found[i], model.at(keys[i]));
}

// `count` changes to keys below `key_space`, `removals_percent` of them removals.
inline std::vector<IndexChange> RandomChanges(std::mt19937_64& random, size_t count,
                                              uint64_t key_space, int removals_percent) {
  std::vector<IndexChange> changes(count);
  for (IndexChange& change : changes) {
    change.key = TestKey(random() % key_space);
    const bool removal = static_cast<int>(random() % 100) < removals_percent;
    change.location = removal ? kNoRow : At(1 + random() % 50, static_cast<uint32_t>(random()));
  }
  return changes;
}

}  // namespace fjord
