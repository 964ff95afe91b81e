// The store of a catalog's tables, between a REST catalog that hands out keys and an S3 server that
// notes who comes.
#include "catalog/table_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/time/clock.h"
#include "base/status.h"
#include "catalog/catalog_test_support.h"
#include "catalog/fake_rest_server.h"
#include "catalog/rest_catalog.h"
#include "catalog/rest_json.h"

namespace fjord {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const TableIdent kOrders{{"shop"}, "orders"};
const TableIdent kItems{{"shop"}, "items"};

std::string Keys(const std::string& id, absl::Time expires = absl::Now() + absl::Hours(1)) {
  return StrCat(R"({"s3.access-key-id":")", id, R"(","s3.secret-access-key":"hush-)", id,
                R"(","s3.session-token":"token-)", id, R"(","s3.session-token-expires-at-ms":")",
                absl::ToUnixMillis(expires), "\"}");
}

// Takes every object and notes the key id of each request; refuses some of them as expired.
class NotingS3 {
 public:
  NotingS3() : server_([this](const HttpServerRequest& request) { return Serve(request); }) {}
  std::string endpoint() const { return server_.uri(); }
  void Expire(const std::string& id) {
    const std::lock_guard lock(mutex_);
    expired_.insert(id);
  }
  // "/lake/shop/orders/data/1 as A" for each request that was taken.
  std::vector<std::string> taken() {
    const std::lock_guard lock(mutex_);
    return taken_;
  }

 private:
  FakeRestServer::Answer Serve(const HttpServerRequest& request) {
    const std::lock_guard lock(mutex_);
    const std::string& signature = request.headers.at("authorization");
    const size_t begin = signature.find("Credential=") + 11;
    const std::string id = signature.substr(begin, signature.find('/', begin) - begin);
    if (expired_.contains(id)) {
      return {{.status = 400, .body = "<Error><Code>ExpiredToken</Code></Error>"}};
    }
    const auto token = request.headers.find("x-amz-security-token");
    const bool has_token = token != request.headers.end() && token->second == StrCat("token-", id);
    taken_.push_back(StrCat(request.path, " as ", id, has_token ? "" : " without token"));
    return {};
  }

  std::mutex mutex_;
  std::set<std::string> expired_;   // guarded by mutex_
  std::vector<std::string> taken_;  // guarded by mutex_
  FakeRestServer server_;
};

class TableStoreTest : public testing::Test {
 protected:
  TableStoreTest() : rest_([this](const HttpServerRequest& request) { return Serve(request); }) {
    configured_ = {.endpoint = s3_.endpoint(), .path_style = true};
  }

  void Open() {
    auto store = TableStore::Open({.configured = configured_, .environment = environment_});
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    auto catalog = OpenRestCatalog(
        {.uri = rest_.uri(),
         .on_loaded = [this](Catalog& catalog, const TableIdent& ident, const LoadedTable& table) {
           store_->OnLoaded(catalog, ident, table);
         }});
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    catalog_ = *std::move(catalog);
  }
  // Opens the catalog first.
  void Load(const TableIdent& ident) {
    if (catalog_ == nullptr) Open();
    const absl::Status status = catalog_->LoadTable(ident).status();
    ASSERT_TRUE(status.ok()) << status;
  }
  absl::Status Put(const std::string& location) { return store_->Put(location, "x"); }

  FakeRestServer::Answer Serve(const HttpServerRequest& request) {
    if (request.path == "/v1/config") {
      Json body = Json::MakeObject();
      body.Set("endpoints", TextListToJson(endpoints_));
      return Ok(body);
    }
    const std::vector<std::string> path = Split(request.path, '/');
    if (path.back() == "credentials") {
      Json body = Json::MakeObject();
      body.Set("storage-credentials", JsonForTest(renewed_));
      return Ok(body);
    }
    const std::string& name = path.back();
    if (!config_.contains(name)) {
      return {{.status = 404,
               .content_type = "application/json",
               .body = R"({"error":{"message":"","type":"NoSuchTableException","code":404}})"}};
    }
    const auto metadata =
        MakeTable({.schema = SchemaForTest(), .location = StrCat("s3://lake/shop/", name)}, 1);
    Json body = LoadedTableToJson({.metadata = *metadata});
    body.Set("config", JsonForTest(config_[name]));
    if (credentials_.contains(name))
      body.Set("storage-credentials", JsonForTest(credentials_[name]));
    return Ok(body);
  }
  static FakeRestServer::Answer Ok(const Json& body) {
    return {{.content_type = "application/json", .body = body.Dump()}};
  }

  // What the catalog says, by the table's name; changed between requests only.
  std::map<std::string, std::string> config_ = {{"orders", "{}"}, {"items", "{}"}};
  std::map<std::string, std::string> credentials_;
  std::string renewed_ = "[]";
  std::vector<std::string> endpoints_ = {"GET /v1/{prefix}/namespaces"};

  S3Settings configured_;
  S3Settings environment_;
  NotingS3 s3_;
  FakeRestServer rest_;
  std::unique_ptr<TableStore> store_;
  std::unique_ptr<Catalog> catalog_;
};

TEST_F(TableStoreTest, EachTableIsReachedWithItsOwnKeys) {
  config_["orders"] = Keys("A");
  config_["items"] = Keys("B");
  Load(kOrders);
  Load(kItems);
  EXPECT_EQ(Put("s3://lake/shop/orders/data/1"), absl::OkStatus());
  EXPECT_EQ(Put("s3://lake/shop/items/data/1"), absl::OkStatus());
  EXPECT_THAT(s3_.taken(),
              ElementsAre("/lake/shop/orders/data/1 as A", "/lake/shop/items/data/1 as B"));
  EXPECT_EQ(rest_.CountOf("GET /v1/namespaces"), 2);
}

TEST_F(TableStoreTest, ATableWhoseNameBeginsLikeAnothersHasItsOwnKeys) {
  config_["orders"] = Keys("A");
  config_["orders_old"] = Keys("B");
  Load({{"shop"}, "orders_old"});
  Load(kOrders);
  EXPECT_EQ(Put("s3://lake/shop/orders_old/data/1"), absl::OkStatus());
  EXPECT_THAT(s3_.taken(), ElementsAre("/lake/shop/orders_old/data/1 as B"));
}

TEST_F(TableStoreTest, TheLongestPrefixHoldsAlsoWithinATable) {
  config_["orders"] = Keys("config");
  credentials_["orders"] =
      StrCat(R"([{"prefix":"s3://lake/shop/orders/data","config":)", Keys("data"),
             R"(},{"prefix":"s3://lake/","config":)", Keys("bucket"),
             R"(},{"prefix":"gs://lake/shop/orders","config":)", Keys("other"), "}]");
  Load(kOrders);
  EXPECT_EQ(Put("s3://lake/shop/orders/data/1"), absl::OkStatus());
  EXPECT_EQ(Put("s3://lake/shop/orders/metadata/1"), absl::OkStatus());
  EXPECT_THAT(s3_.taken(), ElementsAre("/lake/shop/orders/data/1 as data",
                                       "/lake/shop/orders/metadata/1 as bucket"));
}

TEST_F(TableStoreTest, KeysThatHaveExpiredAreRenewedByLoadingTheTableAgain) {
  config_["orders"] = Keys("A", absl::Now() - absl::Seconds(1));
  Load(kOrders);
  config_["orders"] = Keys("B");
  EXPECT_EQ(Put("s3://lake/shop/orders/data/1"), absl::OkStatus());
  EXPECT_EQ(Put("s3://lake/shop/orders/data/2"), absl::OkStatus());
  EXPECT_THAT(s3_.taken(),
              ElementsAre("/lake/shop/orders/data/1 as B", "/lake/shop/orders/data/2 as B"));
  EXPECT_EQ(rest_.CountOf("GET /v1/namespaces/shop/tables/orders"), 2);
}

TEST_F(TableStoreTest, KeysThatTheServerCallsExpiredAreRenewedAtOnce) {
  config_["orders"] = Keys("A");
  Load(kOrders);
  EXPECT_EQ(Put("s3://lake/shop/orders/data/1"), absl::OkStatus());
  s3_.Expire("A");
  config_["orders"] = Keys("B");
  EXPECT_EQ(Put("s3://lake/shop/orders/data/2"), absl::OkStatus());
  EXPECT_THAT(s3_.taken(),
              ElementsAre("/lake/shop/orders/data/1 as A", "/lake/shop/orders/data/2 as B"));
}

TEST_F(TableStoreTest, TheCredentialsEndpointIsUsedWhereThereIsOne) {
  endpoints_.push_back("GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials");
  credentials_["orders"] =
      StrCat(R"([{"prefix":"s3://lake/","config":)", Keys("A", absl::UnixEpoch()), "}]");
  renewed_ = StrCat(R"([{"prefix":"s3://lake/","config":)", Keys("B"), "}]");
  Load(kOrders);
  EXPECT_EQ(Put("s3://lake/shop/orders/data/1"), absl::OkStatus());
  EXPECT_THAT(s3_.taken(), ElementsAre("/lake/shop/orders/data/1 as B"));
  EXPECT_EQ(rest_.CountOf("GET /v1/namespaces/shop/tables/orders/credentials"), 1);
  EXPECT_EQ(rest_.CountOf("GET /v1/namespaces/shop/tables/orders?"), 1);
}

TEST_F(TableStoreTest, AnEndpointWithoutNewKeysIsNotTheLastWord) {
  endpoints_.push_back("GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials");
  config_["orders"] = Keys("A", absl::UnixEpoch());
  Load(kOrders);
  config_["orders"] = Keys("B");
  EXPECT_EQ(Put("s3://lake/shop/orders/data/1"), absl::OkStatus());
  EXPECT_THAT(s3_.taken(), ElementsAre("/lake/shop/orders/data/1 as B"));
}

TEST_F(TableStoreTest, KeysToldMeanwhileSaveARequest) {
  config_["orders"] = Keys("A");
  Load(kOrders);
  EXPECT_EQ(Put("s3://lake/shop/orders/data/1"), absl::OkStatus());
  config_["orders"] = Keys("B");
  Load(kOrders);
  s3_.Expire("A");
  EXPECT_EQ(Put("s3://lake/shop/orders/data/2"), absl::OkStatus());
  EXPECT_THAT(s3_.taken(),
              ElementsAre("/lake/shop/orders/data/1 as A", "/lake/shop/orders/data/2 as B"));
  EXPECT_EQ(rest_.CountOf("GET /v1/namespaces/shop/tables/orders"), 2);
}

TEST_F(TableStoreTest, ConfiguredKeysGoBeforeTheCatalogs) {
  configured_.credentials = {.access_key_id = "mine", .secret_access_key = Secret("hush")};
  config_["orders"] = Keys("A");
  Load(kOrders);
  EXPECT_EQ(Put("s3://lake/shop/orders/data/1"), absl::OkStatus());
  EXPECT_THAT(s3_.taken(), ElementsAre("/lake/shop/orders/data/1 as mine without token"));
}

TEST_F(TableStoreTest, TheCatalogsKeysGoBeforeTheEnvironments) {
  environment_.credentials = {.access_key_id = "env", .secret_access_key = Secret("hush")};
  config_["orders"] = Keys("A");
  Load(kOrders);
  Load(kItems);
  EXPECT_EQ(Put("s3://lake/shop/orders/data/1"), absl::OkStatus());
  EXPECT_EQ(Put("s3://lake/shop/items/data/1"), absl::OkStatus());
  EXPECT_THAT(s3_.taken(), ElementsAre("/lake/shop/orders/data/1 as A",
                                       "/lake/shop/items/data/1 as env without token"));
}

TEST_F(TableStoreTest, TheCatalogsAddressHoldsWhereNoneIsConfigured) {
  configured_ = {};
  config_["orders"] = StrCat(R"({"s3.endpoint":")", s3_.endpoint(),
                             R"(","s3.path-style-access":"true",)", Keys("A").substr(1));
  Load(kOrders);
  EXPECT_EQ(Put("s3://lake/shop/orders/data/1"), absl::OkStatus());
  EXPECT_THAT(s3_.taken(), ElementsAre("/lake/shop/orders/data/1 as A"));
}

TEST_F(TableStoreTest, AConfiguredAddressGoesBeforeTheCatalogs) {
  config_["orders"] =
      StrCat(R"({"s3.endpoint":"http://127.0.0.1:9","s3.path-style-access":"false",)",
             Keys("A").substr(1));
  Load(kOrders);
  EXPECT_EQ(Put("s3://lake/shop/orders/data/1"), absl::OkStatus());
  EXPECT_THAT(s3_.taken(), ElementsAre("/lake/shop/orders/data/1 as A"));
}

TEST_F(TableStoreTest, WithoutKeysFromAnywhereTheErrorSaysWhatToConfigure) {
  Load(kOrders);
  const absl::Status status = Put("s3://lake/shop/orders/data/1");
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(Message(status)),
              AllOf(HasSubstr("shop.orders"), HasSubstr("lake.storage.s3.credential"),
                    HasSubstr("AWS_ACCESS_KEY_ID"), HasSubstr("credential vending")));
  EXPECT_TRUE(s3_.taken().empty());
}

TEST_F(TableStoreTest, ATableThatIsLoadedAgainMayHaveKeysAtLast) {
  Load(kOrders);
  ASSERT_FALSE(Put("s3://lake/shop/orders/data/1").ok());
  config_["orders"] = Keys("A");
  Load(kOrders);
  EXPECT_EQ(Put("s3://lake/shop/orders/data/1"), absl::OkStatus());
}

// A missing object would be something else: deleting it succeeds, for one.
TEST_F(TableStoreTest, ATableThatIsGoneIsNotAMissingObject) {
  config_["orders"] = Keys("A", absl::UnixEpoch());
  Load(kOrders);
  config_.erase("orders");
  const absl::Status status = store_->Delete("s3://lake/shop/orders/data/1");
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(Message(status)), HasSubstr("shop.orders is not in the catalog"));
}

TEST_F(TableStoreTest, ACatalogThatIsAwayIsWorthAnotherTry) {
  config_["orders"] = Keys("A", absl::UnixEpoch());
  Load(kOrders);
  rest_.Stop();
  const absl::Status status = Put("s3://lake/shop/orders/data/1");
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(status.ToString(), Not(HasSubstr("hush")));
}

TEST_F(TableStoreTest, AnAddressThatIsNoneIsSaidWhenItIsUsed) {
  configured_ = {};
  config_["orders"] = R"({"s3.endpoint":"minio:9000"})";
  Load(kOrders);
  const absl::Status status = Put("s3://lake/shop/orders/data/1");
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(Message(status)), HasSubstr("shop.orders"));
}

TEST(S3Settings, AreReadFromThePropertiesOfATable) {
  const S3Settings settings = S3SettingsOf({{"s3.endpoint", "http://s3:1"},
                                            {"client.region", "eu-central-1"},
                                            {"s3.path-style-access", "true"},
                                            {"s3.access-key-id", "A"},
                                            {"s3.secret-access-key", "hush"},
                                            {"s3.session-token", "token"},
                                            {"s3.session-token-expires-at-ms", "1500"}});
  EXPECT_EQ(settings.endpoint, "http://s3:1");
  EXPECT_EQ(settings.region, "eu-central-1");
  EXPECT_EQ(settings.path_style, true);
  EXPECT_TRUE(settings.has_keys());
  EXPECT_EQ(settings.credentials.session_token.Reveal(), "token");
  EXPECT_EQ(settings.credentials.expires, absl::FromUnixMillis(1500));
}

TEST(S3Settings, HalfAPairOfKeysIsNone) {
  EXPECT_FALSE(S3SettingsOf({{"s3.access-key-id", "A"}}).has_keys());
  EXPECT_FALSE(S3SettingsOf({{"s3.secret-access-key", "hush"}}).has_keys());
}

TEST(S3Settings, KeysOfTwoSourcesAreNotMixed) {
  const S3Settings first =
      S3SettingsOf({{"s3.access-key-id", "A"}, {"s3.secret-access-key", "hush"}});
  const S3Settings second = S3SettingsOf({{"s3.region", "eu"},
                                          {"s3.access-key-id", "B"},
                                          {"s3.secret-access-key", "hush"},
                                          {"s3.session-token", "token"}});
  const S3Settings both = Over(first, second);
  EXPECT_EQ(both.region, "eu");
  EXPECT_EQ(both.credentials.access_key_id, "A");
  EXPECT_TRUE(both.credentials.session_token.empty());
}

}  // namespace
}  // namespace fjord
