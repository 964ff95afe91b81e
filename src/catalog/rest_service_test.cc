// The catalog server without the network: what each request answers.
#include "catalog/rest_service.h"

#include <gtest/gtest.h>

#include "base/status.h"
#include "catalog/catalog_test_support.h"
#include "catalog/embedded_catalog.h"
#include "catalog/rest_json.h"

namespace fjord {
namespace {

HttpServerRequest Request(std::string method, std::string path, std::string body = "") {
  HttpServerRequest request{.method = std::move(method), .path = std::move(path)};
  request.headers["host"] = "127.0.0.1:8181";
  if (!body.empty()) request.headers["content-type"] = "application/json";
  request.body = std::move(body);
  return request;
}

// Answers everything with one status.
class RefusingCatalog : public Catalog {
 public:
  explicit RefusingCatalog(absl::Status status) : status_(std::move(status)) {}
  absl::StatusOr<std::vector<Namespace>> ListNamespaces(const Namespace&) override {
    return status_;
  }
  absl::Status CreateNamespace(const Namespace&) override { return status_; }
  absl::StatusOr<std::vector<TableIdent>> ListTables(const Namespace&) override { return status_; }
  absl::StatusOr<LoadedTable> LoadTable(const TableIdent&) override { return status_; }
  absl::StatusOr<LoadedTable> CreateTable(const TableIdent&, const TableCreation&) override {
    return status_;
  }
  absl::StatusOr<LoadedTable> CommitTable(const TableIdent&, const CommitRequest&) override {
    return status_;
  }
  absl::Status DropTable(const TableIdent&) override { return status_; }
  absl::Status DropNamespace(const Namespace&) override { return status_; }

 private:
  const absl::Status status_;
};

class RestServiceTest : public testing::Test {
 protected:
  RestServiceTest() {
    warehouse_ = StrCat("file://", folder_.path());
    auto catalog = OpenEmbeddedCatalog(
        {.database = StrCat(folder_.path(), "/catalog.db"), .warehouse = warehouse_}, &store_);
    EXPECT_TRUE(catalog.ok()) << catalog.status();
    catalog_ = *std::move(catalog);
    service_ = std::make_unique<RestService>(CatalogServerOptions{.locations_under = warehouse_},
                                             catalog_.get());
  }

  // The JSON of an answer that must have `status`.
  Json Call(const std::string& method, const std::string& path, const std::string& body = "",
            int status = 200) {
    const HttpServerResponse response = service_->Handle(Request(method, path, body));
    EXPECT_EQ(response.status, status) << method << " " << path << ": " << response.body;
    if (response.body.empty()) return Json();
    const auto json = Json::Parse(response.body);
    EXPECT_TRUE(json.ok()) << response.body;
    return *json;
  }
  std::string ErrorType(const Json& answer) {
    const Json* error = answer.Find("error");
    EXPECT_NE(error, nullptr);
    return error == nullptr ? "" : *error->GetString("type");
  }
  std::string CreationBody(const std::string& name, const std::string& more = "") {
    return StrCat(R"({"name":")", name, R"(","schema":)", SchemaForTest().Dump(), more, "}");
  }
  TableMetadata MakeOrders() {
    EXPECT_TRUE(catalog_->CreateNamespace({"shop"}).ok());
    const Json answer = Call("POST", "/v1/namespaces/shop/tables", CreationBody("orders"));
    return *MetadataFromJson(*answer.Find("metadata"));
  }

  TestFolder folder_;
  FailingStore store_;
  std::string warehouse_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<RestService> service_;
};

TEST_F(RestServiceTest, TheConfigurationNamesTheEndpoints) {
  const Json config = Call("GET", "/v1/config");
  EXPECT_TRUE(config.Find("defaults")->is_object());
  EXPECT_TRUE(config.Find("overrides")->is_object());
  EXPECT_GT(config.Find("endpoints")->array().size(), 10u);
}

TEST_F(RestServiceTest, Namespaces) {
  Call("POST", "/v1/namespaces", R"({"namespace":["a","b"],"properties":{"owner":"x"}})");
  Call("POST", "/v1/namespaces", R"({"namespace":["a","b"]})", 409);
  Call("POST", "/v1/namespaces", R"({"namespace":"a"})", 400);
  EXPECT_EQ(Call("GET", "/v1/namespaces").Find("namespaces")->Dump(), R"([["a"]])");
  HttpServerRequest below = Request("GET", "/v1/namespaces");
  below.query.emplace("parent", "a");
  EXPECT_EQ(Json::Parse(service_->Handle(below).body)->Find("namespaces")->Dump(),
            R"([["a","b"]])");
  EXPECT_EQ(*Call("GET", "/v1/namespaces/a%1Fb").Find("properties")->GetString("owner"), "x");
  Call("HEAD", "/v1/namespaces/a%1Fb", "", 204);
  const HttpServerResponse absent = service_->Handle(Request("HEAD", "/v1/namespaces/z"));
  EXPECT_EQ(absent.status, 404);
  EXPECT_EQ(ErrorType(Call("GET", "/v1/namespaces/z", "", 404)), "NoSuchNamespaceException");
  const Json change = Call("POST", "/v1/namespaces/a%1Fb/properties",
                           R"({"removals":["owner","gone"],"updates":{"size":"1"}})");
  EXPECT_EQ(change.Find("missing")->Dump(), R"(["gone"])");
  Call("POST", "/v1/namespaces/a%1Fb/properties", R"({"removals":["k"],"updates":{"k":"1"}})", 422);
  EXPECT_EQ(ErrorType(Call("DELETE", "/v1/namespaces/a", "", 409)), "NamespaceNotEmptyException");
  Call("DELETE", "/v1/namespaces/a%1Fb", "", 204);
  Call("GET", "/v1/namespaces/a%1Fb", "", 404);
}

TEST_F(RestServiceTest, TablesFromCreationToDrop) {
  EXPECT_EQ(ErrorType(Call("POST", "/v1/namespaces/shop/tables", CreationBody("orders"), 404)),
            "NoSuchNamespaceException");
  EXPECT_EQ(ErrorType(Call("GET", "/v1/namespaces/shop/tables", "", 404)),
            "NoSuchNamespaceException");
  const TableMetadata made = MakeOrders();
  EXPECT_EQ(ErrorType(Call("POST", "/v1/namespaces/shop/tables", CreationBody("orders"), 409)),
            "AlreadyExistsException");
  EXPECT_EQ(Call("GET", "/v1/namespaces/shop/tables").Find("identifiers")->Dump(),
            R"([{"namespace":["shop"],"name":"orders"}])");
  const Json loaded = Call("GET", "/v1/namespaces/shop/tables/orders");
  EXPECT_EQ(*MetadataFromJson(*loaded.Find("metadata")), made);
  EXPECT_TRUE(loaded.GetString("metadata-location")->starts_with(warehouse_));
  EXPECT_TRUE(loaded.Find("config")->object().empty());
  Call("HEAD", "/v1/namespaces/shop/tables/orders", "", 204);
  Call("HEAD", "/v1/namespaces/shop/tables/none", "", 404);
  Call("POST", "/v1/namespaces/shop/tables/orders/metrics", R"({"report-type":"scan"})", 204);
  Call("POST", "/v1/tables/rename",
       R"({"source":{"namespace":["shop"],"name":"orders"},
           "destination":{"namespace":["shop"],"name":"sales"}})",
       204);
  EXPECT_EQ(ErrorType(Call("GET", "/v1/namespaces/shop/tables/orders", "", 404)),
            "NoSuchTableException");
  Call("POST", "/v1/namespaces/shop/register",
       StrCat(R"({"name":"orders","overwrite":false,"metadata-location":")",
              *loaded.GetString("metadata-location"), "\"}"));
  Call("DELETE", "/v1/namespaces/shop/tables/orders", "", 204);
  Call("DELETE", "/v1/namespaces/shop/tables/orders", "", 404);
  Call("GET", "/v1/namespaces/shop/tables/sales");
}

TEST_F(RestServiceTest, Commits) {
  const TableMetadata made = MakeOrders();
  const std::string path = "/v1/namespaces/shop/tables/orders";
  const std::string first =
      CommitToJson({{"shop"}, "orders"}, SnapshotCommit(made, SnapshotId(7))).Dump();
  const Json answer = Call("POST", path, first);
  EXPECT_EQ(*answer.Find("metadata")->GetInt("current-snapshot-id"), 7);
  EXPECT_EQ(ErrorType(Call("POST", path, first, 409)), "CommitFailedException");
  EXPECT_EQ(
      ErrorType(Call("POST", path, R"({"requirements":[],"updates":[{"action":"fly"}]})", 400)),
      "BadRequestException");
  Call("POST", path, R"({"requirements":[{"type":"assert-the-moon"}],"updates":[]})", 400);
  Call("POST", path, "no json", 400);
  Call("POST", "/v1/namespaces/shop/tables/none", first, 404);
}

TEST_F(RestServiceTest, SeveralTablesInOneTransaction) {
  const TableMetadata orders = MakeOrders();
  Call("POST", "/v1/namespaces/shop/tables", CreationBody("lines"));
  const auto change = [](const std::string& table, const CommitRequest& request) {
    return CommitToJson({{"shop"}, table}, request).Dump();
  };
  const std::string both =
      StrCat(R"({"table-changes":[)", change("orders", SnapshotCommit(orders, SnapshotId(7))), ",",
             change("lines", PropertyCommit("a", "b")), "]}");
  Call("POST", "/v1/transactions/commit", both, 204);
  EXPECT_EQ(catalog_->LoadTable({{"shop"}, "lines"})->metadata.properties.at("a"), "b");
  EXPECT_EQ(ErrorType(Call("POST", "/v1/transactions/commit", both, 409)), "CommitFailedException");
  Call("POST", "/v1/transactions/commit", R"({"table-changes":[{"updates":[]}]})", 400);
}

TEST_F(RestServiceTest, AStagedTableIsNotThereYet) {
  EXPECT_TRUE(catalog_->CreateNamespace({"shop"}).ok());
  const Json staged =
      Call("POST", "/v1/namespaces/shop/tables", CreationBody("orders", R"(,"stage-create":true)"));
  EXPECT_EQ(staged.Find("metadata-location"), nullptr);
  Call("GET", "/v1/namespaces/shop/tables/orders", "", 404);
}

TEST_F(RestServiceTest, OnlySnapshotsWithAReferenceWhenAskedSo) {
  TableMetadata table = MakeOrders();
  for (const int64_t id : {7, 8}) {
    table = catalog_->CommitTable({{"shop"}, "orders"}, SnapshotCommit(table, SnapshotId(id)))
                ->metadata;
  }
  HttpServerRequest request = Request("GET", "/v1/namespaces/shop/tables/orders");
  EXPECT_EQ(Json::Parse(service_->Handle(request).body)
                ->Find("metadata")
                ->Find("snapshots")
                ->array()
                .size(),
            2u);
  request.query.emplace("snapshots", "refs");
  EXPECT_EQ(Json::Parse(service_->Handle(request).body)
                ->Find("metadata")
                ->Find("snapshots")
                ->array()
                .size(),
            1u);
}

TEST_F(RestServiceTest, NamesWithOddCharactersAreDecoded) {
  Call("POST", "/v1/namespaces", R"({"namespace":["a/b c"]})");
  Call("POST", "/v1/namespaces/a%2Fb%20c/tables", CreationBody("x.y%z"));
  Call("GET", "/v1/namespaces/a%2Fb%20c/tables/x.y%25z");
  Call("GET", "/v1/namespaces/a%2", "", 400);
}

TEST_F(RestServiceTest, TablesStayBelowTheWarehouse) {
  MakeOrders();
  const auto with_location = [&](const std::string& location) {
    return CreationBody("t", StrCat(R"(,"location":")", location, "\""));
  };
  const std::string tables = "/v1/namespaces/shop/tables";
  const std::string orders = "/v1/namespaces/shop/tables/orders";
  Call("POST", tables, with_location("file:///etc"), 403);
  Call("POST", tables, with_location(StrCat(warehouse_, "-other/t")), 403);
  Call("POST", tables, with_location(StrCat(warehouse_, "/../t")), 403);
  Call("POST", tables, with_location(StrCat(warehouse_, "/mine/t")), 200);
  Call("POST", orders, R"({"updates":[{"action":"set-location","location":"file:///etc"}]})", 403);
  Call(
      "POST", orders,
      R"({"updates":[{"action":"set-properties","updates":{"write.metadata.path":"file:///etc"}}]})",
      403);
  Call("POST", "/v1/namespaces/shop/register",
       R"({"name":"x","metadata-location":"file:///etc/x.metadata.json"})", 403);
}

TEST_F(RestServiceTest, AStrangersWebPageIsRefused) {
  HttpServerRequest form = Request("POST", "/v1/namespaces", R"({"namespace":["a"]})");
  form.headers["content-type"] = "text/plain";
  EXPECT_EQ(service_->Handle(form).status, 415);
  HttpServerRequest rebound = Request("GET", "/v1/config");
  for (const char* host : {"evil.example", "evil.example:8181", "127.evil.example:1"}) {
    rebound.headers["host"] = host;
    EXPECT_EQ(service_->Handle(rebound).status, 403) << host;
  }
  for (const char* host : {"localhost:8181", "LocalHost", "127.0.0.1", "[::1]:8181", "[::1]"}) {
    rebound.headers["host"] = host;
    EXPECT_EQ(service_->Handle(rebound).status, 200) << host;
  }
}

TEST_F(RestServiceTest, PathsAndMethodsThatAreNone) {
  for (const char* path : {"/", "/v2/config", "/v1", "/v1/views", "/v1/namespaces/a/views",
                           "/v1/namespaces/a/tables/t/plan"}) {
    Call("GET", path, "", 404);
  }
  Call("DELETE", "/v1/config", "", 405);
  Call("PUT", "/v1/namespaces/a/tables/t", "{}", 405);
}

TEST(RestService, WhatAStatusOfTheCatalogBecomes) {
  const struct {
    absl::StatusCode code;
    int commit;
    const char* type;
  } cases[] = {
      {absl::StatusCode::kNotFound, 404, "NoSuchTableException"},
      {absl::StatusCode::kAborted, 409, "CommitFailedException"},
      {absl::StatusCode::kInvalidArgument, 400, "BadRequestException"},
      {absl::StatusCode::kUnauthenticated, 401, "NotAuthorizedException"},
      {absl::StatusCode::kPermissionDenied, 403, "ForbiddenException"},
      {absl::StatusCode::kFailedPrecondition, 403, "ForbiddenException"},
      {absl::StatusCode::kUnimplemented, 406, "UnsupportedOperationException"},
      {absl::StatusCode::kUnavailable, 503, "ServiceUnavailableException"},
      {absl::StatusCode::kUnknown, 500, "CommitStateUnknownException"},
      {absl::StatusCode::kDataLoss, 500, "InternalServerError"},
  };
  for (const auto& c : cases) {
    RefusingCatalog catalog(absl::Status(c.code, "injected"));
    const RestService service({}, &catalog);
    const HttpServerResponse answer = service.Handle(
        Request("POST", "/v1/namespaces/n/tables/t", R"({"requirements":[],"updates":[]})"));
    EXPECT_EQ(answer.status, c.commit);
    const Json error = *Json::Parse(answer.body)->Find("error");
    EXPECT_EQ(*error.GetString("type"), c.type);
    EXPECT_EQ(*error.GetString("message"), "injected");
    EXPECT_EQ(*error.GetInt("code"), c.commit);
    // A 503 without it would be an unknown outcome for the client.
    EXPECT_EQ(answer.headers.contains("Retry-After"), c.commit == 503);
  }
}

}  // namespace
}  // namespace fjord
