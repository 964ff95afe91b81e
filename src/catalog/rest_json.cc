#include "catalog/rest_json.h"

#include "base/status.h"
#include "base/strings.h"

namespace fjord {

Json TextListToJson(const std::vector<std::string>& list) {
  Json json = Json::MakeArray();
  for (const std::string& item : list) json.Push(item);
  return json;
}

absl::StatusOr<std::vector<std::string>> TextListFromJson(const Json& json) {
  if (!json.is_array()) return absl::InvalidArgumentError("not an array of texts");
  std::vector<std::string> list;
  for (const Json& item : json.array()) {
    if (!item.is_string()) return absl::InvalidArgumentError("not an array of texts");
    list.push_back(item.as_string());
  }
  return list;
}

Json NamespaceToJson(const Namespace& ns) { return TextListToJson(ns); }

absl::StatusOr<Namespace> NamespaceFromJson(const Json& json) {
  const absl::StatusOr<Namespace> ns = TextListFromJson(json);
  if (!ns.ok()) return Annotate(ns.status(), "namespace");
  return ns;
}

Json IdentToJson(const TableIdent& ident) {
  Json json = Json::MakeObject();
  json.Set("namespace", NamespaceToJson(ident.ns));
  json.Set("name", ident.name);
  return json;
}

absl::StatusOr<TableIdent> IdentFromJson(const Json& json) {
  TableIdent ident;
  ASSIGN_OR_RETURN(const Json* ns, json.GetArray("namespace"));
  ASSIGN_OR_RETURN(ident.ns, NamespaceFromJson(*ns));
  ASSIGN_OR_RETURN(ident.name, json.GetString("name"));
  return ident;
}

Json TextMapToJson(const std::map<std::string, std::string>& map) {
  Json json = Json::MakeObject();
  for (const auto& [name, value] : map) json.Set(name, value);
  return json;
}

std::map<std::string, std::string> TextMapFromJson(const Json* json) {
  std::map<std::string, std::string> map;
  if (json == nullptr || !json->is_object()) return map;
  for (const auto& [name, value] : json->object()) {
    if (value.is_string()) map[name] = value.as_string();
  }
  return map;
}

Json LoadedTableToJson(const LoadedTable& table) {
  Json json = Json::MakeObject();
  if (!table.metadata_location.empty()) json.Set("metadata-location", table.metadata_location);
  json.Set("metadata", MetadataToJson(table.metadata));
  json.Set("config", TextMapToJson(table.storage.config));
  if (table.storage.credentials.empty()) return json;
  Json credentials = Json::MakeArray();
  for (const StorageCredential& credential : table.storage.credentials) {
    Json item = Json::MakeObject();
    item.Set("prefix", credential.prefix);
    item.Set("config", TextMapToJson(credential.config));
    credentials.Push(std::move(item));
  }
  json.Set("storage-credentials", std::move(credentials));
  return json;
}

absl::StatusOr<LoadedTable> LoadedTableFromJson(const Json& json) {
  LoadedTable table;
  ASSIGN_OR_RETURN(const Json* metadata, json.GetObject("metadata"));
  ASSIGN_OR_RETURN(table.metadata, MetadataFromJson(*metadata));
  ASSIGN_OR_RETURN(table.metadata_location, json.GetString("metadata-location", ""));
  table.storage.config = TextMapFromJson(json.Find("config"));
  ASSIGN_OR_RETURN(table.storage.credentials, CredentialsFromJson(json));
  return table;
}

absl::StatusOr<std::vector<StorageCredential>> CredentialsFromJson(const Json& json) {
  std::vector<StorageCredential> credentials;
  const Json* list = json.Find("storage-credentials");
  if (list == nullptr || !list->is_array()) return credentials;
  for (const Json& item : list->array()) {
    ASSIGN_OR_RETURN(std::string prefix, item.GetString("prefix", ""));
    credentials.push_back({std::move(prefix), TextMapFromJson(item.Find("config"))});
  }
  return credentials;
}

Json CommitToJson(const TableIdent& ident, const CommitRequest& request) {
  Json json = Json::MakeObject();
  json.Set("identifier", IdentToJson(ident));
  json.Set("requirements", request.requirements);
  json.Set("updates", request.updates);
  return json;
}

}  // namespace fjord
