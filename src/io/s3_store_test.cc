// The S3 store against a real server: runs only when FJORD_TEST_S3_ENDPOINT, FJORD_TEST_S3_BUCKET,
// FJORD_TEST_S3_KEY and FJORD_TEST_S3_SECRET are set (tests/unit_py/test_s3_store.py sets them).
#include "io/s3_store.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "absl/time/clock.h"
#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"
#include "io/local_store.h"
#include "io/routing_store.h"
#include "io/s3_client.h"

namespace fjord {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

TEST(S3Location, BucketAndKey) {
  const auto location = ParseS3Location("s3a://lake/a/b c");
  ASSERT_TRUE(location.ok());
  EXPECT_EQ(location->scheme, "s3a");
  EXPECT_EQ(location->bucket, "lake");
  EXPECT_EQ(location->key, "a/b c");
  EXPECT_EQ(ParseS3Location("s3://lake")->key, "");
}

TEST(S3Location, WhatIsNoneIsRefused) {
  for (const char* text :
       {"", "/lake/a", "file:///a", "s3:/lake/a", "s3:///a", "s3://a@b/c", "s4://lake/a"}) {
    EXPECT_EQ(ParseS3Location(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(S3StoreOptions, EndpointWithoutSchemeOrWithPasswordIsRefused) {
  for (const char* endpoint :
       {"localhost:9000", "ftp://x", "https://", "https://key:secret@host"}) {
    EXPECT_EQ(OpenS3Store({.endpoint = endpoint}).status().code(),
              absl::StatusCode::kInvalidArgument)
        << endpoint;
  }
}

TEST(S3StoreOptions, MissingCredentialsAreSaidBeforeAnythingIsSent) {
  const auto store = OpenS3Store({.endpoint = "http://127.0.0.1:1"});
  ASSERT_TRUE(store.ok());
  const absl::Status status = (*store)->Get("s3://lake/a").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(Message(status)), HasSubstr("lake.storage.s3.credential"));
}

class S3StoreLive : public testing::Test {
 protected:
  void SetUp() override {
    if (Environment("FJORD_TEST_S3_ENDPOINT").empty())
      GTEST_SKIP() << "FJORD_TEST_S3_ENDPOINT is not set";
    folder_ = StrCat("s3://", bucket_, "/", Hex(RandomBytes(8)), "/");
    store_ = Open(Options());
  }

  S3Options Options() const {
    return {.endpoint = Environment("FJORD_TEST_S3_ENDPOINT"),
            .path_style = true,
            .credentials = {.access_key_id = Environment("FJORD_TEST_S3_KEY"),
                            .secret_access_key = Secret(Environment("FJORD_TEST_S3_SECRET"))}};
  }
  static std::unique_ptr<ObjectStore> Open(S3Options options) {
    return OpenS3Store(std::move(options)).value();
  }
  std::string At(std::string_view name) const { return StrCat(folder_, name); }

  // Bytes without a period, so that a misplaced part shows.
  static std::string Bytes(size_t size) {
    std::string bytes(size, '\0');
    uint64_t x = 88172645463325252u;
    for (char& c : bytes) {
      x ^= x << 13, x ^= x >> 7, x ^= x << 17;
      c = static_cast<char>(x);
    }
    return bytes;
  }

  const std::string bucket_ = Environment("FJORD_TEST_S3_BUCKET");
  std::string folder_;
  std::unique_ptr<ObjectStore> store_;
};

TEST_F(S3StoreLive, PutGetOpenDelete) {
  const std::string at = At("a b/ä+=&%$'().bin");
  const std::string bytes = Bytes(100'000);
  ASSERT_EQ(store_->Put(at, bytes), absl::OkStatus());
  EXPECT_EQ(store_->Get(at).value(), bytes);
  const auto object = store_->Open(at);
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_EQ((*object)->size(), bytes.size());
  std::string piece(1000, '\0');
  ASSERT_EQ((*object)->ReadAt(99'000, piece.data(), piece.size()), absl::OkStatus());
  EXPECT_EQ(piece, bytes.substr(99'000));
  EXPECT_EQ((*object)->ReadAt(99'001, piece.data(), piece.size()).code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ((*object)->ReadAt(100'000, piece.data(), 0), absl::OkStatus());
  ASSERT_EQ(store_->Delete(at), absl::OkStatus());
  EXPECT_EQ(store_->Delete(at), absl::OkStatus());
  EXPECT_EQ(store_->Get(at).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store_->Open(at).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(S3StoreLive, PutDoesNotOverwriteEvenWithEqualBytes) {
  ASSERT_EQ(store_->Put(At("x"), "first"), absl::OkStatus());
  EXPECT_EQ(store_->Put(At("x"), "other").code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(store_->Put(At("x"), "first").code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(store_->Get(At("x")).value(), "first");
}

TEST_F(S3StoreLive, OneOfManyPutsOfANameWins) {
  std::atomic<int> won = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this, i, &won] {
      const absl::Status status = store_->Put(At("race"), StrCat("writer ", i));
      if (status.ok())
        ++won;
      else
        EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists) << status;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(won, 1);
}

TEST_F(S3StoreLive, ReplaceOverwrites) {
  ASSERT_EQ(store_->Replace(At("hint"), "1"), absl::OkStatus());
  ASSERT_EQ(store_->Replace(At("hint"), "22"), absl::OkStatus());
  EXPECT_EQ(store_->Get(At("hint")).value(), "22");
}

TEST_F(S3StoreLive, EmptyObject) {
  ASSERT_EQ(store_->Put(At("empty"), ""), absl::OkStatus());
  EXPECT_EQ(store_->Get(At("empty")).value(), "");
  EXPECT_EQ(store_->Open(At("empty")).value()->size(), 0u);
}

TEST_F(S3StoreLive, StreamsOfOnePartAndOfMany) {
  for (const size_t size :
       {size_t{0}, size_t{5'000}, size_t{8} << 20, (size_t{8} << 20) + 1, (size_t{20} << 20) + 7}) {
    const std::string at = At(StrCat("stream-", size));
    const std::string bytes = Bytes(size);
    auto stream = store_->Create(at);
    ASSERT_TRUE(stream.ok()) << stream.status();
    for (size_t done = 0; done < size; done += 3'000'000) {
      ASSERT_EQ((*stream)->Write(std::string_view(bytes).substr(done, 3'000'000)),
                absl::OkStatus());
    }
    ASSERT_EQ((*stream)->Close(), absl::OkStatus()) << size;
    EXPECT_EQ((*stream)->bytes_written(), size);
    EXPECT_TRUE(store_->Get(at).value() == bytes) << size;
  }
}

TEST_F(S3StoreLive, StreamThatIsNotClosedLeavesNothing) {
  const std::string bytes = Bytes(size_t{18} << 20);
  {
    auto stream = store_->Create(At("given up"));
    ASSERT_TRUE(stream.ok());
    ASSERT_EQ((*stream)->Write(bytes), absl::OkStatus());
    (*stream)->Abort();
    EXPECT_FALSE((*stream)->Write("more").ok());
    EXPECT_FALSE((*stream)->Close().ok());
  }
  {
    auto stream = store_->Create(At("dropped"));
    ASSERT_EQ((*stream)->Write(bytes), absl::OkStatus());
  }
  EXPECT_TRUE(store_->List(folder_).value().empty());
}

TEST_F(S3StoreLive, ListPagesAndPrefixes) {
  constexpr int kObjects = 1'100;  // more than one page
  std::atomic<int> next = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = next++; i < kObjects; i = next++) {
        ASSERT_EQ(store_->Put(At(StrCat("list/", i, " <&>")), "abc"), absl::OkStatus());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(store_->Put(At("other"), "x"), absl::OkStatus());
  const auto listed = store_->List(At("list/"));
  ASSERT_TRUE(listed.ok()) << listed.status();
  EXPECT_EQ(listed->size(), size_t{kObjects});
  for (const ObjectInfo& info : *listed) {
    EXPECT_THAT(info.location, testing::StartsWith(At("list/")));
    EXPECT_THAT(info.location, testing::EndsWith(" <&>"));
    EXPECT_EQ(info.size, 3u);
    EXPECT_NEAR(static_cast<double>(info.modified_ms),
                static_cast<double>(absl::ToUnixMillis(absl::Now())), 600'000);
  }
  EXPECT_EQ(store_->List(At("oth")).value().size(), 1u);
  EXPECT_TRUE(store_->List(At("nothing/")).value().empty());
}

TEST_F(S3StoreLive, WrongSecretNamesBucketAndSettingAndNotTheSecret) {
  S3Options options = Options();
  options.credentials.secret_access_key = Secret("hush-hush");
  const absl::Status status = Open(options)->Put(At("x"), "y");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(Message(status)), HasSubstr("lake.storage.s3.credential"));
  EXPECT_THAT(std::string(Message(status)), HasSubstr(bucket_));
  EXPECT_THAT(std::string(Message(status)), Not(HasSubstr("hush")));
}

TEST_F(S3StoreLive, MissingBucketIsSaid) {
  const absl::Status status = store_->Get("s3://no-such-bucket-here/a").status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(Message(status)), HasSubstr("no-such-bucket-here"));
}

TEST_F(S3StoreLive, CredentialsThatExpireAreAskedForAgain) {
  std::atomic<int> asked = 0;
  S3Options options = Options();
  options.provider = [&asked,
                      credentials = options.credentials]() -> absl::StatusOr<S3Credentials> {
    S3Credentials fresh = credentials;
    fresh.expires = absl::Now() + (asked++ == 0 ? absl::ZeroDuration() : absl::Hours(1));
    return fresh;
  };
  options.credentials = {};
  const auto store = Open(options);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(store->Put(At(StrCat(i)), "x"), absl::OkStatus());
  EXPECT_EQ(asked, 2);
}

TEST_F(S3StoreLive, RoutingStoreSendsEachLocationToItsStore) {
  const auto store = MakeRoutingStore(OpenLocalStore(), Open(Options()));
  const std::string path = StrCat(testing::TempDir(), "/", Hex(RandomBytes(8)));
  ASSERT_EQ(store->Put(path, "local"), absl::OkStatus());
  ASSERT_EQ(store->Put(At("x"), "s3"), absl::OkStatus());
  EXPECT_EQ(OpenLocalStore()->Get(path).value(), "local");
  EXPECT_EQ(store_->Get(At("x")).value(), "s3");
  EXPECT_EQ(store->Delete(path), absl::OkStatus());
}

}  // namespace
}  // namespace fjord
