// The REST client against a scripted server, and against our own service with faults in between.
#include "catalog/rest_catalog.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/status.h"
#include "catalog/catalog_test_support.h"
#include "catalog/embedded_catalog.h"
#include "catalog/fake_rest_server.h"
#include "catalog/rest_error.h"
#include "catalog/rest_json.h"
#include "catalog/rest_service.h"

namespace fjord {
namespace {

using Answer = FakeRestServer::Answer;
using Ending = FakeRestServer::Answer::Ending;

const TableIdent kOrders{{"shop"}, "orders"};
constexpr char kOrdersPath[] = "/v1/namespaces/shop/tables/orders";

Answer JsonAnswer(std::string body, int status = 200) {
  return {{.status = status, .content_type = "application/json", .body = std::move(body)}};
}
std::string ErrorBody(int status, std::string_view message = "injected") {
  return StrCat(R"({"error":{"message":")", message, R"(","type":"Injected","code":)", status,
                "}}");
}

TEST(OutcomeOf, EachStatusAndKindOfRequest) {
  using Code = absl::StatusCode;
  const struct {
    int status;
    Code read;
    Code change;
    Code commit;
  } cases[] = {
      {200, Code::kOk, Code::kOk, Code::kOk},
      {204, Code::kOk, Code::kOk, Code::kOk},
      {302, Code::kFailedPrecondition, Code::kFailedPrecondition, Code::kFailedPrecondition},
      {400, Code::kFailedPrecondition, Code::kFailedPrecondition, Code::kFailedPrecondition},
      {401, Code::kUnauthenticated, Code::kUnauthenticated, Code::kUnauthenticated},
      {403, Code::kFailedPrecondition, Code::kFailedPrecondition, Code::kFailedPrecondition},
      {404, Code::kNotFound, Code::kNotFound, Code::kNotFound},
      {408, Code::kUnavailable, Code::kUnknown, Code::kUnknown},
      {409, Code::kFailedPrecondition, Code::kAlreadyExists, Code::kAborted},
      {419, Code::kUnauthenticated, Code::kUnauthenticated, Code::kUnauthenticated},
      {429, Code::kUnavailable, Code::kUnavailable, Code::kUnavailable},
      {500, Code::kUnavailable, Code::kUnknown, Code::kUnknown},
      {502, Code::kUnavailable, Code::kUnknown, Code::kUnknown},
      {503, Code::kUnavailable, Code::kUnknown, Code::kUnknown},
      {504, Code::kUnavailable, Code::kUnknown, Code::kUnknown},
      {507, Code::kUnavailable, Code::kUnknown, Code::kUnknown},
  };
  for (const auto& c : cases) {
    const HttpResponse response{.status = c.status, .body = ErrorBody(c.status)};
    EXPECT_EQ(OutcomeOf(RestRequestKind::kRead, response).code(), c.read) << c.status;
    EXPECT_EQ(OutcomeOf(RestRequestKind::kChange, response).code(), c.change) << c.status;
    EXPECT_EQ(OutcomeOf(RestRequestKind::kCommit, response).code(), c.commit) << c.status;
  }
}

TEST(OutcomeOf, AMissingPathIsNotAMissingTable) {
  // A gateway or a wrong address: nobody must conclude that the table is gone.
  const HttpResponse gateway{.status = 404, .body = "<html>Not Found</html>"};
  for (const RestRequestKind kind :
       {RestRequestKind::kRead, RestRequestKind::kChange, RestRequestKind::kCommit}) {
    EXPECT_EQ(OutcomeOf(kind, gateway).code(), absl::StatusCode::kFailedPrecondition);
  }
}

// Our own service over an embedded catalog, behind a server that harms the next commits.
class RestCatalogFaults : public testing::Test {
 protected:
  enum class Fault {
    kNone,
    kCloseAfter,
    kCloseBefore,
    kStatusAfter,
    kStatusInstead,
    kNonsenseAfter
  };

  RestCatalogFaults() {
    auto catalog = OpenEmbeddedCatalog({.database = StrCat(folder_.path(), "/catalog.db"),
                                        .warehouse = StrCat("file://", folder_.path())},
                                       &store_);
    EXPECT_TRUE(catalog.ok()) << catalog.status();
    behind_ = *std::move(catalog);
    service_ = std::make_unique<RestService>(CatalogServerOptions{}, behind_.get());
    server_ = std::make_unique<FakeRestServer>(
        [this](const HttpServerRequest& request) { return Serve(request); });
    auto client = OpenRestCatalog({.uri = server_->uri()});
    EXPECT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
    EXPECT_TRUE(client_->CreateNamespace({"shop"}).ok());
    const auto made = client_->CreateTable(kOrders, {.schema = SchemaForTest()});
    EXPECT_TRUE(made.ok()) << made.status();
    base_ = *made;
  }

  Answer Serve(const HttpServerRequest& request) {
    const bool is_commit = request.method == "POST" && request.path == kOrdersPath;
    const Fault fault = is_commit ? fault_.exchange(Fault::kNone) : Fault::kNone;
    if (fault == Fault::kCloseBefore) return {{}, Ending::kCloseWithoutAnswer};
    if (fault == Fault::kStatusInstead) return JsonAnswer(ErrorBody(status_), status_);
    Answer answer{service_->Handle(request)};
    if (fault == Fault::kCloseAfter) answer.ending = Ending::kCloseWithoutAnswer;
    if (fault == Fault::kStatusAfter) return JsonAnswer(ErrorBody(status_), status_);
    if (fault == Fault::kNonsenseAfter) return JsonAnswer("<html>");
    return answer;
  }

  absl::Status Commit(Fault fault, int status = 0) {
    status_ = status;
    fault_ = fault;
    return client_->CommitTable(kOrders, SnapshotCommit(base_.metadata, SnapshotId(7))).status();
  }
  bool IsIn() {
    const auto table = behind_->LoadTable(kOrders);
    return table.ok() && table->metadata.FindSnapshot(SnapshotId(7)) != nullptr;
  }
  int commits_sent() { return server_->CountOf(StrCat("POST ", kOrdersPath)); }

  TestFolder folder_;
  FailingStore store_;
  std::unique_ptr<Catalog> behind_;
  std::unique_ptr<RestService> service_;
  std::atomic<Fault> fault_ = Fault::kNone;
  std::atomic<int> status_ = 0;
  std::unique_ptr<FakeRestServer> server_;
  std::unique_ptr<Catalog> client_;
  LoadedTable base_;
};

TEST_F(RestCatalogFaults, WithoutAFaultTheCommitIsInAndItsTableReturned) {
  const auto table = client_->CommitTable(kOrders, SnapshotCommit(base_.metadata, SnapshotId(7)));
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->metadata, behind_->LoadTable(kOrders)->metadata);
  EXPECT_EQ(table->metadata_location, behind_->LoadTable(kOrders)->metadata_location);
}

TEST_F(RestCatalogFaults, AnAnswerThatGotLostIsUnknownAndSentOnce) {
  EXPECT_TRUE(absl::IsUnknown(Commit(Fault::kCloseAfter)));
  EXPECT_TRUE(IsIn());
  EXPECT_EQ(commits_sent(), 1);
}

TEST_F(RestCatalogFaults, AConnectionThatEndedBeforeTheRequestWasReadIsUnknownToo) {
  EXPECT_TRUE(absl::IsUnknown(Commit(Fault::kCloseBefore)));
  EXPECT_FALSE(IsIn());
  EXPECT_EQ(commits_sent(), 1);
}

TEST_F(RestCatalogFaults, AConflictAfterALostResultIsRecognisedByLooking) {
  EXPECT_TRUE(absl::IsUnknown(Commit(Fault::kCloseAfter)));
  // The same request again is refused, because the first one moved the head.
  EXPECT_TRUE(absl::IsAborted(Commit(Fault::kNone)));
  EXPECT_NE(client_->LoadTable(kOrders)->metadata.FindSnapshot(SnapshotId(7)), nullptr);
}

TEST_F(RestCatalogFaults, StatusesOfServersAndGatewaysAfterTheCommitAreUnknown) {
  EXPECT_TRUE(absl::IsUnknown(Commit(Fault::kStatusAfter, 500)));
  EXPECT_TRUE(IsIn());
}

TEST_F(RestCatalogFaults, A503IsUnknownAlsoWhenNothingWasDone) {
  EXPECT_TRUE(absl::IsUnknown(Commit(Fault::kStatusInstead, 503)));
  EXPECT_FALSE(IsIn());
  EXPECT_EQ(commits_sent(), 1);
}

TEST_F(RestCatalogFaults, AThrottledCommitMayBeSentAgain) {
  EXPECT_TRUE(absl::IsUnavailable(Commit(Fault::kStatusInstead, 429)));
  EXPECT_TRUE(Commit(Fault::kNone).ok());
}

TEST_F(RestCatalogFaults, ASuccessWithoutAUsableAnswerIsUnknown) {
  EXPECT_TRUE(absl::IsUnknown(Commit(Fault::kNonsenseAfter)));
  EXPECT_TRUE(IsIn());
}

TEST_F(RestCatalogFaults, AServerThatIsNotThereHasSurelyNotGotIt) {
  server_->Stop();
  EXPECT_TRUE(absl::IsUnavailable(Commit(Fault::kNone)));
  EXPECT_TRUE(absl::IsUnavailable(client_->LoadTable(kOrders).status()));
}

TEST_F(RestCatalogFaults, TheWholeInterfaceWorksThroughTheProtocol) {
  EXPECT_EQ(*client_->ListNamespaces({}), std::vector<Namespace>{{"shop"}});
  EXPECT_EQ(*client_->ListTables({"shop"}), std::vector<TableIdent>{kOrders});
  EXPECT_TRUE(client_->CreateNamespace({"shop"}).ok());
  EXPECT_TRUE(
      absl::IsAlreadyExists(client_->CreateTable(kOrders, {.schema = SchemaForTest()}).status()));
  EXPECT_TRUE(absl::IsNotFound(client_->LoadTable({{"shop"}, "none"}).status()));
  EXPECT_TRUE(absl::IsNotFound(client_->LoadTable({{"none"}, "none"}).status()));
  EXPECT_TRUE(absl::IsNotFound(client_->ListTables({"none"}).status()));
  EXPECT_TRUE(*client_->TableExists(kOrders));
  EXPECT_FALSE(*client_->TableExists({{"shop"}, "none"}));
  ASSERT_TRUE(client_->SupportsAtomicCommits());
  EXPECT_TRUE(
      client_->CommitTables({{kOrders, SnapshotCommit(base_.metadata, SnapshotId(7))}}).ok());
  EXPECT_TRUE(IsIn());
  EXPECT_TRUE(absl::IsAborted(
      client_->CommitTables({{kOrders, SnapshotCommit(base_.metadata, SnapshotId(8))}})));
  // Two levels, and names that need encoding.
  const TableIdent odd{{"a/b", "c.d"}, "x y%z/ü"};
  ASSERT_TRUE(client_->CreateNamespace(odd.ns).ok());
  ASSERT_TRUE(client_->CreateTable(odd, {.schema = SchemaForTest()}).ok());
  EXPECT_EQ(client_->LoadTable(odd)->metadata, behind_->LoadTable(odd)->metadata);
  ASSERT_TRUE(client_->DropTable(odd).ok());
  EXPECT_TRUE(absl::IsNotFound(client_->DropTable(odd)));
}

std::string TableBody() {
  const auto table = MakeTable({.schema = SchemaForTest(), .location = "s3://b/t"}, 1);
  return LoadedTableToJson({.metadata = *table}).Dump();
}

TEST(RestCatalog, PrefixSeparatorAndEndpointsComeFromTheConfiguration) {
  std::vector<std::string> hosts;
  FakeRestServer server([&](const HttpServerRequest& request) {
    if (request.path == "/c/v1/config") {
      return JsonAnswer(R"({"defaults":{"prefix":"ignored","header.x-tenant":"t1"},
          "overrides":{"prefix":"ws/main","namespace-separator":"%2E"},
          "endpoints":["GET /v1/{prefix}/namespaces"]})");
    }
    return JsonAnswer(TableBody());
  });
  const auto catalog =
      OpenRestCatalog({.uri = StrCat(server.uri(), "/c/"), .warehouse = "my lake"});
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  ASSERT_TRUE((*catalog)->LoadTable({{"a b", "c"}, "t"}).ok());
  EXPECT_FALSE((*catalog)->SupportsAtomicCommits());
  EXPECT_TRUE(absl::IsUnimplemented((*catalog)->CommitTables({})));
  EXPECT_EQ(server.seen(), (std::vector<std::string>{
                               "GET /c/v1/config?warehouse=my%20lake",
                               "GET /c/v1/ws/main/namespaces/a%20b%2Ec/tables/t?snapshots=all"}));
}

TEST(RestCatalog, AnAddressWithoutACatalogSaysSo) {
  FakeRestServer server(
      [](const HttpServerRequest&) { return JsonAnswer("<html>nothing</html>", 404); });
  const absl::Status status = OpenRestCatalog({.uri = server.uri()}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_NE(Message(status).find(server.uri()), std::string_view::npos) << status;
}

TEST(RestCatalog, PagesOfAListAreAllFetched) {
  FakeRestServer server([](const HttpServerRequest& request) {
    if (request.path == "/v1/config") return JsonAnswer("{}");
    const auto token = request.query.find("pageToken");
    if (token == request.query.end()) {
      return JsonAnswer(
          R"({"identifiers":[{"namespace":["n"],"name":"a"}],"next-page-token":"p 2"})");
    }
    EXPECT_EQ(token->second, "p 2");
    return JsonAnswer(R"({"identifiers":[{"namespace":["n"],"name":"b"}],"next-page-token":null})");
  });
  const auto catalog = OpenRestCatalog({.uri = server.uri()});
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  const auto tables = (*catalog)->ListTables({"n"});
  ASSERT_TRUE(tables.ok()) << tables.status();
  EXPECT_EQ(*tables, (std::vector<TableIdent>{{{"n"}, "a"}, {{"n"}, "b"}}));
}

TEST(RestCatalog, CredentialsOfTheNearestPrefixHoldForALocation) {
  std::string delegation;
  FakeRestServer server([&](const HttpServerRequest& request) {
    if (request.path == "/v1/config") return JsonAnswer("{}");
    delegation = request.headers.at("x-iceberg-access-delegation");
    Json body = JsonForTest(TableBody());
    body.Set("config", JsonForTest(R"({"s3.access-key-id":"table","client.region":"eu"})"));
    body.Set("storage-credentials",
             JsonForTest(
                 R"([{"prefix":"s3://b/","config":{"s3.access-key-id":"bucket"}},
            {"prefix":"s3://b/t/","config":{"s3.access-key-id":"nearest"}}])"));
    return JsonAnswer(body.Dump());
  });
  const auto catalog = OpenRestCatalog({.uri = server.uri()});
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  const auto table = (*catalog)->LoadTable({{"n"}, "t"});
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_NE(delegation.find("vended-credentials"), std::string::npos);
  EXPECT_EQ(table->storage.ConfigFor("s3://b/t/data/x").at("s3.access-key-id"), "nearest");
  EXPECT_EQ(table->storage.ConfigFor("s3://b/u/x").at("s3.access-key-id"), "bucket");
  EXPECT_EQ(table->storage.ConfigFor("s3://c/x").at("s3.access-key-id"), "table");
  EXPECT_EQ(table->storage.ConfigFor("s3://b/t/data/x").at("client.region"), "eu");
}

TEST(RestCatalog, KeysAreNotAskedForWhenTheyAreNotWanted) {
  FakeRestServer server([&](const HttpServerRequest& request) {
    EXPECT_FALSE(request.headers.contains("x-iceberg-access-delegation"));
    return JsonAnswer(request.path == "/v1/config" ? "{}" : TableBody());
  });
  const auto catalog =
      OpenRestCatalog({.uri = server.uri(), .delegation = AccessDelegation::kNone});
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  EXPECT_TRUE((*catalog)->LoadTable({{"n"}, "t"}).ok());
  EXPECT_TRUE((*catalog)->CreateTable({{"n"}, "t"}, {.schema = SchemaForTest()}).ok());
}

TEST(RestCatalog, AListenerHearsOfTablesThatAreLoadedOrMadeButNotOfCommits) {
  FakeRestServer server([&](const HttpServerRequest& request) {
    return JsonAnswer(request.path == "/v1/config" ? "{}" : TableBody());
  });
  std::vector<std::string> heard;
  const auto catalog = OpenRestCatalog(
      {.uri = server.uri(),
       .on_loaded = [&](Catalog&, const TableIdent& ident, const LoadedTable& table) {
         heard.push_back(StrCat(ident.ToString(), " at ", table.metadata.location));
       }});
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  EXPECT_TRUE((*catalog)->LoadTable({{"n"}, "loaded"}).ok());
  EXPECT_TRUE((*catalog)->CreateTable({{"n"}, "made"}, {.schema = SchemaForTest()}).ok());
  EXPECT_TRUE((*catalog)->CommitTable({{"n"}, "made"}, PropertyCommit("a", "b")).ok());
  EXPECT_EQ(heard, (std::vector<std::string>{"n.loaded at s3://b/t", "n.made at s3://b/t"}));
}

TEST(RestCatalog, CredentialsAreLoadedAloneOnlyWhereThatIsOffered) {
  std::string endpoints = "[]";
  FakeRestServer server([&](const HttpServerRequest& request) {
    if (request.path == "/v1/config") return JsonAnswer(StrCat(R"({"endpoints":)", endpoints, "}"));
    EXPECT_EQ(request.path, "/v1/namespaces/n/tables/t/credentials");
    EXPECT_TRUE(request.headers.contains("x-iceberg-access-delegation"));
    return JsonAnswer(R"({"storage-credentials":[{"prefix":"s3://b","config":{"k":"v"}}]})");
  });
  const auto without = OpenRestCatalog({.uri = server.uri()});
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_TRUE(absl::IsUnimplemented((*without)->LoadCredentials({{"n"}, "t"}).status()));
  endpoints = R"(["GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials"])";
  const auto with = OpenRestCatalog({.uri = server.uri()});
  ASSERT_TRUE(with.ok()) << with.status();
  const auto credentials = (*with)->LoadCredentials({{"n"}, "t"});
  ASSERT_TRUE(credentials.ok()) << credentials.status();
  ASSERT_EQ(credentials->size(), 1u);
  EXPECT_EQ(credentials->front().prefix, "s3://b");
  EXPECT_EQ(credentials->front().config.at("k"), "v");
}

// A server that wants the token "t<number of tokens handed out>".
class TokenServer {
 public:
  TokenServer() : server_([this](const HttpServerRequest& request) { return Serve(request); }) {}
  Answer Serve(const HttpServerRequest& request) {
    if (request.path == "/v1/oauth/tokens") {
      last_form = request.body;
      if (refuse)
        return JsonAnswer(R"({"error":"invalid_client","error_description":"no hush-hush"})", 401);
      ++tokens;
      return JsonAnswer(StrCat(R"({"access_token":"t)", tokens.load(),
                               R"(","token_type":"bearer","expires_in":)", expires_in.load(), "}"));
    }
    const auto it = request.headers.find("authorization");
    const std::string given = it == request.headers.end() ? "" : it->second;
    if (given != StrCat("Bearer t", tokens.load())) {
      return JsonAnswer(ErrorBody(401, StrCat("not welcome: ", given)), 401);
    }
    return JsonAnswer(request.path == "/v1/config" ? "{}" : TableBody());
  }

  std::atomic<int> tokens = 0;
  std::atomic<int> expires_in = 3600;
  std::atomic<bool> refuse = false;
  std::string last_form;
  FakeRestServer server_;
};

TEST(RestCatalogToken, IsFetchedWithTheCredentialAndKept) {
  TokenServer tokens;
  const auto catalog = OpenRestCatalog(
      {.uri = tokens.server_.uri(), .credential = Secret("id 1:s:e&c"), .scope = "all of it"});
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  EXPECT_EQ(
      tokens.last_form,
      "grant_type=client_credentials&client_id=id%201&client_secret=s%3Ae%26c&scope=all%20of%20it");
  EXPECT_TRUE((*catalog)->LoadTable(kOrders).ok());
  EXPECT_EQ(tokens.tokens, 1);
}

TEST(RestCatalogToken, IsRenewedOnceWhenRefused) {
  TokenServer tokens;
  const auto catalog =
      OpenRestCatalog({.uri = tokens.server_.uri(), .credential = Secret("id:secret")});
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  ++tokens.tokens;  // the server forgets the old one
  const auto committed = (*catalog)->CommitTable(kOrders, PropertyCommit("a", "b"));
  EXPECT_TRUE(committed.ok()) << committed.status();
  EXPECT_EQ(tokens.server_.CountOf("POST /v1/oauth/tokens"), 2);
  EXPECT_EQ(tokens.server_.CountOf(StrCat("POST ", kOrdersPath)), 2);
}

TEST(RestCatalogToken, IsRenewedBeforeItExpires) {
  TokenServer tokens;
  tokens.expires_in = 0;
  const auto catalog =
      OpenRestCatalog({.uri = tokens.server_.uri(), .credential = Secret("id:secret")});
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  EXPECT_TRUE((*catalog)->LoadTable(kOrders).ok());
  EXPECT_EQ(tokens.tokens, 2);
}

TEST(RestCatalogToken, AFixedOneThatIsRefusedNeedsAPerson) {
  TokenServer tokens;
  const absl::Status status =
      OpenRestCatalog({.uri = tokens.server_.uri(), .token = Secret("hush-hush")}).status();
  EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
  EXPECT_EQ(Message(status).find("hush-hush"), std::string_view::npos) << status;
  EXPECT_EQ(tokens.server_.seen().size(), 1u);
}

TEST(RestCatalogToken, ACredentialThatIsRefusedNeedsAPersonAndIsNotShown) {
  TokenServer tokens;
  tokens.refuse = true;
  const absl::Status status =
      OpenRestCatalog({.uri = tokens.server_.uri(), .credential = Secret("id:hush-hush")}).status();
  EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
  EXPECT_NE(Message(status).find("invalid_client"), std::string_view::npos) << status;
  EXPECT_EQ(Message(status).find("hush-hush"), std::string_view::npos) << status;
}

}  // namespace
}  // namespace fjord
