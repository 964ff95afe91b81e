#include "server/metrics_text.h"

#include <gtest/gtest.h>

namespace fjord {
namespace {

TEST(MetricsText, EscapesLabelsAndKeepsIntegersWhole) {
  MetricsText metrics;
  metrics.Begin("fjord_rows", MetricKind::kGauge, "Live rows.");
  metrics.Add({{"table", "a\"b\\c\nd"}}, 9007199254740992.0);
  metrics.Add({}, 0.5);
  EXPECT_EQ(metrics.text(),
            "# HELP fjord_rows Live rows.\n# TYPE fjord_rows gauge\n"
            "fjord_rows{table=\"a\\\"b\\\\c\\nd\"} 9007199254740992\nfjord_rows 0.5\n");
}

}  // namespace
}  // namespace fjord
