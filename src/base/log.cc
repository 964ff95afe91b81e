#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "base/strings.h"

namespace fjord {
namespace {

std::atomic<bool> json_lines{false};

spdlog::level::level_enum SpdLevel(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarning: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
  }
  return spdlog::level::info;
}

std::string_view LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kError: return "error";
  }
  return "info";
}

spdlog::logger& Logger() {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto made = std::make_shared<spdlog::logger>("fjord",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%v");
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *logger;
}

}  // namespace

void InitLog(LogLevel least, bool json) {
  json_lines = json;
  Logger().set_level(SpdLevel(least));
}

void Log(LogLevel level, std::string_view message, std::vector<LogField> fields) {
  if (!Logger().should_log(SpdLevel(level))) return;
  const std::string now =
      absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone());
  std::string line;
  if (json_lines) {
    Json object = Json::MakeObject();
    object.Set("time", now);
    object.Set("level", LevelName(level));
    object.Set("message", message);
    for (const LogField& field : fields) object.Set(field.name, field.value);
    line = object.Dump();
  } else {
    line = StrCat(now, " ", LevelName(level), "  ", message);
    for (const LogField& field : fields) StrAppend(&line, "  ", field.name, "=", field.value);
  }
  Logger().log(SpdLevel(level), line);
}

}  // namespace fjord
