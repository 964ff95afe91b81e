// The Prometheus text exposition format, version 0.0.4: values of a moment, rendered at once.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fjord {

enum class MetricKind { kGauge, kCounter };
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

// A plain value: add samples of one metric after the other, then take the text.
class MetricsText {
 public:
  // Begins a metric. `name` ends with its unit; `help` is a sentence.
  void Begin(std::string_view name, MetricKind kind, std::string_view help);
  void Add(const MetricLabels& labels, double value);
  const std::string& text() const { return text_; }

 private:
  std::string name_;
  std::string text_;
};

}  // namespace fjord
