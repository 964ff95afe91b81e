#include "lake/staged_epoch.h"

#include <gtest/gtest.h>

#include "lake/row_index_test_support.h"

namespace fjord {
namespace {

class StagedEpochTest : public testing::Test {
 protected:
  RowLocation Find(uint64_t key) {
    RowLocation place;
    const absl::Status status = epoch_.Find({{TestKey(key)}}, {&place, 1});
    EXPECT_TRUE(status.ok()) << status;
    return place;
  }
  IndexModel Content() {
    IndexModel content;
    const absl::Status status = epoch_.ForEach([&](std::span<const IndexChange> changes) {
      for (const IndexChange& change : changes) {
        EXPECT_TRUE(content.emplace(change.key, change.location).second) << "a key came twice";
      }
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    return content;
  }

  ScopedFolder folder_{MemoryFolder()};
  StagedEpoch epoch_{folder_.path(), {1, 2}};
};

TEST_F(StagedEpochTest, FindTellsWhatEarlierPartsSaid) {
  epoch_.Put(TestKey(1), At(5, 0));
  EXPECT_EQ(Find(1), kNoRow);
  epoch_.EndPart();
  EXPECT_EQ(Find(1), At(5, 0));
  epoch_.Put(TestKey(1), At(6, 0));
  epoch_.Remove(TestKey(2));
  EXPECT_EQ(Find(1), At(5, 0));
  epoch_.EndPart();
  EXPECT_EQ(Find(1), At(6, 0));
  EXPECT_EQ(Find(2), kRemovedRow);
}

// Rows that come and go within a part leave it without a key. What the next part says about keys
// must not be found within that part all the same: a large value would be taken from a row that is
// just being written.
TEST_F(StagedEpochTest, PartWithoutKeysDoesNotLetTheNextPartSeeItself) {
  epoch_.EndPart();
  EXPECT_EQ(Find(1), kNoRow);
  epoch_.Put(TestKey(1), At(5, 0));
  EXPECT_EQ(Find(1), kNoRow);
}

TEST_F(StagedEpochTest, ClearForgetsKeysAndGivesFilesBack) {
  epoch_.AddFile({.number = FileNumber(5), .file = {.file_path = "a"}});
  epoch_.Put(TestKey(1), At(5, 0));
  epoch_.EndPart();
  ASSERT_EQ(Find(1), At(5, 0));
  const std::vector<StagedFile> files = epoch_.Clear();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].file.file_path, "a");
  EXPECT_TRUE(epoch_.cleared());
  EXPECT_TRUE(epoch_.files().empty());
  EXPECT_EQ(Find(1), kNoRow);
  ASSERT_TRUE(epoch_.Finish().ok());
  EXPECT_TRUE(Content().empty());
}

TEST_F(StagedEpochTest, StaleRowsAreThoseOfItsOwnFiles) {
  epoch_.AddFile({.number = FileNumber(5), .file = {.file_path = "a"}});
  epoch_.MarkStale(At(5, 3));
  epoch_.MarkStale(At(4, 2));
  EXPECT_EQ(epoch_.files()[0].deleted.ToVector(), std::vector<RowPosition>{RowPosition(3)});
  EXPECT_EQ(epoch_.FindFile(FileNumber(4)), nullptr);
}

TEST_F(StagedEpochTest, VisitStopsAtAnError) {
  for (uint64_t part = 0; part < 2; ++part) {
    for (uint64_t key = 0; key < 25'000; ++key) epoch_.Put(TestKey(key), At(1, 1));
    epoch_.EndPart();
    ASSERT_TRUE(epoch_.Find({}, {}).ok());
  }
  ASSERT_TRUE(epoch_.Finish().ok());
  int visits = 0;
  const absl::Status status = epoch_.ForEach([&](std::span<const IndexChange>) {
    ++visits;
    return absl::ResourceExhaustedError("full");
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(visits, 1);
}

TEST_F(StagedEpochTest, RandomPartsAgainstAModel) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 60; ++round) {
    StagedEpoch epoch(folder_.path(), {1, 2});
    IndexModel model;
    std::vector<Hash128> keys;
    for (uint64_t key = 0; key < 40; ++key) keys.push_back(TestKey(key));
    std::vector<RowLocation> places(keys.size());
    const auto expect_model = [&] {
      ASSERT_TRUE(epoch.Find(keys, places).ok());
      for (size_t i = 0; i < keys.size(); ++i) {
        const auto it = model.find(keys[i]);
        ASSERT_EQ(places[i], it == model.end() ? kNoRow : it->second) << "round " << round;
      }
    };
    for (uint64_t part = 0; part < random() % 6; ++part) {
      if (random() % 8 == 0) {
        epoch.Clear();
        model.clear();
      }
      IndexModel said;
      ASSERT_NO_FATAL_FAILURE(expect_model());
      for (uint64_t i = random() % 12; i > 0; --i) {
        const Hash128 key = keys[random() % keys.size()];
        if (said.contains(key)) continue;
        const RowLocation place =
            random() % 3 == 0 ? kRemovedRow : At(1 + part, static_cast<uint32_t>(random() % 100));
        said[key] = place;
        place == kRemovedRow ? epoch.Remove(key) : epoch.Put(key, place);
        if (random() % 4 == 0) ASSERT_NO_FATAL_FAILURE(expect_model());
      }
      epoch.EndPart();
      for (const auto& [key, place] : said) model[key] = place;
    }
    ASSERT_TRUE(epoch.Finish().ok());
    IndexModel content;
    ASSERT_TRUE(epoch
                    .ForEach([&](std::span<const IndexChange> changes) {
                      for (const IndexChange& change : changes)
                        content[change.key] = change.location;
                      return absl::OkStatus();
                    })
                    .ok());
    ASSERT_EQ(content, model) << "round " << round;
  }
}

}  // namespace
}  // namespace fjord
