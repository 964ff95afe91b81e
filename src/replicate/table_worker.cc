#include "replicate/table_worker.h"

#include <algorithm>
#include <utility>

#include "base/kill_point.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr size_t kWriteBatchRows = 4096;
// Rows that wait for large values from the lake are written in smaller batches: the values are all
// in memory.
constexpr size_t kFillBatchRows = 256;

}  // namespace

TableWorker::TableWorker(RoutedTable* routed, const TableShape* shape, TimelineId timeline,
                         EpochLimits limits, EpochPolicy policy, TableCounters* counters)
    : routed_(routed),
      shape_(shape),
      timeline_(timeline),
      limits_(limits),
      policy_(policy),
      counters_(counters),
      collapse_(shape, policy.divergence) {}

absl::Status TableWorker::RunEpoch() {
  if (routed_->feed.empty()) return absl::OkStatus();
  collapse_.Reset();
  lake_->BeginEpoch();
  absl::Status status = Collect();
  if (status.ok()) {
    KillPoint("after-collapse");
    status = FlushPart();
  }
  if (status.ok()) status = PublishCollected();
  if (!status.ok()) lake_->DiscardEpoch();
  return status;
}

absl::Status TableWorker::Collect() {
  uint64_t bytes = 0;
  while (std::optional<TableFeed::Taken> taken = routed_->feed.Take()) {
    const std::shared_ptr<const AbortedXids> aborted = taken->block.aborted;
    ASSIGN_OR_RETURN(std::string records, std::move(taken->block).Take());
    bytes += records.size();
    const int truncations = collapse_.truncations();
    RETURN_IF_ERROR(
        collapse_.Add(std::move(records), aborted.get(), collapse_.last_commit().end_lsn));
    if (collapse_.truncations() > truncations) lake_->ClearRows();
    if (collapse_.memory_bytes() > limits_.part_bytes_max) RETURN_IF_ERROR(FlushPart());
    if (taken->boundary &&
        (collapse_.changes() >= limits_.epoch_changes_max || bytes >= limits_.epoch_bytes_max)) {
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

absl::Status TableWorker::FlushPart() {
  if (shape_->key.empty()) return FlushAppended();
  const std::vector<KeyState>& states = collapse_.keys();
  if (states.empty()) return absl::OkStatus();
  std::vector<Hash128> keys(states.size());
  for (size_t i = 0; i < states.size(); ++i) keys[i] = states[i].key;
  ASSIGN_OR_RETURN(const std::vector<RowLocation> places, lake_->Locate(keys));
  RETURN_IF_ERROR(CheckPlaces(places));
  std::vector<RowLocation> stale;
  std::vector<Hash128> removed;
  std::vector<uint32_t> rows;
  for (uint32_t i = 0; i < states.size(); ++i) {
    if (places[i].present()) stale.push_back(places[i]);
    if (states[i].exists) {
      rows.push_back(i);
    } else if (places[i].present()) {
      removed.push_back(states[i].key);
    }
  }
  // Large values are read from their places before those rows are given up.
  RETURN_IF_ERROR(WriteRows(std::move(rows)));
  lake_->MarkStale(stale);
  lake_->Remove(removed);
  RETURN_IF_ERROR(lake_->EndPart());
  collapse_.NextPart();
  return absl::OkStatus();
}

absl::Status TableWorker::CheckPlaces(const std::vector<RowLocation>& places) {
  const std::vector<KeyState>& states = collapse_.keys();
  for (size_t i = 0; i < states.size(); ++i) {
    if (places[i].present() == states[i].existed) continue;
    if (policy_.divergence == DivergenceRule::kRepair) {
      counters_->repaired.fetch_add(1);
      continue;
    }
    return absl::FailedPreconditionError(
        StrCat(shape_->name, ": lake and source have diverged: the lake ",
               places[i].present() ? "has" : "lacks", " a row that the change at ",
               FormatLsn(states[i].lsn), states[i].existed ? " updates or deletes" : " inserts",
               " (key hash ", Hex(states[i].key),
               "). Drop the lake table to have it copied again, or set onDivergence: repair."));
  }
  return absl::OkStatus();
}

absl::Status TableWorker::WriteRows(std::vector<uint32_t> rows) {
  const std::vector<KeyState>& states = collapse_.keys();
  const auto filled = std::stable_partition(
      rows.begin(), rows.end(), [&](uint32_t state) { return !states[state].has_unchanged; });
  const std::span<const uint32_t> complete(rows.begin(), filled);
  for (size_t i = 0; i < complete.size(); i += kWriteBatchRows) {
    RETURN_IF_ERROR(
        WriteBatch(complete.subspan(i, std::min(kWriteBatchRows, complete.size() - i))));
  }
  const std::span<const uint32_t> incomplete(filled, rows.end());
  for (size_t i = 0; i < incomplete.size(); i += kFillBatchRows) {
    RETURN_IF_ERROR(
        WriteBatch(incomplete.subspan(i, std::min(kFillBatchRows, incomplete.size() - i))));
  }
  return absl::OkStatus();
}

absl::Status TableWorker::WriteBatch(std::span<const uint32_t> states) {
  TupleRows rows{.columns = shape_->columns.size()};
  std::vector<Hash128> keys;
  for (const uint32_t state : states) {
    rows.Append(collapse_.Row(collapse_.keys()[state].row));
    keys.push_back(collapse_.keys()[state].key);
  }
  ColumnBatch batch = MakeBatch(shape_->columns);
  const DecodeResult result = DecodeRows(shape_->columns, rows, policy_.unrepresentable, batch);
  if (result.problem) {
    const KeyState& state = collapse_.keys()[states[result.problem->row]];
    return Annotate(result.problem->ToStatus(shape_->name),
                    StrCat("commit at ", FormatLsn(state.lsn)));
  }
  counters_->nulled.fetch_add(result.nulled);
  if (collapse_.keys()[states[0]].has_unchanged)
    RETURN_IF_ERROR(FillUnchanged(states, rows, batch));
  return lake_->Append(batch, keys);
}

absl::Status TableWorker::FillUnchanged(std::span<const uint32_t> states, const TupleRows& rows,
                                        ColumnBatch& batch) {
  std::vector<Hash128> origins;
  for (const uint32_t state : states) origins.push_back(collapse_.keys()[state].origin);
  ASSIGN_OR_RETURN(const std::vector<RowLocation> places, lake_->Locate(origins));
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].present()) continue;
    return absl::FailedPreconditionError(
        StrCat(shape_->name, ": the commit at ", FormatLsn(collapse_.keys()[states[i]].lsn),
               " leaves a large value unchanged whose row the lake does not have. Drop the lake "
               "table to have it copied "
               "again, or ALTER TABLE ",
               shape_->name, " REPLICA IDENTITY FULL first."));
  }
  std::vector<int> columns;
  for (size_t column = 0; column < rows.columns; ++column) {
    const auto is_unchanged = [&](size_t row) {
      return rows.Row(row)[column].kind == TextCell::Kind::kUnchanged;
    };
    bool any = false;
    for (size_t row = 0; row < rows.rows && !any; ++row) any = is_unchanged(row);
    if (any) columns.push_back(static_cast<int>(column));
  }
  ASSIGN_OR_RETURN(const ColumnBatch values, lake_->ReadRows(places, columns));
  for (size_t c = 0; c < columns.size(); ++c) {
    const size_t column = static_cast<size_t>(columns[c]);
    for (size_t row = 0; row < rows.rows; ++row) {
      if (rows.Row(row)[column].kind != TextCell::Kind::kUnchanged) continue;
      SetValue(values.columns[c], row, batch.columns[column], row, batch.arena);
    }
  }
  return absl::OkStatus();
}

absl::Status TableWorker::FlushAppended() {
  const std::vector<uint32_t>& appended = collapse_.appended();
  for (size_t start = 0; start < appended.size(); start += kWriteBatchRows) {
    TupleRows rows{.columns = shape_->columns.size()};
    for (size_t i = start; i < std::min(appended.size(), start + kWriteBatchRows); ++i) {
      rows.Append(collapse_.Row(appended[i]));
    }
    ColumnBatch batch = MakeBatch(shape_->columns);
    const DecodeResult result = DecodeRows(shape_->columns, rows, policy_.unrepresentable, batch);
    if (result.problem) {
      return Annotate(result.problem->ToStatus(shape_->name),
                      StrCat("commit at or before ", FormatLsn(collapse_.last_commit().end_lsn)));
    }
    counters_->nulled.fetch_add(result.nulled);
    RETURN_IF_ERROR(lake_->Append(batch, {}));
  }
  if (!appended.empty()) RETURN_IF_ERROR(lake_->EndPart());
  collapse_.NextPart();
  return absl::OkStatus();
}

absl::Status TableWorker::PublishCollected() {
  const CommitMark mark = collapse_.last_commit();
  RETURN_IF_ERROR(lake_->Publish({timeline_, mark.end_lsn}).status());
  // Only what is durable in the lake may let PostgreSQL forget its WAL.
  routed_->watermark_lsn = mark.end_lsn.value;
  counters_->epochs.fetch_add(1);
  counters_->changes.fetch_add(collapse_.changes());
  counters_->rows = lake_->rows();
  counters_->repaired.fetch_add(collapse_.repaired());
  return absl::OkStatus();
}

}  // namespace fjord
