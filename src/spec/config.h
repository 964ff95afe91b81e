// What a configuration file says, as plain values (docs/guide.md has the grammar in words;
// spec/grammar.cc is the grammar itself).
//
// A Config that LoadConfig returned is complete and consistent: defaults are filled in, relative
// paths start at the folder of the file, each table entry carries its effective policy. Immutable
// after loading; free to share.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/secret.h"

namespace fjord {

// 1-based. {0, 0} is "nowhere in particular".
struct SourcePosition {
  int line = 0;
  int column = 0;
  friend bool operator==(const SourcePosition&, const SourcePosition&) = default;
};

// source.postgres
struct PostgresSource {
  std::string url;  // a URL or keyword text as libpq takes it; may hold a password: RedactPasswords
  std::optional<SecretSource> password;  // absent: libpq's own ways (.pgpass, PGPASSWORD, none)
  std::string slot;                      // default: fjord_<replication>
  std::string publication;               // default: fjord_<replication>
  SourcePosition at;
};

// lake.catalog.embedded
struct EmbeddedCatalogConfig {
  std::string path;            // folder, absolute; holds catalog.db
  std::string name = "fjord";  // catalog_name of every row
  std::string warehouse;       // absolute folder or s3://bucket/prefix; default: path
};

// lake.catalog.rest
struct RestCatalogConfig {
  std::string uri;
  std::string warehouse;                   // may be empty
  std::optional<SecretSource> credential;  // "client-id:client-secret" for OAuth2
  std::optional<SecretSource> token;       // bearer token; excludes credential
  std::string scope;                       // OAuth2 scope; empty: "catalog"
  std::string oauth2_uri;                  // empty: <uri>/v1/oauth/tokens
};

// lake.storage.s3.credential
struct S3Credential {
  SecretSource access_key_id;
  SecretSource secret_access_key;
  std::optional<SecretSource> session_token;
};

// lake.storage.s3. What it does not say comes from the catalog, then from the environment.
struct S3Config {
  std::string endpoint;            // else Amazon's; "http://127.0.0.1:9000" or "https://…"
  std::string region;              // else us-east-1
  std::optional<bool> path_style;  // else false
  std::optional<S3Credential> credential;
};

struct Lake {
  std::variant<EmbeddedCatalogConfig, RestCatalogConfig> catalog;
  std::optional<S3Config> s3;
  int format_version = 2;
  SourcePosition at;
};

// An update or delete of a key that the lake does not have, or an insert of one that it has.
enum class OnDivergence { kBlock, kRepair };
// A value that the native Iceberg type cannot hold ("infinity", NaN in numeric, …).
enum class OnUnrepresentable { kBlock, kNull, kText };
// A logical change of the lake table by somebody else.
enum class ExternalWrites { kBlock, kAccept };
// How one-dimensional arrays are kept.
enum class ArrayForm { kText, kList };

struct TablePolicy {
  OnDivergence on_divergence = OnDivergence::kBlock;
  OnUnrepresentable on_unrepresentable = OnUnrepresentable::kBlock;
  ExternalWrites external_writes = ExternalWrites::kBlock;
  ArrayForm arrays = ArrayForm::kText;
  friend bool operator==(const TablePolicy&, const TablePolicy&) = default;
};

// "public.orders", "inventory.*", `"My schema"."a.b"`: two parts, taken as the catalogue has them
// (no folding to lower case). `*` outside quotes stands for any text.
struct TableSelector {
  // One part: literal pieces with "any text" between them; one piece means no wildcard.
  struct Part {
    std::vector<std::string> pieces;
    bool is_wildcard() const { return pieces.size() > 1; }
    bool Matches(std::string_view name) const;
    friend bool operator==(const Part&, const Part&) = default;
  };
  Part schema;
  Part name;

  bool is_wildcard() const { return schema.is_wildcard() || name.is_wildcard(); }
  bool Matches(std::string_view schema_name, std::string_view table_name) const;
  // Text that parses to the same selector, with quotes where they are needed.
  std::string ToString() const;
  friend bool operator==(const TableSelector&, const TableSelector&) = default;
};
absl::StatusOr<TableSelector> ParseTableSelector(std::string_view text);

// Schema (or namespace) and name of one table.
struct TableName {
  std::string schema;
  std::string name;
  std::string ToString() const;  // quoted as TableSelector::ToString does
  friend auto operator<=>(const TableName&, const TableName&) = default;
};

// One entry of `tables`.
struct TableEntry {
  TableSelector source;
  // Where the tables go. Without one: the same schema and name. With a wildcard
  // source it is "namespace.*".
  std::optional<TableSelector> target;
  bool append_only = false;
  TablePolicy policy;
  SourcePosition at;

  // The target of one table that `source` matches.
  TableName TargetOf(const TableName& table) const;
};

// The entry that holds for a source table: an exact one before a wildcard one, then
// the first in the file.
const TableEntry* FindTableEntry(const std::vector<TableEntry>& entries, const TableName& table);

struct PublishThresholds {
  absl::Duration every = absl::Milliseconds(500);
  int64_t rows = 20'000;
  int64_t bytes = int64_t{64} << 20;
};

// Which of its own snapshots a table keeps.
struct SnapshotRetention {
  absl::Duration keep = absl::Hours(1);
  int64_t at_least = 20;
  int64_t at_most = 200;
};

struct Replication {
  std::string name;
  PostgresSource source;
  Lake lake;
  std::vector<TableEntry> tables;  // at least one
  PublishThresholds publish;
  SnapshotRetention snapshots;
  TablePolicy table_defaults;  // already merged into `tables`
  int64_t memory_bytes_max = int64_t{256} << 20;
  int workers = 0;  // 0: one for each processor core
  SourcePosition at;
};

// server
struct ServerConfig {
  std::string host;  // "127.0.0.1"
  int port = 0;
};

struct Config {
  std::string file;  // as it was named
  std::map<std::string, Replication> replications;
  std::optional<ServerConfig> server;
  std::string state_dir;  // absolute; a cache
  std::string data_dir;   // absolute; data
};

// Reads a file. kNotFound when there is none; kInvalidArgument with every problem, one a line, each
// "file:line:column: path.to.key: what is wrong", in the order of the file.
absl::StatusOr<Config> LoadConfig(const std::string& file);
// The same for `fjord discover`: a replication may lack `tables`, and then has
// the one pattern "*.*".
absl::StatusOr<Config> LoadConfigForDiscovery(const std::string& file);
// LoadConfig of a text. `file` names it in messages, and relative paths start at its folder.
absl::StatusOr<Config> ParseConfig(std::string_view text, const std::string& file);

}  // namespace fjord
