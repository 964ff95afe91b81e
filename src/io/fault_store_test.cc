#include "io/fault_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status.h"
#include "io/memory_store.h"

namespace fjord {
namespace {

using testing::ElementsAre;
using testing::Pair;

class FaultStoreTest : public testing::Test {
 protected:
  MemoryStore base_;
  FaultStore store_{&base_};
};

TEST_F(FaultStoreTest, OnlyThePlannedCallFails) {
  store_.Plan({.call = StoreCall::kPut, .nth = 2});
  EXPECT_TRUE(store_.Put("a", "1").ok());
  EXPECT_TRUE(absl::IsUnavailable(store_.Put("b", "2")));
  EXPECT_TRUE(store_.Put("c", "3").ok());
  EXPECT_TRUE(absl::IsNotFound(base_.Get("b").status()));
  EXPECT_EQ(store_.calls(StoreCall::kPut), 3);
}

TEST_F(FaultStoreTest, EachCallCanBeTheOneThatFails) {
  const auto work = [this]() -> absl::Status {
    ASSIGN_OR_RETURN(const std::unique_ptr<WriteStream> stream, store_.Create("a"));
    RETURN_IF_ERROR(stream->Write("abc"));
    RETURN_IF_ERROR(stream->Close());
    ASSIGN_OR_RETURN(const std::unique_ptr<ReadableObject> object, store_.Open("a"));
    char byte;
    RETURN_IF_ERROR(object->ReadAt(0, &byte, 1));
    RETURN_IF_ERROR(store_.Replace("b", "x"));
    RETURN_IF_ERROR(store_.Get("b").status());
    RETURN_IF_ERROR(store_.List("").status());
    return store_.Delete("b");
  };
  ASSERT_TRUE(work().ok());
  const int calls = store_.calls();
  EXPECT_EQ(calls, 9);
  for (int nth = 1; nth <= calls; ++nth) {
    ASSERT_TRUE(base_.Delete("a").ok());
    store_.ForgetFaults();
    store_.Plan({.nth = nth});
    EXPECT_TRUE(absl::IsUnavailable(work())) << nth;
  }
}

TEST_F(FaultStoreTest, ALostAnswerLeavesTheWorkDone) {
  store_.Plan({.effect = FaultEffect::kLoseAnswer, .status = absl::UnknownError("lost")});
  EXPECT_TRUE(absl::IsUnknown(store_.Put("a", "1")));
  EXPECT_EQ(*base_.Get("a"), "1");
  const auto stream = store_.Create("b");
  ASSERT_TRUE((*stream)->Write("2").ok());
  store_.Plan({.call = StoreCall::kClose, .effect = FaultEffect::kLoseAnswer});
  EXPECT_FALSE((*stream)->Close().ok());
  EXPECT_EQ(*base_.Get("b"), "2");
}

TEST_F(FaultStoreTest, ATornObjectKeepsHalfOfTheBytes) {
  store_.Plan({.call = StoreCall::kPut, .effect = FaultEffect::kTear});
  EXPECT_FALSE(store_.Put("put", "1234").ok());
  EXPECT_EQ(*base_.Get("put"), "12");

  store_.Plan({.call = StoreCall::kWrite, .nth = 2, .effect = FaultEffect::kTear});
  {
    const auto stream = store_.Create("stream");
    EXPECT_TRUE((*stream)->Write("abcd").ok());
    EXPECT_FALSE((*stream)->Write("efgh").ok());
    EXPECT_FALSE((*stream)->Write("ijkl").ok());
    EXPECT_FALSE((*stream)->Close().ok());
  }
  EXPECT_EQ(*base_.Get("stream"), "abcdef");
}

TEST_F(FaultStoreTest, AFaultOfOneLocationLeavesTheOthersAlone) {
  store_.Plan({.location_part = "metadata", .times = 2});
  EXPECT_TRUE(store_.Put("t/data/a", "").ok());
  EXPECT_FALSE(store_.Put("t/metadata/a", "").ok());
  EXPECT_FALSE(store_.Get("t/metadata/a").ok());
  EXPECT_TRUE(store_.Put("t/metadata/a", "").ok());
}

TEST_F(FaultStoreTest, TheHookSeesEachCallBeforeItIsDone) {
  std::vector<std::pair<StoreCall, std::string>> seen;
  store_.SetHook([&](StoreCall call, std::string_view location) {
    EXPECT_TRUE(absl::IsNotFound(base_.Get("a").status()));
    seen.emplace_back(call, location);
  });
  EXPECT_TRUE(store_.Put("a", "").ok());
  EXPECT_THAT(seen, ElementsAre(Pair(StoreCall::kPut, "a")));
}

}  // namespace
}  // namespace fjord
