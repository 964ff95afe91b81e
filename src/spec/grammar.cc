// The grammar, as a table: every key with its form, its default and a sentence about it. A key
// of a later version is listed as kNotYet, so that it gets a message of its own and is not
// taken for a typing error.
#include "spec/grammar.h"

#include "spec/units.h"

namespace fjord {
namespace {

constexpr KeyUse kRequired = KeyUse::kRequired;
constexpr KeyUse kOptional = KeyUse::kOptional;
constexpr int64_t kKiB = 1024;
constexpr int64_t kMiB = 1024 * kKiB;
constexpr int64_t kGiB = 1024 * kMiB;
constexpr int64_t kHourMs = 3'600'000;

ShapePtr Make(Shape shape) { return std::make_shared<const Shape>(std::move(shape)); }

ShapePtr Text(std::string example, std::string pattern = "") {
  return Make(
      {.kind = ShapeKind::kText, .example = std::move(example), .pattern = std::move(pattern)});
}

ShapePtr Enum(std::vector<std::string> values, std::vector<std::string> later = {}) {
  return Make(
      {.kind = ShapeKind::kEnum, .values = std::move(values), .later_values = std::move(later)});
}

ShapePtr Integer(int64_t least, int64_t most) {
  return Make({.kind = ShapeKind::kInteger, .example = "an integer", .least = least, .most = most});
}

ShapePtr Boolean() { return Make({.kind = ShapeKind::kBoolean, .example = "true or false"}); }

ShapePtr Duration(int64_t least_ms, int64_t most_ms) {
  return Make({.kind = ShapeKind::kDuration,
               .example = "a duration: an integer and ms, s, m, h or d, such as 500ms",
               .pattern = std::string(kDurationPattern),
               .least = least_ms,
               .most = most_ms});
}

ShapePtr Size(int64_t least, int64_t most) {
  return Make({.kind = ShapeKind::kSize,
               .example = "a size: an integer and B, KiB, MiB or GiB, such as 64MiB",
               .pattern = std::string(kSizePattern),
               .least = least,
               .most = most});
}

Key NotYet(std::string name) { return {std::move(name), nullptr, "", KeyUse::kNotYet}; }

ShapePtr SecretShape() {
  static const ShapePtr shape = Make({
      .kind = ShapeKind::kObject,
      .example = "{env: NAME} or {file: PATH}; a secret is never written into this file",
      .keys = {{"env", Text("the name of an environment variable", "^[A-Za-z_][A-Za-z0-9_]*$"),
                "Name of the environment variable that holds the secret."},
               {"file", Text("a path"),
                "File that holds the secret; one line break at its end is not part of it."}},
      .exactly_one_of = {"env", "file"},
  });
  return shape;
}

ShapePtr HttpUri() {
  return Text("a URL that begins with http:// or https://", "^https?://[^\\s@]+$");
}

ShapePtr SourceShape() {
  constexpr std::string_view kSlotPattern = "^[a-z0-9_]{1,63}$";
  ShapePtr postgres = Make({
      .kind = ShapeKind::kObject,
      .keys =
          {{"url",
            Text("a URL such as postgres://user@host/database", "^(postgres(ql)?://\\S+|.*=.*)$"),
            "Where the database is, as libpq takes it. The user needs the REPLICATION attribute.",
            kRequired},
           {"password", SecretShape(),
            "The password. Without it, libpq's own ways hold (PGPASSWORD, ~/.pgpass)."},
           {"slot", Text("lower-case letters, digits and underscores", std::string(kSlotPattern)),
            "Name of the replication slot. Default: fjord_ and the name of the replication."},
           {"publication",
            Text("lower-case letters, digits and underscores", std::string(kSlotPattern)),
            "Name of the publication. Default: fjord_ and the name of the replication."}},
  });
  return Make(
      {.kind = ShapeKind::kObject,
       .keys = {{"postgres", postgres, "A PostgreSQL database, version 14 or newer.", kRequired}}});
}

ShapePtr CatalogShape() {
  ShapePtr embedded = Make({
      .kind = ShapeKind::kObject,
      .keys = {{"path", Text("a folder"), "Folder that holds the catalog, catalog.db.", kRequired},
               {"name", Text("letters, digits, - and _", "^[A-Za-z0-9_-]{1,64}$"),
                "The catalog's name, as PyIceberg's SqlCatalog is given it.", kOptional, "fjord"},
               {"warehouse",
                Text("a folder or s3://bucket/prefix",
                     "^(?![A-Za-z][A-Za-z0-9+.-]*://)\\S.*$|^(s3|file)://\\S+$"),
                "Where tables are kept. Default: the catalog's folder."}},
  });
  ShapePtr rest = Make({
      .kind = ShapeKind::kObject,
      .keys = {{"uri", HttpUri(), "Address of the Iceberg REST catalog, without /v1.", kRequired},
               {"warehouse", Text("a warehouse name or location"),
                "The warehouse to ask the catalog for."},
               {"credential", SecretShape(), "OAuth2 client as client-id:client-secret."},
               {"token", SecretShape(), "A bearer token."},
               {"scope", Text("an OAuth2 scope"), "OAuth2 scope to ask for.", kOptional, "catalog"},
               {"oauth2Uri", HttpUri(),
                "Where tokens come from. Default: the catalog's own /v1/oauth/tokens."}},
      .exclusions = {{"credential", "token"}},
      .needs = {{"scope", "credential"}, {"oauth2Uri", "credential"}},
  });
  return Make({
      .kind = ShapeKind::kObject,
      .keys = {{"embedded", embedded, "A catalog in a local SQLite file; nothing to install."},
               {"rest", rest, "An Iceberg REST catalog."}},
      .exactly_one_of = {"embedded", "rest"},
  });
}

ShapePtr StorageShape() {
  ShapePtr credential = Make({
      .kind = ShapeKind::kObject,
      .keys = {{"accessKeyId", SecretShape(), "The access key id.", kRequired},
               {"secretAccessKey", SecretShape(), "The secret access key.", kRequired},
               {"sessionToken", SecretShape(), "The session token of temporary keys."}},
  });
  ShapePtr s3 = Make({
      .kind = ShapeKind::kObject,
      .keys = {{"endpoint", HttpUri(), "Address of an S3 server that is not Amazon's."},
               {"region", Text("a region such as eu-central-1", "^[A-Za-z0-9-]+$"), "The region."},
               {"pathStyle", Boolean(), "Bucket in the path and not in the host name.", kOptional,
                "false"},
               {"credential", credential,
                "Static keys. Without them: what the catalog hands out, else the AWS_ variables."}},
  });
  return Make(
      {.kind = ShapeKind::kObject,
       .keys = {{"s3", s3, "An S3 object store.", kRequired}, NotYet("gcs"), NotYet("azure")}});
}

ShapePtr LakeShape() {
  return Make({
      .kind = ShapeKind::kObject,
      .keys = {{"catalog", CatalogShape(), "The Iceberg catalog that knows the tables.", kRequired},
               {"storage", StorageShape(),
                "How the warehouse is reached when it is no local folder."},
               {"formatVersion",
                Make({.kind = ShapeKind::kInteger,
                      .example = "2",
                      .values = {"2"},
                      .later_values = {"3"}}),
                "Iceberg format version of the tables that are made.", kOptional, "2"}},
  });
}

// The keys of `tableDefaults`, which each table may have too.
std::vector<Key> PolicyKeys() {
  return {{"onDivergence", Enum({"block", "repair"}),
           "When source and lake disagree about which keys exist: block the table, or write what "
           "the source has.",
           kOptional, "block"},
          {"onUnrepresentable", Enum({"block", "null", "text"}),
           "When a value does not fit the Iceberg type (infinity, NaN in numeric): block the "
           "table, write null, "
           "or make the column text.",
           kOptional, "block"},
          {"externalWrites", Enum({"block", "accept"}),
           "When somebody else changed rows of the lake table: block the table, or take them over.",
           kOptional, "block"},
          {"arrays", Enum({"text"}, {"list"}),
           "How one-dimensional arrays are kept: exact JSON text.", kOptional, "text"}};
}

ShapePtr TableShape() {
  // Two parts; a part is plain text, or anything in double quotes.
  const std::string part = "(\"([^\"]|\"\")+\"|[^\"\\s.]+)+";
  ShapePtr name =
      Text("schema.table, such as public.orders or inventory.*", "^" + part + "\\." + part + "$");
  std::vector<Key> keys = {
      {"source", name, "The PostgreSQL table, or a pattern with *.", kRequired},
      {"target", name, "The Iceberg namespace and table. Default: the same as the source."},
      {"appendOnly", Boolean(), "The table is only ever inserted into; it needs no key.", kOptional,
       "false"}};
  for (Key& key : PolicyKeys()) keys.push_back(std::move(key));
  keys.push_back(NotYet("partitionBy"));
  keys.push_back(NotYet("onPartitionDrop"));
  return Make({.kind = ShapeKind::kTextOrObject,
               .example = "schema.table or a mapping with source",
               .text = name,
               .object = Make({.kind = ShapeKind::kObject, .keys = std::move(keys)})});
}

ShapePtr PublishShape() {
  return Make({
      .kind = ShapeKind::kObject,
      .keys = {{"every", Duration(10, 24 * kHourMs), "The longest time that a change waits.",
                kOptional, "500ms"},
               {"rows", Integer(1, 100'000'000), "Changes of one table that are enough.", kOptional,
                "20000"},
               {"bytes", Size(64 * kKiB, 16 * kGiB), "Bytes of one table that are enough.",
                kOptional, "64MiB"},
               NotYet("atomic")},
  });
}

ShapePtr SnapshotsShape() {
  return Make({
      .kind = ShapeKind::kObject,
      .keys = {{"keep", Duration(0, 3650 * 24 * kHourMs), "How long snapshots stay readable.",
                kOptional, "1h"},
               {"atLeast", Integer(1, 100'000), "Snapshots that stay however old they are.",
                kOptional, "20"},
               {"atMost", Integer(2, 100'000),
                "Snapshots at most; beyond it they are thinned evenly over `keep`.", kOptional,
                "200"}},
  });
}

ShapePtr ReplicationShape() {
  return Make({
      .kind = ShapeKind::kObject,
      .keys = {{"source", SourceShape(), "Where rows come from.", kRequired},
               {"lake", LakeShape(), "Where rows go to.", kRequired},
               {"tables",
                Make({.kind = ShapeKind::kList,
                      .example = "a list of tables",
                      .least = 1,
                      .item = TableShape()}),
                "The tables: names, patterns, or mappings.", kRequired},
               {"publish", PublishShape(),
                "When changes become a snapshot: at the first limit that is reached."},
               {"snapshots", SnapshotsShape(), "Which snapshots are kept."},
               {"tableDefaults", Make({.kind = ShapeKind::kObject, .keys = PolicyKeys()}),
                "What holds for each table that does not say otherwise."},
               {"memory", Size(64 * kMiB, 1024 * kGiB),
                "Memory for buffers, caches and indexes together.", kOptional, "256MiB"},
               {"workers", Integer(1, 256),
                "Threads that read, write and publish. Default: one per core."},
               NotYet("maxRetainedWal"),
               NotYet("maintain")},
  });
}

Shape MakeConfigGrammar() {
  ShapePtr server = Make({
      .kind = ShapeKind::kObject,
      .keys = {{"listen",
                Text("host:port, such as 127.0.0.1:8080",
                     "^(\\[[0-9A-Fa-f:.]+\\]|[^\\s:\\[\\]]+):[0-9]{1,5}$"),
                "Address for /healthz, /readyz and /metrics. Port 0 takes a free one.", kRequired}},
  });
  Shape root = {
      .kind = ShapeKind::kObject,
      .keys = {{"replications",
                Make({.kind = ShapeKind::kMap,
                      .example = "a mapping from names to replications",
                      .least = 1,
                      .name_pattern = "^[a-z][a-z0-9_]{0,39}$",
                      .name_rule = "a name is a lower-case letter and up to 39 more letters, "
                                   "digits or underscores",
                      .item = ReplicationShape()}),
                "PostgreSQL databases whose tables are kept in a lake.", kRequired},
               {"server", server, "Health and metrics over HTTP; off when absent."},
               {"stateDir", Text("a folder"), "Cache of replication; may be deleted at any time.",
                kOptional, "./.fjord/state"},
               {"dataDir", Text("a folder"), "Journals and task state: data, not a cache.",
                kOptional, "./.fjord/data"}}};
  for (const char* section :
       {"captures", "collections", "materializations", "tests", "storageMappings", "import"}) {
    root.keys.push_back(NotYet(section));
  }
  return root;
}

}  // namespace

const Shape& ConfigGrammar() {
  static const Shape* const grammar = new Shape(MakeConfigGrammar());
  return *grammar;
}

}  // namespace fjord
