// What is particular to files: names of locations, temporary files, and the
// errors of a file system.
#include "io/local_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "absl/cleanup/cleanup.h"
#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

using testing::HasSubstr;

class LocalStoreTest : public testing::Test {
 protected:
  LocalStoreTest() { std::filesystem::create_directory(folder_); }
  ~LocalStoreTest() override { std::filesystem::remove_all(folder_); }

  const std::string folder_ = StrCat(testing::TempDir(), "local-", RandomUuid());
  const std::unique_ptr<ObjectStore> store_ = OpenLocalStore();
};

TEST_F(LocalStoreTest, APathAndItsUrisAreTheSameObject) {
  ASSERT_TRUE(store_->Put(StrCat(folder_, "/a b%20c"), "x").ok());
  EXPECT_EQ(*store_->Get(StrCat("file://", folder_, "/a b%20c")), "x");
  EXPECT_EQ(*store_->Get(StrCat("file:", folder_, "/a b%20c")), "x");
  EXPECT_EQ(store_->List(StrCat(folder_, "/"))->at(0).location,
            StrCat("file://", folder_, "/a b%20c"));
}

TEST_F(LocalStoreTest, OtherLocationsAreRefused) {
  for (const char* location : {"relative/path", "s3://bucket/key", "", "file://relative"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(store_->Get(location).status())) << location;
  }
}

TEST_F(LocalStoreTest, AFolderInTheWayIsForAPersonToRemove) {
  std::filesystem::create_directories(StrCat(folder_, "/name"));
  EXPECT_TRUE(absl::IsAlreadyExists(store_->Put(StrCat(folder_, "/name"), "x")));
  EXPECT_TRUE(absl::IsFailedPrecondition(store_->Replace(StrCat(folder_, "/name"), "x")));
  EXPECT_TRUE(absl::IsFailedPrecondition(store_->Delete(StrCat(folder_, "/name"))));
  const auto found = store_->List(StrCat(folder_, "/"));
  EXPECT_TRUE(found->empty()) << "a temporary file was left behind: " << found->at(0).location;
}

TEST_F(LocalStoreTest, AFileWhereAFolderShouldBeIsForAPersonToRemove) {
  std::ofstream(StrCat(folder_, "/file")) << "x";
  const absl::Status status = store_->Put(StrCat(folder_, "/file/below"), "x");
  EXPECT_TRUE(absl::IsFailedPrecondition(status) || absl::IsAlreadyExists(status)) << status;
  EXPECT_FALSE(store_->List(StrCat(folder_, "/file/")).value_or(std::vector<ObjectInfo>()).size());
}

TEST_F(LocalStoreTest, AFullDiskIsSaidAndNothingIsLeftBehind) {
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const absl::Cleanup restore = [&before] { setrlimit(RLIMIT_FSIZE, &before); };
  rlimit limit = before;
  limit.rlim_cur = 1000;
  setrlimit(RLIMIT_FSIZE, &limit);
  const std::string location = StrCat(folder_, "/large");
  const absl::Status put = store_->Put(location, std::string(5000, 'x'));
  EXPECT_TRUE(absl::IsResourceExhausted(put)) << put;
  EXPECT_THAT(put.ToString(), HasSubstr(location));
  EXPECT_TRUE(absl::IsResourceExhausted(store_->Replace(location, std::string(5000, 'x'))));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(LocalStoreTest, AnObjectThatShrankIsDataLoss) {
  const std::string path = StrCat(folder_, "/a");
  ASSERT_TRUE(store_->Put(path, "0123456789").ok());
  const auto object = store_->Open(path);
  std::filesystem::resize_file(path, 5);
  char part[10];
  EXPECT_TRUE(absl::IsDataLoss((*object)->ReadAt(0, part, 10)));
}

TEST_F(LocalStoreTest, AListDoesNotFollowLinksInACircle) {
  std::filesystem::create_directory_symlink(folder_, StrCat(folder_, "/circle"));
  ASSERT_TRUE(store_->Put(StrCat(folder_, "/a"), "x").ok());
  EXPECT_EQ(store_->List(StrCat(folder_, "/"))->size(), 1u);
}

}  // namespace
}  // namespace fjord
