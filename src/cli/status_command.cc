#include "cli/status_command.h"

#include <fstream>
#include <iostream>
#include <sstream>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "base/json.h"
#include "base/status.h"
#include "base/strings.h"
#include "cli/assemble.h"
#include "cli/status_file.h"
#include "postgres/slot.h"
#include "replicate/control.h"

namespace fjord {
namespace {

// A running process writes its status twice a second.
constexpr int64_t kFreshMs = 5'000;
// Shares of the source's limits from which `status` warns.
constexpr int64_t kRetainedWarnBytes = int64_t{1} << 30;
constexpr int64_t kXminWarnAge = 10'000'000;

std::optional<Json> ReadLive(const Config& config, const std::string& replication) {
  std::ifstream in(StatusFile(config, replication));
  if (!in) return std::nullopt;
  std::stringstream text;
  text << in.rdbuf();
  absl::StatusOr<Json> json = Json::Parse(text.str());
  if (!json.ok()) return std::nullopt;
  const absl::StatusOr<int64_t> time = json->GetInt("time_ms");
  if (!time.ok() || absl::ToUnixMillis(absl::Now()) - *time > kFreshMs) return std::nullopt;
  json->Set("running", true);
  return *std::move(json);
}

// Nobody runs: what the lake says.
absl::StatusOr<Json> ReadFromLake(const Replication& replication) {
  Json json = Json::MakeObject();
  json.Set("replication", replication.name);
  json.Set("running", false);
  json.Set("ready", false);
  Json tables = Json::MakeArray();
  ASSIGN_OR_RETURN(const LakeHandle lake, OpenLakeForReading(replication));
  std::optional<ControlRecord> record;
  if (lake.catalog != nullptr) {
    ASSIGN_OR_RETURN(record, ReadControlRecord(*lake.catalog, replication.name));
  }
  if (record) {
    json.Set("confirmed_lsn", FormatLsn(record->position));
    for (const auto& [name, table] : record->tables) {
      Json item = Json::MakeObject();
      item.Set("source", name);
      item.Set("state", table.state == "streaming" ? "stopped" : std::string_view(table.state));
      if (!table.reason.empty()) item.Set("reason", table.reason);
      tables.Push(std::move(item));
    }
  }
  json.Set("tables", std::move(tables));
  return json;
}

// What the source holds for us; left out when it cannot be asked.
void AddSlot(const Replication& replication, Json& json) {
  absl::StatusOr<ConnectionOptions> options = SourceConnection(replication);
  if (!options.ok()) return;
  const absl::StatusOr<std::unique_ptr<Connection>> session = Connection::Open(*options);
  if (!session.ok()) {
    json.Set("source_error", Message(session.status()));
    return;
  }
  const absl::StatusOr<std::optional<SlotState>> slot =
      ReadSlot(**session, replication.source.slot);
  if (!slot.ok() || !slot->has_value()) return;
  const SlotState& state = **slot;
  Json item = Json::MakeObject();
  item.Set("name", state.name);
  item.Set("wal_status", state.wal_status);
  item.Set("retained_wal_bytes", state.retained_wal_bytes);
  item.Set("catalog_xmin_age", state.catalog_xmin_age);
  if (state.safe_wal_bytes) item.Set("safe_wal_bytes", *state.safe_wal_bytes);
  Json warnings = Json::MakeArray();
  if (state.retained_wal_bytes > kRetainedWarnBytes) {
    warnings.Push(
        StrCat("the source keeps ", state.retained_wal_bytes >> 20, " MiB of WAL for this slot"));
  }
  if (state.catalog_xmin_age > kXminWarnAge) {
    warnings.Push(StrCat("the slot holds back vacuum of the catalogue by ", state.catalog_xmin_age,
                         " transactions"));
  }
  item.Set("warnings", std::move(warnings));
  json.Set("slot", std::move(item));
}

std::string TextOf(const Json& json, std::string_view name) {
  const Json* found = json.Find(name);
  if (found == nullptr || found->is_null()) return "-";
  if (found->is_string()) return found->as_string();
  if (found->is_double()) return absl::StrFormat("%.1f", found->as_double());
  return found->Dump();
}

void PrintText(const Json& replication) {
  std::cout << "replication " << TextOf(replication, "replication") << ": "
            << (TextOf(replication, "running") == "true"
                    ? (TextOf(replication, "ready") == "true" ? "ready" : "not ready")
                    : "not running")
            << ", confirmed " << TextOf(replication, "confirmed_lsn") << "\n";
  if (const Json* error = replication.Find("source_error"))
    std::cout << "  source: " << error->as_string() << "\n";
  if (const Json* slot = replication.Find("slot")) {
    std::cout << "  slot " << TextOf(*slot, "name") << ": " << TextOf(*slot, "wal_status")
              << ", keeps " << TextOf(*slot, "retained_wal_bytes") << " bytes of WAL, xmin age "
              << TextOf(*slot, "catalog_xmin_age") << "\n";
    for (const Json& warning : slot->Find("warnings")->array())
      std::cout << "  warning: " << warning.as_string() << "\n";
  }
  std::cout << absl::StrFormat("  %-40s %-10s %12s %10s %14s\n", "table", "state", "rows", "lag s",
                               "watermark");
  for (const Json& table : replication.Find("tables")->array()) {
    std::cout << absl::StrFormat("  %-40s %-10s %12s %10s %14s\n", TextOf(table, "source"),
                                 TextOf(table, "state"), TextOf(table, "rows"),
                                 TextOf(table, "lag_seconds"), TextOf(table, "watermark"));
    if (const Json* reason = table.Find("reason"))
      std::cout << "    " << reason->as_string() << "\n";
  }
}

}  // namespace

ExitCode RunStatus(const Config& config, const StatusOptions& options) {
  Json all = Json::MakeArray();
  bool ready = true;
  for (const auto& [name, replication] : config.replications) {
    std::optional<Json> live = ReadLive(config, name);
    if (!live) {
      absl::StatusOr<Json> stored = ReadFromLake(replication);
      if (!stored.ok()) {
        std::cerr << "replication " << name << ": " << Message(stored.status()) << "\n";
        return ExitCodeFor(stored.status());
      }
      live = *std::move(stored);
    }
    AddSlot(replication, *live);
    ready &= live->Find("ready")->as_bool();
    all.Push(*std::move(live));
  }
  if (options.output == Output::kJson) {
    Json json = Json::MakeObject();
    json.Set("ready", ready);
    json.Set("replications", std::move(all));
    std::cout << json.DumpPretty() << "\n";
  } else {
    for (const Json& replication : all.array()) PrintText(replication);
  }
  return ready ? ExitCode::kClean : ExitCode::kNotReady;
}

}  // namespace fjord
