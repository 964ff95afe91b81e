#include "catalog/catalog.h"

#include "base/strings.h"

namespace fjord {
namespace {

absl::Status NotOffered(std::string_view what) {
  return absl::UnimplementedError(StrCat("this catalog does not offer: ", what));
}

}  // namespace

std::string TableIdent::ToString() const { return StrCat(Join(ns, "."), ".", name); }

std::map<std::string, std::string> TableStorage::ConfigFor(std::string_view location) const {
  const StorageCredential* nearest = nullptr;
  for (const StorageCredential& credential : credentials) {
    if (!location.starts_with(credential.prefix)) continue;
    if (nearest == nullptr || credential.prefix.size() > nearest->prefix.size())
      nearest = &credential;
  }
  std::map<std::string, std::string> merged = config;
  if (nearest != nullptr) {
    for (const auto& [name, value] : nearest->config) merged[name] = value;
  }
  return merged;
}

absl::StatusOr<std::vector<StorageCredential>> Catalog::LoadCredentials(const TableIdent&) {
  return NotOffered("credentials without their table");
}

absl::StatusOr<bool> Catalog::TableExists(const TableIdent& ident) {
  const absl::Status status = LoadTable(ident).status();
  if (absl::IsNotFound(status)) return false;
  if (!status.ok()) return status;
  return true;
}

absl::Status Catalog::CommitTables(const std::vector<TableCommit>&) {
  return NotOffered("commits of several tables");
}
absl::StatusOr<LoadedTable> Catalog::StageTable(const TableIdent&, const TableCreation&) {
  return NotOffered("staged tables");
}
absl::StatusOr<LoadedTable> Catalog::RegisterTable(const TableIdent&, const std::string&) {
  return NotOffered("registering a table");
}
absl::Status Catalog::RenameTable(const TableIdent&, const TableIdent&) {
  return NotOffered("renaming a table");
}
absl::StatusOr<std::map<std::string, std::string>> Catalog::LoadNamespace(const Namespace&) {
  return NotOffered("properties of a namespace");
}
absl::Status Catalog::CreateNamespaceWith(const Namespace&,
                                          const std::map<std::string, std::string>&) {
  return NotOffered("a namespace with properties");
}
absl::StatusOr<PropertiesChange> Catalog::ChangeNamespace(
    const Namespace&, const std::vector<std::string>&, const std::map<std::string, std::string>&) {
  return NotOffered("changing a namespace");
}
absl::Status Catalog::DropNamespace(const Namespace&) { return NotOffered("dropping a namespace"); }

}  // namespace fjord
