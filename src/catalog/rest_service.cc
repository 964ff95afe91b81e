#include "catalog/rest_service.h"

#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/rest_json.h"

namespace fjord {
namespace {

using Answer = absl::StatusOr<HttpServerResponse>;

constexpr const char* kEndpoints[] = {
    "GET /v1/{prefix}/namespaces",
    "POST /v1/{prefix}/namespaces",
    "GET /v1/{prefix}/namespaces/{namespace}",
    "HEAD /v1/{prefix}/namespaces/{namespace}",
    "DELETE /v1/{prefix}/namespaces/{namespace}",
    "POST /v1/{prefix}/namespaces/{namespace}/properties",
    "GET /v1/{prefix}/namespaces/{namespace}/tables",
    "POST /v1/{prefix}/namespaces/{namespace}/tables",
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "DELETE /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "POST /v1/{prefix}/namespaces/{namespace}/register",
    "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics",
    "POST /v1/{prefix}/tables/rename",
    "POST /v1/{prefix}/transactions/commit"};

// What a request is about: the protocol names errors by it.
enum class Subject { kNamespace, kTable, kOther };

struct Failure {
  int code;
  const char* type;
};

Failure FailureOf(const absl::Status& status, Subject subject) {
  const bool is_namespace = subject == Subject::kNamespace;
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return {404, is_namespace ? "NoSuchNamespaceException" : "NoSuchTableException"};
    case absl::StatusCode::kAlreadyExists: return {409, "AlreadyExistsException"};
    case absl::StatusCode::kAborted: return {409, "CommitFailedException"};
    case absl::StatusCode::kInvalidArgument: return {400, "BadRequestException"};
    case absl::StatusCode::kUnauthenticated: return {401, "NotAuthorizedException"};
    case absl::StatusCode::kUnimplemented: return {406, "UnsupportedOperationException"};
    case absl::StatusCode::kFailedPrecondition:
      if (is_namespace) return {409, "NamespaceNotEmptyException"};
      return {403, "ForbiddenException"};
    case absl::StatusCode::kPermissionDenied: return {403, "ForbiddenException"};
    case absl::StatusCode::kUnavailable: return {503, "ServiceUnavailableException"};
    case absl::StatusCode::kUnknown: return {500, "CommitStateUnknownException"};
    default: return {500, "InternalServerError"};
  }
}

HttpServerResponse JsonAnswer(const Json& body, int status = 200) {
  return {.status = status, .content_type = "application/json", .body = body.Dump()};
}
HttpServerResponse Empty() { return {.status = 204, .content_type = "application/json"}; }

HttpServerResponse ErrorAnswer(std::string_view message, std::string_view type, int code) {
  Json error = Json::MakeObject();
  error.Set("message", message);
  error.Set("type", type);
  error.Set("code", int64_t{code});
  Json body = Json::MakeObject();
  body.Set("error", std::move(error));
  return JsonAnswer(body, code);
}

HttpServerResponse ErrorAnswer(const absl::Status& status, Subject subject) {
  const Failure failure = FailureOf(status, subject);
  HttpServerResponse answer = ErrorAnswer(Message(status), failure.type, failure.code);
  if (failure.code == 503) answer.headers.emplace("Retry-After", "1");
  return answer;
}

HttpServerResponse NoSuchPath() {
  return ErrorAnswer("there is nothing at this path", "NotFoundException", 404);
}
HttpServerResponse NoSuchMethod() {
  return ErrorAnswer("this path does not take that method", "MethodNotAllowedException", 405);
}

// The decoded segments of a path without the empty ones. Nothing: it is not well encoded.
std::optional<std::vector<std::string>> Segments(std::string_view path) {
  std::vector<std::string> segments;
  for (const std::string& part : Split(path, '/')) {
    if (part.empty()) continue;
    std::optional<std::string> decoded = PercentDecode(part);
    if (!decoded) return std::nullopt;
    segments.push_back(*std::move(decoded));
  }
  return segments;
}

Namespace NamespaceFromPath(const std::string& text) { return Split(text, kNamespaceSeparator[0]); }

std::string QueryValue(const HttpServerRequest& request, const std::string& name) {
  const auto it = request.query.find(name);
  return it == request.query.end() ? "" : it->second;
}

std::string HeaderValue(const HttpServerRequest& request, const std::string& name) {
  const auto it = request.headers.find(name);
  return it == request.headers.end() ? "" : it->second;
}

bool IsLoopbackName(std::string_view host) {
  if (absl::EqualsIgnoreCase(ToAbsl(host), "localhost") || host == "::1" || host == "[::1]")
    return true;
  // An address, and no name that only begins like one.
  return host.starts_with("127.") &&
         host.find_first_not_of("0123456789.") == std::string_view::npos;
}

// A name that resolves to loopback is how a stranger's web page would get here as "same origin".
bool IsForeignHost(const HttpServerRequest& request) {
  const std::string header = HeaderValue(request, "host");
  if (header.empty()) return false;
  const std::string_view host = header;
  const size_t colon = host.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos;
  return !IsLoopbackName(has_port ? host.substr(0, colon) : host);
}

absl::StatusOr<Json> Body(const HttpServerRequest& request) {
  ASSIGN_OR_RETURN(Json json, Json::Parse(request.body));
  if (!json.is_object()) return absl::InvalidArgumentError("the request's body is no JSON object");
  return json;
}

absl::StatusOr<CommitRequest> CommitFromJson(const Json& json) {
  CommitRequest commit;
  if (const Json* requirements = json.Find("requirements")) commit.requirements = *requirements;
  ASSIGN_OR_RETURN(const Json* updates, json.GetArray("updates"));
  commit.updates = *updates;
  return commit;
}

// Only what a branch or tag points to, as `snapshots=refs` asks.
void KeepReferencedSnapshots(TableMetadata& metadata) {
  std::set<SnapshotId> referenced;
  for (const auto& [name, ref] : metadata.refs) referenced.insert(ref.snapshot_id);
  std::erase_if(metadata.snapshots,
                [&](const Snapshot& snapshot) { return !referenced.contains(snapshot.id); });
}

}  // namespace

RestService::RestService(CatalogServerOptions options, Catalog* catalog)
    : options_(std::move(options)), catalog_(catalog) {}

HttpServerResponse RestService::Handle(const HttpServerRequest& request) const {
  if (IsLoopbackName(options_.host) && IsForeignHost(request)) {
    return ErrorAnswer("this server is to be called 127.0.0.1 or localhost", "ForbiddenException",
                       403);
  }
  if (!request.body.empty() &&
      HeaderValue(request, "content-type").find("json") == std::string::npos) {
    return ErrorAnswer("the body must be sent as Content-Type: application/json",
                       "BadRequestException", 415);
  }
  const Answer answer = Route(request);
  return answer.ok() ? *answer : ErrorAnswer(answer.status(), Subject::kOther);
}

Answer RestService::Route(const HttpServerRequest& request) const {
  const std::optional<std::vector<std::string>> path = Segments(request.path);
  if (!path) return absl::InvalidArgumentError("the path is not well percent-encoded");
  if (path->size() < 2 || (*path)[0] != "v1") return NoSuchPath();
  const std::string& first = (*path)[1];
  if (first == "config" && path->size() == 2) {
    return request.method == "GET" ? Config() : NoSuchMethod();
  }
  if (first == "namespaces") {
    return RouteNamespaces(request, std::vector<std::string>(path->begin() + 2, path->end()));
  }
  if (path->size() != 3 || request.method != "POST") return NoSuchPath();
  if (first == "tables" && (*path)[2] == "rename") return RenameTable(request);
  if (first == "transactions" && (*path)[2] == "commit") return CommitTransaction(request);
  return NoSuchPath();
}

Answer RestService::RouteNamespaces(const HttpServerRequest& request,
                                    const std::vector<std::string>& path) const {
  const std::string& method = request.method;
  if (path.empty()) {
    const Answer answer = method == "GET"    ? ListNamespaces(request)
                          : method == "POST" ? CreateNamespace(request)
                                             : Answer(NoSuchMethod());
    return answer.ok() ? answer : ErrorAnswer(answer.status(), Subject::kNamespace);
  }
  const Namespace ns = NamespaceFromPath(path[0]);
  if (path.size() == 1) {
    const Answer answer = OneNamespace(request, ns);
    return answer.ok() ? answer : ErrorAnswer(answer.status(), Subject::kNamespace);
  }
  if (path.size() == 2 && path[1] == "properties" && method == "POST") {
    const Answer answer = ChangeNamespace(request, ns);
    return answer.ok() ? answer : ErrorAnswer(answer.status(), Subject::kNamespace);
  }
  if (path.size() == 2 && path[1] == "register" && method == "POST")
    return RegisterTable(request, ns);
  if (path[1] != "tables") return NoSuchPath();
  if (path.size() == 2) {
    if (method != "GET" && method != "POST") return NoSuchMethod();
    const Answer answer = method == "GET" ? ListTables(ns) : CreateTable(request, ns);
    // What is not found here can only be the namespace.
    if (absl::IsNotFound(answer.status())) return ErrorAnswer(answer.status(), Subject::kNamespace);
    return answer;
  }
  if (path.size() == 4 && path[3] == "metrics" && method == "POST") return Empty();
  if (path.size() != 3) return NoSuchPath();
  const Answer answer = RouteTable(request, {ns, path[2]});
  return answer.ok() ? answer : ErrorAnswer(answer.status(), Subject::kTable);
}

Answer RestService::RouteTable(const HttpServerRequest& request, const TableIdent& ident) const {
  if (request.method == "GET") return LoadTable(request, ident);
  if (request.method == "POST") return CommitTable(request, ident);
  if (request.method == "HEAD") {
    ASSIGN_OR_RETURN(const bool exists, catalog_->TableExists(ident));
    if (!exists) return absl::NotFoundError(StrCat("no table ", ident.ToString()));
    return Empty();
  }
  if (request.method == "DELETE") {
    RETURN_IF_ERROR(catalog_->DropTable(ident));
    return Empty();
  }
  return NoSuchMethod();
}

HttpServerResponse RestService::Config() const {
  Json endpoints = Json::MakeArray();
  for (const char* endpoint : kEndpoints) endpoints.Push(endpoint);
  Json body = Json::MakeObject();
  body.Set("defaults", Json::MakeObject());
  body.Set("overrides", Json::MakeObject());
  body.Set("endpoints", std::move(endpoints));
  return JsonAnswer(body);
}

Answer RestService::ListNamespaces(const HttpServerRequest& request) const {
  const std::string parent = QueryValue(request, "parent");
  ASSIGN_OR_RETURN(
      const std::vector<Namespace> namespaces,
      catalog_->ListNamespaces(parent.empty() ? Namespace{} : NamespaceFromPath(parent)));
  Json list = Json::MakeArray();
  for (const Namespace& ns : namespaces) list.Push(NamespaceToJson(ns));
  Json body = Json::MakeObject();
  body.Set("namespaces", std::move(list));
  return JsonAnswer(body);
}

Answer RestService::CreateNamespace(const HttpServerRequest& request) const {
  ASSIGN_OR_RETURN(const Json json, Body(request));
  ASSIGN_OR_RETURN(const Json* levels, json.GetArray("namespace"));
  ASSIGN_OR_RETURN(const Namespace ns, NamespaceFromJson(*levels));
  const std::map<std::string, std::string> properties = TextMapFromJson(json.Find("properties"));
  RETURN_IF_ERROR(catalog_->CreateNamespaceWith(ns, properties));
  Json body = Json::MakeObject();
  body.Set("namespace", NamespaceToJson(ns));
  body.Set("properties", TextMapToJson(properties));
  return JsonAnswer(body);
}

Answer RestService::OneNamespace(const HttpServerRequest& request, const Namespace& ns) const {
  if (request.method == "DELETE") {
    RETURN_IF_ERROR(catalog_->DropNamespace(ns));
    return Empty();
  }
  if (request.method != "GET" && request.method != "HEAD") return NoSuchMethod();
  using Properties = std::map<std::string, std::string>;
  ASSIGN_OR_RETURN(const Properties properties, catalog_->LoadNamespace(ns));
  if (request.method == "HEAD") return Empty();
  Json body = Json::MakeObject();
  body.Set("namespace", NamespaceToJson(ns));
  body.Set("properties", TextMapToJson(properties));
  return JsonAnswer(body);
}

Answer RestService::ChangeNamespace(const HttpServerRequest& request, const Namespace& ns) const {
  ASSIGN_OR_RETURN(const Json json, Body(request));
  std::vector<std::string> removals;
  if (const Json* list = json.Find("removals"); list != nullptr && !list->is_null()) {
    ASSIGN_OR_RETURN(removals, TextListFromJson(*list));
  }
  const std::map<std::string, std::string> updates = TextMapFromJson(json.Find("updates"));
  for (const std::string& key : removals) {
    if (!updates.contains(key)) continue;
    return ErrorAnswer(StrCat("property ", key, " is both removed and updated"),
                       "UnprocessableEntityException", 422);
  }
  ASSIGN_OR_RETURN(const PropertiesChange change, catalog_->ChangeNamespace(ns, removals, updates));
  Json body = Json::MakeObject();
  body.Set("updated", TextListToJson(change.updated));
  body.Set("removed", TextListToJson(change.removed));
  body.Set("missing", TextListToJson(change.missing));
  return JsonAnswer(body);
}

Answer RestService::ListTables(const Namespace& ns) const {
  ASSIGN_OR_RETURN(const std::vector<TableIdent> tables, catalog_->ListTables(ns));
  Json list = Json::MakeArray();
  for (const TableIdent& ident : tables) list.Push(IdentToJson(ident));
  Json body = Json::MakeObject();
  body.Set("identifiers", std::move(list));
  return JsonAnswer(body);
}

absl::Status RestService::CheckLocation(std::string_view location) const {
  const std::string& under = options_.locations_under;
  if (under.empty() || location.empty()) return absl::OkStatus();
  const bool inside =
      location.starts_with(under) &&
      (under.ends_with('/') || location.size() == under.size() || location[under.size()] == '/');
  const bool climbs = location.find("/../") != std::string_view::npos || location.ends_with("/..");
  if (inside && !climbs) return absl::OkStatus();
  return absl::PermissionDeniedError(
      StrCat("location ", location, " is not below this catalog's warehouse ", under));
}

absl::Status RestService::CheckLocations(const CommitRequest& commit) const {
  for (const Json& update : commit.updates.array()) {
    for (const Json* set : {update.Find("updates"), update.Find("updated")}) {
      RETURN_IF_ERROR(CheckProperties(TextMapFromJson(set)));
    }
    if (const Json* location = update.Find("location");
        location != nullptr && location->is_string()) {
      RETURN_IF_ERROR(CheckLocation(location->as_string()));
    }
  }
  return absl::OkStatus();
}

absl::Status RestService::CheckProperties(
    const std::map<std::string, std::string>& properties) const {
  const auto it = properties.find("write.metadata.path");
  return it == properties.end() ? absl::OkStatus() : CheckLocation(it->second);
}

Answer RestService::CreateTable(const HttpServerRequest& request, const Namespace& ns) const {
  ASSIGN_OR_RETURN(const Json json, Body(request));
  TableIdent ident{.ns = ns};
  ASSIGN_OR_RETURN(ident.name, json.GetString("name"));
  TableCreation creation{.properties = TextMapFromJson(json.Find("properties"))};
  ASSIGN_OR_RETURN(const Json* schema, json.GetObject("schema"));
  creation.schema = *schema;
  ASSIGN_OR_RETURN(creation.location, json.GetString("location", ""));
  RETURN_IF_ERROR(CheckLocation(creation.location));
  RETURN_IF_ERROR(CheckProperties(creation.properties));
  if (const Json* spec = json.Find("partition-spec")) creation.partition_spec = *spec;
  if (const Json* order = json.Find("write-order")) creation.sort_order = *order;
  const Json* stage = json.Find("stage-create");
  if (stage == nullptr || !stage->is_bool() || !stage->as_bool()) {
    ASSIGN_OR_RETURN(const LoadedTable made, catalog_->CreateTable(ident, creation));
    return JsonAnswer(LoadedTableToJson(made));
  }
  ASSIGN_OR_RETURN(const bool exists, catalog_->TableExists(ident));
  if (exists) return absl::AlreadyExistsError(StrCat("table ", ident.ToString(), " exists"));
  ASSIGN_OR_RETURN(const LoadedTable staged, catalog_->StageTable(ident, creation));
  return JsonAnswer(LoadedTableToJson(staged));
}

Answer RestService::RegisterTable(const HttpServerRequest& request, const Namespace& ns) const {
  ASSIGN_OR_RETURN(const Json json, Body(request));
  TableIdent ident{.ns = ns};
  ASSIGN_OR_RETURN(ident.name, json.GetString("name"));
  ASSIGN_OR_RETURN(const std::string location, json.GetString("metadata-location"));
  RETURN_IF_ERROR(CheckLocation(location));
  if (const Json* overwrite = json.Find("overwrite");
      overwrite != nullptr && *overwrite == Json(true)) {
    return absl::UnimplementedError("registering over an existing table is not offered");
  }
  ASSIGN_OR_RETURN(const LoadedTable table, catalog_->RegisterTable(ident, location));
  return JsonAnswer(LoadedTableToJson(table));
}

Answer RestService::LoadTable(const HttpServerRequest& request, const TableIdent& ident) const {
  ASSIGN_OR_RETURN(LoadedTable table, catalog_->LoadTable(ident));
  if (QueryValue(request, "snapshots") == "refs") KeepReferencedSnapshots(table.metadata);
  return JsonAnswer(LoadedTableToJson(table));
}

Answer RestService::CommitTable(const HttpServerRequest& request, const TableIdent& ident) const {
  ASSIGN_OR_RETURN(const Json json, Body(request));
  ASSIGN_OR_RETURN(const CommitRequest commit, CommitFromJson(json));
  RETURN_IF_ERROR(CheckLocations(commit));
  ASSIGN_OR_RETURN(const LoadedTable table, catalog_->CommitTable(ident, commit));
  return JsonAnswer(LoadedTableToJson(table));
}

Answer RestService::RenameTable(const HttpServerRequest& request) const {
  ASSIGN_OR_RETURN(const Json json, Body(request));
  ASSIGN_OR_RETURN(const Json* source, json.GetObject("source"));
  ASSIGN_OR_RETURN(const Json* destination, json.GetObject("destination"));
  ASSIGN_OR_RETURN(const TableIdent from, IdentFromJson(*source));
  ASSIGN_OR_RETURN(const TableIdent to, IdentFromJson(*destination));
  RETURN_IF_ERROR(catalog_->RenameTable(from, to));
  return Empty();
}

Answer RestService::CommitTransaction(const HttpServerRequest& request) const {
  ASSIGN_OR_RETURN(const Json json, Body(request));
  ASSIGN_OR_RETURN(const Json* changes, json.GetArray("table-changes"));
  std::vector<TableCommit> commits;
  for (const Json& change : changes->array()) {
    ASSIGN_OR_RETURN(const Json* ident, change.GetObject("identifier"));
    TableCommit commit;
    ASSIGN_OR_RETURN(commit.ident, IdentFromJson(*ident));
    ASSIGN_OR_RETURN(commit.request, CommitFromJson(change));
    RETURN_IF_ERROR(CheckLocations(commit.request));
    commits.push_back(std::move(commit));
  }
  RETURN_IF_ERROR(catalog_->CommitTables(commits));
  return Empty();
}

}  // namespace fjord
