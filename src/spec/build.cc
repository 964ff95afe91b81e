#include "spec/build.h"

#include <filesystem>
#include <set>

#include "base/strings.h"
#include "spec/units.h"

namespace fjord {
namespace {

// Typed access to the members of one node. Whatever is absent or of another form reads as the
// default: the checker has reported it.
class Reader {
 public:
  explicit Reader(const YamlNode* node) : node_(node) {}

  Reader operator[](std::string_view name) const {
    return Reader(node_ == nullptr ? nullptr : node_->Find(name));
  }
  bool exists() const { return node_ != nullptr; }
  const YamlNode* node() const { return node_; }
  SourcePosition at() const { return node_ == nullptr ? SourcePosition() : node_->at; }

  std::string Text(std::string_view absent = "") const {
    return std::string(exists() ? std::string_view(node_->text) : absent);
  }
  int64_t Integer(int64_t absent) const { return ParseInt<int64_t>(Text()).value_or(absent); }
  int64_t Bytes(int64_t absent) const { return ParseSize(Text()).value_or(absent); }
  absl::Duration Duration(absl::Duration absent) const {
    return ParseDuration(Text()).value_or(absent);
  }
  bool IsTrue() const {
    return exists() && node_->kind == YamlKind::kBoolean &&
           (node_->text[0] == 't' || node_->text[0] == 'T');
  }

 private:
  const YamlNode* node_;
};

class Builder {
 public:
  explicit Builder(const std::string& file) {
    std::error_code error;
    folder_ = std::filesystem::absolute(file, error).parent_path();
    config_.file = file;
  }

  BuildResult Build(const YamlNode& root) {
    const Reader top(&root);
    config_.state_dir = Path(top["stateDir"].Text("./.fjord/state"));
    config_.data_dir = Path(top["dataDir"].Text("./.fjord/data"));
    if (config_.state_dir == config_.data_dir) {
      Add(top["dataDir"].at(), "dataDir",
          "it is the same folder as stateDir, which may be deleted at any time");
    }
    BuildServer(top["server"]["listen"]);
    const Reader replications = top["replications"];
    if (replications.exists()) {
      for (const YamlMember& member : replications.node()->members) {
        config_.replications.try_emplace(member.key, BuildReplication(member));
      }
    }
    CheckAcross();
    return {std::move(config_), std::move(problems_)};
  }

 private:
  void Add(SourcePosition at, std::string path, std::string what) {
    problems_.push_back({at, std::move(path), std::move(what)});
  }

  // An absolute path; a relative one starts at the folder of the configuration file.
  std::string Path(const std::string& path) const {
    std::filesystem::path full = (folder_ / path).lexically_normal();
    if (!full.has_filename() && full.has_parent_path()) full = full.parent_path();
    return full.string();
  }

  std::string Location(const std::string& text) const {
    constexpr std::string_view kFile = "file://";
    if (text.starts_with("s3://"))
      return text.ends_with('/') ? text.substr(0, text.size() - 1) : text;
    return Path(text.starts_with(kFile) ? text.substr(kFile.size()) : text);
  }

  std::optional<SecretSource> BuildSecret(const Reader& secret) const {
    if (secret["env"].exists()) return SecretSource::Environment(secret["env"].Text());
    if (secret["file"].exists()) return SecretSource::File(Path(secret["file"].Text()));
    return std::nullopt;
  }

  void BuildServer(const Reader& listen) {
    if (!listen.exists()) return;
    const std::string text = listen.Text();
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos) return;
    const std::optional<int> port = ParseInt<int>(text.substr(colon + 1));
    if (!port.has_value() || *port > 65535) {
      return Add(listen.at(), "server.listen", "a port is a number from 0 to 65535");
    }
    std::string host = text.substr(0, colon);
    if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
    config_.server = ServerConfig{std::move(host), *port};
  }

  Replication BuildReplication(const YamlMember& member) {
    Replication out;
    const Reader from(&member.value);
    path_ = StrCat("replications.", member.key);
    out.name = member.key;
    out.at = member.at;
    out.source = BuildSource(from["source"]["postgres"], out.name);
    out.lake = BuildLake(from["lake"]);
    out.publish.every = from["publish"]["every"].Duration(out.publish.every);
    out.publish.rows = from["publish"]["rows"].Integer(out.publish.rows);
    out.publish.bytes = from["publish"]["bytes"].Bytes(out.publish.bytes);
    BuildSnapshots(from["snapshots"], out.snapshots);
    out.table_defaults = BuildPolicy(from["tableDefaults"], TablePolicy());
    out.memory_bytes_max = from["memory"].Bytes(out.memory_bytes_max);
    out.workers = static_cast<int>(from["workers"].Integer(0));
    BuildTables(from["tables"], out);
    return out;
  }

  PostgresSource BuildSource(const Reader& from, const std::string& name) {
    PostgresSource out;
    out.url = from["url"].Text();
    out.at = from["url"].at();
    out.password = BuildSecret(from["password"]);
    out.slot = from["slot"].Text(StrCat("fjord_", name));
    out.publication = from["publication"].Text(StrCat("fjord_", name));
    if (out.password.has_value() && RedactPasswords(out.url) != out.url) {
      Add(from["password"].at(), StrCat(path_, ".source.postgres"),
          "the url holds a password already: keep one of the two, best the key \"password\"");
    }
    return out;
  }

  Lake BuildLake(const Reader& from) {
    Lake out;
    out.at = from.at();
    if (from["storage"]["s3"].exists()) out.s3 = BuildS3(from["storage"]["s3"]);
    if (from["catalog"]["rest"].exists()) {
      out.catalog = BuildRest(from["catalog"]["rest"]);
      return out;
    }
    EmbeddedCatalogConfig embedded = BuildEmbedded(from["catalog"]["embedded"]);
    if (out.s3.has_value() && !embedded.warehouse.starts_with("s3://")) {
      Add(from["storage"]["s3"].at(), StrCat(path_, ".lake.storage.s3"),
          "it does nothing, since the warehouse is a local folder: add `warehouse: "
          "s3://bucket/prefix` to the catalog");
    }
    out.catalog = std::move(embedded);
    return out;
  }

  EmbeddedCatalogConfig BuildEmbedded(const Reader& from) const {
    EmbeddedCatalogConfig out;
    out.path = Path(from["path"].Text("."));
    out.name = from["name"].Text(out.name);
    out.warehouse = from["warehouse"].exists() ? Location(from["warehouse"].Text()) : out.path;
    return out;
  }

  RestCatalogConfig BuildRest(const Reader& from) const {
    RestCatalogConfig out;
    out.uri = from["uri"].Text();
    while (out.uri.ends_with('/')) out.uri.pop_back();
    out.warehouse = from["warehouse"].Text();
    out.credential = BuildSecret(from["credential"]);
    out.token = BuildSecret(from["token"]);
    out.scope = from["scope"].Text();
    out.oauth2_uri = from["oauth2Uri"].Text();
    return out;
  }

  S3Config BuildS3(const Reader& from) const {
    S3Config out;
    out.endpoint = from["endpoint"].Text();
    out.region = from["region"].Text();
    if (from["pathStyle"].exists()) out.path_style = from["pathStyle"].IsTrue();
    const Reader credential = from["credential"];
    std::optional<SecretSource> id = BuildSecret(credential["accessKeyId"]);
    std::optional<SecretSource> key = BuildSecret(credential["secretAccessKey"]);
    if (id.has_value() && key.has_value()) {
      out.credential =
          S3Credential{*std::move(id), *std::move(key), BuildSecret(credential["sessionToken"])};
    }
    return out;
  }

  void BuildSnapshots(const Reader& from, SnapshotRetention& out) {
    out.keep = from["keep"].Duration(out.keep);
    out.at_least = from["atLeast"].Integer(out.at_least);
    out.at_most = from["atMost"].Integer(out.at_most);
    if (from.exists() && out.at_least > out.at_most) {
      Add(from.at(), StrCat(path_, ".snapshots"),
          StrCat("atLeast (", out.at_least, ") is above atMost (", out.at_most, ")"));
    }
  }

  static TablePolicy BuildPolicy(const Reader& from, TablePolicy out) {
    if (const Reader key = from["onDivergence"]; key.exists()) {
      out.on_divergence = key.Text() == "repair" ? OnDivergence::kRepair : OnDivergence::kBlock;
    }
    if (const Reader key = from["onUnrepresentable"]; key.exists()) {
      out.on_unrepresentable = key.Text() == "null"   ? OnUnrepresentable::kNull
                               : key.Text() == "text" ? OnUnrepresentable::kText
                                                      : OnUnrepresentable::kBlock;
    }
    if (const Reader key = from["externalWrites"]; key.exists()) {
      out.external_writes =
          key.Text() == "accept" ? ExternalWrites::kAccept : ExternalWrites::kBlock;
    }
    return out;  // `arrays` has one value so far
  }

  void BuildTables(const Reader& from, Replication& out) {
    if (!from.exists()) return;
    std::set<std::string> sources;
    std::set<std::string> targets;
    for (size_t i = 0; i < from.node()->items.size(); ++i) {
      const YamlNode& item = from.node()->items[i];
      const std::string path = StrCat(path_, ".tables[", i, "]");
      std::optional<TableEntry> entry = BuildTable(item, path, out.table_defaults);
      if (!entry.has_value()) continue;
      if (!sources.insert(entry->source.ToString()).second) {
        Add(item.at, path, StrCat(entry->source.ToString(), " is in the list already"));
      }
      const TableSelector& target = entry->target.has_value() ? *entry->target : entry->source;
      if (!target.is_wildcard() && !targets.insert(target.ToString()).second) {
        Add(item.at, path, StrCat("another table has the target ", target.ToString(), " already"));
      }
      out.tables.push_back(*std::move(entry));
    }
  }

  std::optional<TableEntry> BuildTable(const YamlNode& item, const std::string& path,
                                       const TablePolicy& defaults) {
    TableEntry entry;
    entry.at = item.at;
    const Reader from(&item);
    const bool is_map = item.kind == YamlKind::kMap;
    auto source = ParseTableSelector(is_map ? from["source"].Text() : item.text);
    if (!source.ok()) return std::nullopt;
    entry.source = *std::move(source);
    entry.append_only = from["appendOnly"].IsTrue();
    entry.policy = BuildPolicy(from, defaults);
    if (from["target"].exists()) {
      auto target = ParseTableSelector(from["target"].Text());
      if (!target.ok()) return std::nullopt;
      CheckTarget(entry.source, *target, from["target"].at(), path + ".target");
      entry.target = *std::move(target);
    }
    return entry;
  }

  void CheckTarget(const TableSelector& source, const TableSelector& target, SourcePosition at,
                   std::string path) {
    const bool keeps_names = target.name.pieces == std::vector<std::string>{"", ""};
    if (!source.is_wildcard()) {
      if (target.is_wildcard())
        Add(at, std::move(path), "a pattern is not possible for the target of one table");
    } else if (target.schema.is_wildcard() || !keeps_names) {
      Add(at, std::move(path), "the source is a pattern, so the target has to be namespace.*");
    } else if (source.schema.is_wildcard()) {
      Add(at, std::move(path),
          "tables of several schemas could meet in one target: name the schema in the source");
    }
  }

  // Two replications must not share a slot or a target.
  void CheckAcross() {
    std::set<std::string> slots;
    std::set<std::string> targets;
    for (const auto& [name, replication] : config_.replications) {
      const std::string path = StrCat("replications.", name);
      const std::string slot = StrCat(replication.source.url, " ", replication.source.slot);
      if (!replication.source.url.empty() && !slots.insert(slot).second) {
        Add(replication.at, path,
            StrCat("another replication uses the slot ", replication.source.slot,
                   " of this database"));
      }
      for (const TableEntry& entry : replication.tables) {
        const TableSelector& target = entry.target.has_value() ? *entry.target : entry.source;
        const std::string place = StrCat(CatalogIdentity(replication.lake), " ", target.ToString());
        // Within one replication BuildTables has said it.
        const std::string own = StrCat(place, " ", name);
        const bool others = targets.contains(place) && !targets.contains(own);
        if (others)
          Add(entry.at, path,
              StrCat("another replication writes to the target ", target.ToString(),
                     " of this catalog"));
        targets.insert(place);
        targets.insert(own);
      }
    }
  }

  static std::string CatalogIdentity(const Lake& lake) {
    if (const auto* rest = std::get_if<RestCatalogConfig>(&lake.catalog)) {
      return StrCat(rest->uri, " ", rest->warehouse);
    }
    const auto& embedded = std::get<EmbeddedCatalogConfig>(lake.catalog);
    return StrCat(embedded.path, " ", embedded.name);
  }

  std::filesystem::path folder_;
  std::string path_;  // of the replication that is being built
  Config config_;
  Problems problems_;
};

}  // namespace

BuildResult BuildConfig(const YamlNode& root, const std::string& file) {
  return Builder(file).Build(root);
}

}  // namespace fjord
