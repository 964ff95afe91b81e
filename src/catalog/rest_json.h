// JSON forms and paths of the Iceberg REST protocol, for its client and its server.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/json.h"
#include "catalog/catalog.h"

namespace fjord {

// Between the levels of a namespace in a path, unless the server's configuration says otherwise.
inline constexpr std::string_view kNamespaceSeparator = "\x1f";

Json NamespaceToJson(const Namespace& ns);
absl::StatusOr<Namespace> NamespaceFromJson(const Json& json);
Json IdentToJson(const TableIdent& ident);
absl::StatusOr<TableIdent> IdentFromJson(const Json& json);
Json TextMapToJson(const std::map<std::string, std::string>& map);
// Members that are no text are left out; not an object: empty.
std::map<std::string, std::string> TextMapFromJson(const Json* json);
Json TextListToJson(const std::vector<std::string>& list);
absl::StatusOr<std::vector<std::string>> TextListFromJson(const Json& json);

// "LoadTableResult".
Json LoadedTableToJson(const LoadedTable& table);
absl::StatusOr<LoadedTable> LoadedTableFromJson(const Json& json);
// The member "storage-credentials" of "LoadTableResult" and "LoadCredentialsResponse".
absl::StatusOr<std::vector<StorageCredential>> CredentialsFromJson(const Json& json);

// "CommitTableRequest".
Json CommitToJson(const TableIdent& ident, const CommitRequest& request);

}  // namespace fjord
