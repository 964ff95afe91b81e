#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <cstring>
#include <filesystem>

#include "base/digest.h"

namespace fjord {
namespace {

class MappedFileTest : public testing::Test {
 protected:
  ~MappedFileTest() override { std::filesystem::remove(path_); }
  std::string path_ = testing::TempDir() + "/mapped-" + RandomUuid();
};

TEST_F(MappedFileTest, WhatWasStoredIsThereAfterOpeningAgain) {
  {
    auto file = *MappedFile::Create(path_);
    EXPECT_EQ(file->size(), 0u);
    ASSERT_TRUE(file->Grow(4096).ok());
    std::memcpy(file->data(), "hello", 5);
    // Beyond what was mapped at first, so the address may change.
    ASSERT_TRUE(file->Grow(5 << 20).ok());
    file->data()[(5 << 20) - 1] = 'x';
    ASSERT_TRUE(file->Sync().ok());
    ASSERT_TRUE(file->SyncRange(0, 4096).ok());
  }
  auto file = *MappedFile::Open(path_);
  EXPECT_EQ(file->size(), uint64_t{5} << 20);
  EXPECT_EQ(std::string(file->data(), 5), "hello");
  EXPECT_EQ(file->data()[(5 << 20) - 1], 'x');
  ASSERT_TRUE(file->Shrink(4096).ok());
  EXPECT_EQ(std::filesystem::file_size(path_), 4096u);
  ASSERT_TRUE(file->Grow(8192).ok());
  EXPECT_EQ(file->data()[8191], '\0');
}

TEST_F(MappedFileTest, NoFileIsNotFoundAndTwoOwnersAreUnavailable) {
  EXPECT_EQ(MappedFile::Open(path_).status().code(), absl::StatusCode::kNotFound);
  const auto file = *MappedFile::Create(path_);
  EXPECT_EQ(MappedFile::Open(path_).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(MappedFileTest, GrowingBeyondALimitChangesNothing) {
  auto file = *MappedFile::Create(path_);
  ASSERT_TRUE(file->Grow(64 * 1024).ok());
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit limit = before;
  limit.rlim_cur = 128 * 1024;
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_EQ(file->Grow(1 << 20).code(), absl::StatusCode::kResourceExhausted);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(file->size(), uint64_t{64} * 1024);
  EXPECT_EQ(std::filesystem::file_size(path_), 64u * 1024);
  ASSERT_TRUE(file->Grow(1 << 20).ok());
}

TEST_F(MappedFileTest, AdviceLeavesTheBytesAsTheyAre) {
  auto file = *MappedFile::Create(path_);
  ASSERT_TRUE(file->Grow(1 << 20).ok());
  file->ExpectRandomAccess();
  file->data()[70'000] = 'x';
  EXPECT_TRUE(file->InMemory(file->data() + 70'000));
  file->WillNeed(file->data() + 70'000, 1 << 20);
  EXPECT_EQ(file->data()[70'000], 'x');
}

TEST_F(MappedFileTest, ANamelessFileHasNoName) {
  const std::string folder = testing::TempDir() + "/nameless-" + RandomUuid();
  std::filesystem::create_directory(folder);
  auto file = *MappedFile::CreateNameless(folder);
  ASSERT_TRUE(file->Grow(4096).ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove(folder);
}

}  // namespace
}  // namespace fjord
