// The log: one line for what a person should know; text on a terminal, JSON elsewhere,
// always on standard error.
//
// Secrets never get here: callers log names and positions, not connection strings or headers.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"

namespace fjord {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// A named value of a log line.
struct LogField {
  std::string_view name;
  std::string value;
  template <class T>
  LogField(std::string_view n, const T& v) : name(n), value(StrCat(v)) {}
};

// Call once at the start of the program. `json`: one JSON object a line.
void InitLog(LogLevel least, bool json);
void Log(LogLevel level, std::string_view message, std::vector<LogField> fields = {});

inline void LogDebug(std::string_view m, std::vector<LogField> f = {}) {
  Log(LogLevel::kDebug, m, std::move(f));
}
inline void LogInfo(std::string_view m, std::vector<LogField> f = {}) {
  Log(LogLevel::kInfo, m, std::move(f));
}
inline void LogWarning(std::string_view m, std::vector<LogField> f = {}) {
  Log(LogLevel::kWarning, m, std::move(f));
}
inline void LogError(std::string_view m, std::vector<LogField> f = {}) {
  Log(LogLevel::kError, m, std::move(f));
}

}  // namespace fjord
