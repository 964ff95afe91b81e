// Epochs of one table: from its feed through collapse to a publication of its lake table.
//
// RunEpoch is called by one thread of the pool at a time (the scheduler sees to it). What went
// wrong is answered as one of: the table is blocked (a person must act), or it has to be rewound
// (opened again, and the stream restarted from its watermark).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/ids.h"
#include "lake/lake_table.h"
#include "postgres/types.h"
#include "replicate/collapse.h"
#include "replicate/router.h"

namespace fjord {

struct EpochLimits {
  uint64_t part_bytes_max = 32ull << 20;  // memory of collapsed changes before they are staged
  // An epoch ends at the first transaction boundary past one of these.
  int64_t epoch_changes_max = 200'000;
  uint64_t epoch_bytes_max = 64ull << 20;
};

struct EpochPolicy {
  DivergenceRule divergence = DivergenceRule::kBlock;
  UnrepresentablePolicy unrepresentable = UnrepresentablePolicy::kBlock;
};

// Counters that other threads read.
struct TableCounters {
  std::atomic<int64_t> epochs{0};
  std::atomic<int64_t> changes{0};
  std::atomic<int64_t> rows{0};
  std::atomic<int64_t> repaired{0};
  std::atomic<int64_t> nulled{0};
};

class TableWorker {
 public:
  // All outlive the worker but `lake`.
  TableWorker(RoutedTable* routed, const TableShape* shape, TimelineId timeline, EpochLimits limits,
              EpochPolicy policy, TableCounters* counters);

  void SetLake(std::unique_ptr<LakeTable> lake) { lake_ = std::move(lake); }
  LakeTable* lake() { return lake_.get(); }

  // Publishes the whole transactions that wait, up to the limits. Nothing waits: does nothing.
  absl::Status RunEpoch();

 private:
  absl::Status Collect();
  absl::Status FlushPart();
  absl::Status FlushAppended();
  absl::Status CheckPlaces(const std::vector<RowLocation>& places);
  absl::Status WriteRows(std::vector<uint32_t> states);
  absl::Status WriteBatch(std::span<const uint32_t> states);
  absl::Status FillUnchanged(std::span<const uint32_t> states, const TupleRows& rows,
                             ColumnBatch& batch);
  absl::Status PublishCollected();

  RoutedTable* const routed_;
  const TableShape* const shape_;
  const TimelineId timeline_;
  const EpochLimits limits_;
  const EpochPolicy policy_;
  TableCounters* const counters_;
  std::unique_ptr<LakeTable> lake_;
  Collapse collapse_;
};

}  // namespace fjord
