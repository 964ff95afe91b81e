#include "server/metrics_text.h"

#include "absl/strings/str_format.h"
#include "base/strings.h"

namespace fjord {
namespace {

std::string Escape(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out.push_back('\\');
    if (c == '\n') {
      out += "\\n";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

}  // namespace

void MetricsText::Begin(std::string_view name, MetricKind kind, std::string_view help) {
  name_ = name;
  StrAppend(&text_, "# HELP ", name, " ", help, "\n# TYPE ", name,
            kind == MetricKind::kGauge ? " gauge\n" : " counter\n");
}

void MetricsText::Add(const MetricLabels& labels, double value) {
  text_ += name_;
  for (size_t i = 0; i < labels.size(); ++i) {
    StrAppend(&text_, i == 0 ? "{" : ",", labels[i].first, "=\"", Escape(labels[i].second), "\"");
  }
  if (!labels.empty()) text_ += "}";
  text_ += absl::StrFormat(" %.17g\n", value);
}

}  // namespace fjord
