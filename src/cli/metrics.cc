#include "cli/metrics.h"

#include "server/metrics_text.h"

namespace fjord {

std::string RenderMetrics(const std::vector<ReplicationStatus>& all) {
  MetricsText metrics;
  const auto per_table = [&](std::string_view name, MetricKind kind, std::string_view help,
                             auto value) {
    metrics.Begin(name, kind, help);
    for (const ReplicationStatus& status : all) {
      for (const TableStatus& table : status.tables) {
        metrics.Add({{"replication", status.name}, {"table", table.source}},
                    static_cast<double>(value(table)));
      }
    }
  };
  per_table("fjord_table_rows", MetricKind::kGauge, "Live rows of the lake table.",
            [](const auto& t) { return t.rows; });
  per_table("fjord_table_lag_seconds", MetricKind::kGauge,
            "Age of the oldest commit that is not published.",
            [](const auto& t) { return t.lag_seconds; });
  per_table("fjord_table_pending_bytes", MetricKind::kGauge, "Changes received and not published.",
            [](const auto& t) { return t.pending_bytes; });
  per_table("fjord_table_streaming", MetricKind::kGauge, "1 while the table follows its source.",
            [](const auto& t) { return t.state == TableState::kStreaming ? 1 : 0; });
  per_table("fjord_table_blocked", MetricKind::kGauge,
            "1 while the table is set aside and waits for a person.",
            [](const auto& t) { return t.state == TableState::kBlocked ? 1 : 0; });
  per_table("fjord_table_publications_total", MetricKind::kCounter,
            "Published epochs since the start.", [](const auto& t) { return t.epochs; });
  per_table("fjord_table_changes_total", MetricKind::kCounter, "Published changes since the start.",
            [](const auto& t) { return t.changes; });
  per_table("fjord_table_repaired_changes_total", MetricKind::kCounter,
            "Changes that lake and source disagreed on and onDivergence: repair took.",
            [](const auto& t) { return t.repaired; });
  per_table("fjord_table_nulled_values_total", MetricKind::kCounter,
            "Values that onUnrepresentable: null made null.",
            [](const auto& t) { return t.nulled; });
  const auto per_replication = [&](std::string_view name, std::string_view help, auto value) {
    metrics.Begin(name, MetricKind::kGauge, help);
    for (const ReplicationStatus& status : all) {
      metrics.Add({{"replication", status.name}}, static_cast<double>(value(status)));
    }
  };
  per_replication("fjord_connected", "1 while the replication connection stands.",
                  [](const auto& s) { return s.connected ? 1 : 0; });
  per_replication("fjord_received_lsn_bytes", "Position up to which the stream was received.",
                  [](const auto& s) { return s.received.value; });
  per_replication("fjord_confirmed_lsn_bytes", "Position that the source may forget.",
                  [](const auto& s) { return s.confirmed.value; });
  per_replication("fjord_retained_wal_bytes", "WAL that the source keeps for the slot.",
                  [](const auto& s) { return s.retained_wal_bytes; });
  per_replication("fjord_slot_xmin_age_transactions",
                  "Age of the catalogue horizon that the slot holds.",
                  [](const auto& s) { return s.catalog_xmin_age; });
  per_replication("fjord_window_bytes", "Changes held in memory.",
                  [](const auto& s) { return s.window_bytes; });
  per_replication("fjord_spool_bytes", "Changes held on local disk.",
                  [](const auto& s) { return s.spool_bytes; });
  return metrics.text();
}

}  // namespace fjord
