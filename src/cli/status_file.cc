#include "cli/status_file.h"

#include <filesystem>
#include <fstream>

#include "absl/time/clock.h"
#include "base/json.h"
#include "base/strings.h"

namespace fjord {
namespace {

Json TableToJson(const TableStatus& table) {
  Json item = Json::MakeObject();
  item.Set("source", table.source);
  item.Set("target", table.target);
  item.Set("state", TableStateName(table.state));
  if (!table.reason.empty()) item.Set("reason", table.reason);
  item.Set("rows", table.rows);
  item.Set("watermark", FormatLsn(table.watermark));
  item.Set("pending_bytes", table.pending_bytes);
  item.Set("lag_seconds", table.lag_seconds);
  item.Set("epochs", table.epochs);
  item.Set("changes", table.changes);
  if (table.state == TableState::kCopying) {
    Json copy = Json::MakeObject();
    copy.Set("rows", table.copy_rows);
    copy.Set("bytes", table.copy_bytes);
    copy.Set("fraction", table.copy_fraction);
    item.Set("copy", std::move(copy));
  }
  return item;
}

std::string FormatStatus(const ReplicationStatus& status) {
  Json json = Json::MakeObject();
  json.Set("replication", status.name);
  json.Set("time_ms", absl::ToUnixMillis(absl::Now()));
  json.Set("ready", status.ready());
  json.Set("connected", status.connected);
  if (!status.last_error.empty()) json.Set("last_error", status.last_error);
  json.Set("received_lsn", FormatLsn(status.received));
  json.Set("confirmed_lsn", FormatLsn(status.confirmed));
  json.Set("window_bytes", status.window_bytes);
  json.Set("spool_bytes", status.spool_bytes);
  Json tables = Json::MakeArray();
  for (const TableStatus& table : status.tables) tables.Push(TableToJson(table));
  json.Set("tables", std::move(tables));
  return json.Dump();
}

}  // namespace

std::string StatusFile(const Config& config, const std::string& replication) {
  return StrCat(config.state_dir, "/", replication, "/status.json");
}

void WriteStatusFile(const Config& config, const ReplicationStatus& status) {
  const std::string path = StatusFile(config, status.name);
  const std::string temporary = StrCat(path, ".tmp");
  {
    std::ofstream out(temporary);
    out << FormatStatus(status) << "\n";
  }
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
}

}  // namespace fjord
