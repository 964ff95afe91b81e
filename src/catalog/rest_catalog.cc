#include "catalog/rest_catalog.h"

#include "base/status.h"
#include "base/strings.h"
#include "catalog/rest_json.h"
#include "catalog/rest_session.h"

namespace fjord {
namespace {

constexpr int kPagesMax = 10'000;
constexpr char kTransactionEndpoint[] = "POST /v1/{prefix}/transactions/commit";
constexpr char kCredentialsEndpoint[] =
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials";

// Signing at the server is not ours.
HttpHeaders DelegationHeaders(AccessDelegation delegation) {
  if (delegation == AccessDelegation::kNone) return {};
  return {{"X-Iceberg-Access-Delegation", "vended-credentials"}};
}

class RestCatalog : public Catalog {
 public:
  RestCatalog(const RestCatalogOptions& options, std::unique_ptr<RestSession> session)
      : delegation_(DelegationHeaders(options.delegation)),
        on_loaded_(options.on_loaded),
        session_(std::move(session)) {}

  absl::StatusOr<std::vector<Namespace>> ListNamespaces(const Namespace& parent) override {
    const std::string query =
        parent.empty() ? "" : StrCat("parent=", session_->NamespaceSegment(parent));
    ASSIGN_OR_RETURN(const Json::Array items, List("/namespaces", query, "namespaces"));
    std::vector<Namespace> namespaces;
    for (const Json& item : items) {
      ASSIGN_OR_RETURN(Namespace ns, NamespaceFromJson(item));
      namespaces.push_back(std::move(ns));
    }
    return namespaces;
  }

  absl::Status CreateNamespace(const Namespace& ns) override {
    const absl::Status status = CreateNamespaceWith(ns, {});
    return absl::IsAlreadyExists(status) ? absl::OkStatus() : status;
  }

  absl::StatusOr<std::vector<TableIdent>> ListTables(const Namespace& ns) override {
    ASSIGN_OR_RETURN(const Json::Array items, List(TablesPath(ns), "", "identifiers"));
    std::vector<TableIdent> tables;
    for (const Json& item : items) {
      ASSIGN_OR_RETURN(TableIdent ident, IdentFromJson(item));
      tables.push_back(std::move(ident));
    }
    return tables;
  }

  absl::StatusOr<LoadedTable> LoadTable(const TableIdent& ident) override {
    ASSIGN_OR_RETURN(const Json json, session_->Send({.path = TablePath(ident),
                                                      .query = "snapshots=all",
                                                      .headers = delegation_}));
    return Told(ident, Loaded(json, ident));
  }

  absl::StatusOr<std::vector<StorageCredential>> LoadCredentials(const TableIdent& ident) override {
    if (!session_->Offers(kCredentialsEndpoint)) return Catalog::LoadCredentials(ident);
    ASSIGN_OR_RETURN(
        const Json json,
        session_->Send({.path = StrCat(TablePath(ident), "/credentials"), .headers = delegation_}));
    return CredentialsFromJson(json);
  }

  absl::StatusOr<LoadedTable> CreateTable(const TableIdent& ident,
                                          const TableCreation& creation) override {
    return Create(ident, CreationBody(ident, creation));
  }

  absl::StatusOr<LoadedTable> StageTable(const TableIdent& ident,
                                         const TableCreation& creation) override {
    Json body = CreationBody(ident, creation);
    body.Set("stage-create", true);
    return Create(ident, std::move(body));
  }

  absl::StatusOr<LoadedTable> CommitTable(const TableIdent& ident,
                                          const CommitRequest& request) override {
    ASSIGN_OR_RETURN(const Json json, session_->Send({.kind = RestRequestKind::kCommit,
                                                      .method = "POST",
                                                      .path = TablePath(ident),
                                                      .body = CommitToJson(ident, request)}));
    return Made(json, ident);
  }

  absl::Status DropTable(const TableIdent& ident) override {
    return session_
        ->Send({.kind = RestRequestKind::kChange,
                .method = "DELETE",
                .path = TablePath(ident),
                .query = "purgeRequested=false"})
        .status();
  }

  bool SupportsAtomicCommits() const override { return session_->Offers(kTransactionEndpoint); }

  absl::Status CommitTables(const std::vector<TableCommit>& commits) override {
    if (!SupportsAtomicCommits()) return Catalog::CommitTables(commits);
    Json changes = Json::MakeArray();
    for (const TableCommit& commit : commits) {
      changes.Push(CommitToJson(commit.ident, commit.request));
    }
    Json body = Json::MakeObject();
    body.Set("table-changes", std::move(changes));
    return session_
        ->Send({.kind = RestRequestKind::kCommit,
                .method = "POST",
                .path = "/transactions/commit",
                .body = std::move(body)})
        .status();
  }

  absl::StatusOr<std::map<std::string, std::string>> LoadNamespace(const Namespace& ns) override {
    ASSIGN_OR_RETURN(const Json json, session_->Send({.path = NamespacePath(ns)}));
    return TextMapFromJson(json.Find("properties"));
  }

  absl::Status CreateNamespaceWith(const Namespace& ns,
                                   const std::map<std::string, std::string>& properties) override {
    Json body = Json::MakeObject();
    body.Set("namespace", NamespaceToJson(ns));
    body.Set("properties", TextMapToJson(properties));
    return session_
        ->Send({.kind = RestRequestKind::kChange,
                .method = "POST",
                .path = "/namespaces",
                .body = std::move(body)})
        .status();
  }

  absl::Status DropNamespace(const Namespace& ns) override {
    const absl::Status status =
        session_
            ->Send(
                {.kind = RestRequestKind::kChange, .method = "DELETE", .path = NamespacePath(ns)})
            .status();
    // Here a conflict says that something is still in it.
    if (!absl::IsAlreadyExists(status)) return status;
    return absl::FailedPreconditionError(StrCat(Message(status)));
  }

 private:
  std::string NamespacePath(const Namespace& ns) const {
    return StrCat("/namespaces/", session_->NamespaceSegment(ns));
  }
  std::string TablesPath(const Namespace& ns) const { return StrCat(NamespacePath(ns), "/tables"); }
  std::string TablePath(const TableIdent& ident) const {
    return StrCat(TablesPath(ident.ns), "/", PercentEncode(ident.name));
  }

  // The members called `member` of all pages.
  absl::StatusOr<Json::Array> List(const std::string& path, const std::string& query,
                                   std::string_view member) {
    Json::Array items;
    std::string page = query;
    for (int i = 0; i < kPagesMax; ++i) {
      ASSIGN_OR_RETURN(const Json json, session_->Send({.path = path, .query = page}));
      ASSIGN_OR_RETURN(const Json* list, json.GetArray(member));
      items.insert(items.end(), list->array().begin(), list->array().end());
      ASSIGN_OR_RETURN(const std::string next, json.GetString("next-page-token", ""));
      if (next.empty()) return items;
      page = StrCat(query, query.empty() ? "" : "&", "pageToken=", PercentEncode(next));
    }
    return absl::FailedPreconditionError(StrCat("catalog: ", path, " has no end of pages"));
  }

  static Json CreationBody(const TableIdent& ident, const TableCreation& creation) {
    Json body = Json::MakeObject();
    body.Set("name", ident.name);
    if (!creation.location.empty()) body.Set("location", creation.location);
    body.Set("schema", creation.schema);
    if (!creation.partition_spec.is_null()) body.Set("partition-spec", creation.partition_spec);
    if (!creation.sort_order.is_null()) body.Set("write-order", creation.sort_order);
    body.Set("stage-create", false);
    body.Set("properties", TextMapToJson(creation.properties));
    return body;
  }

  absl::StatusOr<LoadedTable> Create(const TableIdent& ident, Json body) {
    ASSIGN_OR_RETURN(const Json json, session_->Send({.kind = RestRequestKind::kChange,
                                                      .method = "POST",
                                                      .path = TablesPath(ident.ns),
                                                      .headers = delegation_,
                                                      .body = std::move(body)}));
    return Told(ident, Made(json, ident));
  }

  absl::StatusOr<LoadedTable> Told(const TableIdent& ident, absl::StatusOr<LoadedTable> table) {
    if (table.ok() && on_loaded_) on_loaded_(*this, ident, *table);
    return table;
  }

  static absl::StatusOr<LoadedTable> Loaded(const Json& json, const TableIdent& ident) {
    absl::StatusOr<LoadedTable> table = LoadedTableFromJson(json);
    if (table.ok()) return table;
    return Annotate(table.status(),
                    StrCat("the catalog's answer about ", ident.ToString(), " is not usable"));
  }
  // The request succeeded, but nothing can be learnt from the answer.
  static absl::StatusOr<LoadedTable> Made(const Json& json, const TableIdent& ident) {
    absl::StatusOr<LoadedTable> table = Loaded(json, ident);
    if (table.ok()) return table;
    return absl::UnknownError(StrCat(Message(table.status())));
  }

  const HttpHeaders delegation_;
  const TableListener on_loaded_;
  const std::unique_ptr<RestSession> session_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Catalog>> OpenRestCatalog(RestCatalogOptions options) {
  ASSIGN_OR_RETURN(std::unique_ptr<RestSession> session, RestSession::Open(options));
  return std::unique_ptr<Catalog>(std::make_unique<RestCatalog>(options, std::move(session)));
}

}  // namespace fjord
