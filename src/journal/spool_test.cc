#include "journal/spool.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/digest.h"

namespace fjord {
namespace {

class SpoolTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }
  size_t Files() const {
    size_t n = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_)) ++n;
    return n;
  }
  std::string folder_ = testing::TempDir() + "/spool-" + RandomUuid();
};

TEST_F(SpoolTest, GivesBackWhatWasAppended) {
  auto spool = Spool::Create(folder_, {});
  ASSERT_TRUE(spool.ok()) << spool.status();
  auto a = (*spool)->Append("first");
  auto b = (*spool)->Append(std::string("\0second\0", 8));
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ((*spool)->Read(*b).value(), std::string("\0second\0", 8));
  EXPECT_EQ((*spool)->Read(*a).value(), "first");
}

TEST_F(SpoolTest, SegmentIsDeletedWhenAllOfItIsReleased) {
  auto spool = Spool::Create(folder_, {.segment_bytes_max = 1});
  ASSERT_TRUE(spool.ok());
  auto a = (*spool)->Append("a");
  auto b = (*spool)->Append("b");
  auto c = (*spool)->Append("c");
  ASSERT_TRUE(a.ok() && b.ok() && c.ok());
  EXPECT_EQ(Files(), 3u);
  (*spool)->Release(*a);
  (*spool)->Release(*b);
  EXPECT_EQ(Files(), 1u);
  EXPECT_EQ((*spool)->Read(*c).value(), "c");
  EXPECT_EQ((*spool)->Read(*a).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(SpoolTest, NewestSegmentThatWasReleasedGoesWithTheNextOne) {
  auto spool = Spool::Create(folder_, {.segment_bytes_max = 1});
  ASSERT_TRUE(spool.ok());
  auto a = (*spool)->Append("a");
  ASSERT_TRUE(a.ok());
  (*spool)->Release(*a);
  EXPECT_EQ(Files(), 1u);
  ASSERT_TRUE((*spool)->Append("b").ok());
  EXPECT_EQ(Files(), 1u);
}

TEST_F(SpoolTest, EarlierProcessLeavesNothing) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ + "/17.spool") << "old";
  auto spool = Spool::Create(folder_, {});
  ASSERT_TRUE(spool.ok());
  EXPECT_EQ(Files(), 0u);
}

TEST_F(SpoolTest, DamagedBytesAreDataLoss) {
  auto spool = Spool::Create(folder_, {});
  ASSERT_TRUE(spool.ok());
  auto a = (*spool)->Append("payload");
  ASSERT_TRUE(a.ok());
  std::fstream file(folder_ + "/1.spool", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(10);
  file.put('X');
  file.close();
  EXPECT_EQ((*spool)->Read(*a).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace fjord
