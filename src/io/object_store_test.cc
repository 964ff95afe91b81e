// What every store promises (object_store.h), asked of the local folder and of the fake in memory.
#include "io/object_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"
#include "io/local_store.h"
#include "io/memory_store.h"

namespace fjord {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

struct StoreKind {
  const char* name;
  std::function<std::unique_ptr<ObjectStore>()> open;
};

class ObjectStoreTest : public testing::TestWithParam<StoreKind> {
 protected:
  ~ObjectStoreTest() override { std::filesystem::remove_all(folder_); }

  std::string At(std::string_view name) const { return StrCat("file://", folder_, "/", name); }
  std::vector<std::string> Names(std::string_view prefix) const {
    std::vector<std::string> names;
    const auto found = store_->List(At(prefix));
    EXPECT_TRUE(found.ok()) << found.status();
    for (const ObjectInfo& info : *found) names.push_back(info.location.substr(At("").size()));
    return names;
  }

  const std::string folder_ = StrCat(testing::TempDir(), "store-", RandomUuid());
  const std::unique_ptr<ObjectStore> store_ = GetParam().open();
};

INSTANTIATE_TEST_SUITE_P(
    Stores, ObjectStoreTest,
    testing::Values(StoreKind{"local", [] { return OpenLocalStore(); }},
                    StoreKind{"memory", [] { return std::make_unique<MemoryStore>(); }}),
    [](const testing::TestParamInfo<StoreKind>& info) { return info.param.name; });

TEST_P(ObjectStoreTest, WhatWasPutIsThere) {
  const std::string bytes("a\0b\n\xff", 5);
  ASSERT_TRUE(store_->Put(At("new/folder/a"), bytes).ok());
  EXPECT_EQ(*store_->Get(At("new/folder/a")), bytes);
  ASSERT_TRUE(store_->Put(At("empty"), "").ok());
  EXPECT_EQ(*store_->Get(At("empty")), "");
}

TEST_P(ObjectStoreTest, PutNeverOverwrites) {
  ASSERT_TRUE(store_->Put(At("a"), "first").ok());
  EXPECT_TRUE(absl::IsAlreadyExists(store_->Put(At("a"), "second")));
  EXPECT_EQ(*store_->Get(At("a")), "first");
}

TEST_P(ObjectStoreTest, ReplaceMakesOrOverwrites) {
  ASSERT_TRUE(store_->Replace(At("hint"), "1").ok());
  ASSERT_TRUE(store_->Replace(At("hint"), "22").ok());
  EXPECT_EQ(*store_->Get(At("hint")), "22");
  EXPECT_THAT(Names(""), ElementsAre("hint"));
}

TEST_P(ObjectStoreTest, AStreamedObjectIsThereWhenItIsClosed) {
  const auto stream = store_->Create(At("a/b"));
  ASSERT_TRUE(stream.ok()) << stream.status();
  ASSERT_TRUE((*stream)->Write("one ").ok());
  ASSERT_TRUE((*stream)->Write("two").ok());
  EXPECT_EQ((*stream)->bytes_written(), 7u);
  ASSERT_TRUE((*stream)->Close().ok());
  EXPECT_EQ(*store_->Get(At("a/b")), "one two");
}

TEST_P(ObjectStoreTest, AStreamThatIsNotClosedLeavesNothing) {
  {
    const auto stream = store_->Create(At("dropped"));
    ASSERT_TRUE((*stream)->Write("x").ok());
  }
  const auto stream = store_->Create(At("aborted"));
  ASSERT_TRUE((*stream)->Write("x").ok());
  (*stream)->Abort();
  EXPECT_THAT(Names(""), IsEmpty());
}

TEST_P(ObjectStoreTest, AnAbortAfterCloseTakesNothingBack) {
  const auto stream = store_->Create(At("a"));
  ASSERT_TRUE((*stream)->Write("x").ok());
  ASSERT_TRUE((*stream)->Close().ok());
  (*stream)->Abort();
  EXPECT_EQ(*store_->Get(At("a")), "x");
}

TEST_P(ObjectStoreTest, AStreamNeverOverwrites) {
  ASSERT_TRUE(store_->Put(At("a"), "first").ok());
  const auto stream = store_->Create(At("a"));
  // A store may say so at once or at the end.
  absl::Status status = stream.status();
  if (status.ok()) status = (*stream)->Write("second");
  if (status.ok()) status = (*stream)->Close();
  EXPECT_TRUE(absl::IsAlreadyExists(status)) << status;
  EXPECT_EQ(*store_->Get(At("a")), "first");
}

TEST_P(ObjectStoreTest, PartsAreReadAndReadingPastTheEndIsDataLoss) {
  ASSERT_TRUE(store_->Put(At("a"), "0123456789").ok());
  const auto object = store_->Open(At("a"));
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_EQ((*object)->size(), 10u);
  char part[4] = {};
  ASSERT_TRUE((*object)->ReadAt(6, part, 4).ok());
  EXPECT_EQ(std::string_view(part, 4), "6789");
  EXPECT_TRUE((*object)->ReadAt(10, part, 0).ok());
  EXPECT_TRUE(absl::IsDataLoss((*object)->ReadAt(7, part, 4)));
  EXPECT_TRUE(absl::IsDataLoss((*object)->ReadAt(1000, part, 1)));
}

TEST_P(ObjectStoreTest, WhatIsNotThereIsNotFoundAndItsDeletionIsNoError) {
  EXPECT_TRUE(absl::IsNotFound(store_->Get(At("a")).status()));
  EXPECT_TRUE(absl::IsNotFound(store_->Open(At("no/folder/a")).status()));
  EXPECT_TRUE(store_->Delete(At("a")).ok());
  ASSERT_TRUE(store_->Put(At("a"), "x").ok());
  ASSERT_TRUE(store_->Delete(At("a")).ok());
  EXPECT_TRUE(absl::IsNotFound(store_->Get(At("a")).status()));
}

TEST_P(ObjectStoreTest, AListHasWhatBeginsWithThePrefix) {
  for (const char* name :
       {"t/data/a.parquet", "t/data/b.parquet", "t/database", "t/metadata/v1.json", "u/x"}) {
    ASSERT_TRUE(store_->Put(At(name), name).ok());
  }
  EXPECT_THAT(Names("t/data"),
              UnorderedElementsAre("t/data/a.parquet", "t/data/b.parquet", "t/database"));
  EXPECT_THAT(Names("t/data/"), UnorderedElementsAre("t/data/a.parquet", "t/data/b.parquet"));
  EXPECT_THAT(Names("t/data/b"), UnorderedElementsAre("t/data/b.parquet"));
  EXPECT_THAT(Names("t/meta"), UnorderedElementsAre("t/metadata/v1.json"));
  EXPECT_THAT(Names("v/"), IsEmpty());
  const auto found = store_->List(At("u/"));
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().size, 3u);
}

}  // namespace
}  // namespace fjord
