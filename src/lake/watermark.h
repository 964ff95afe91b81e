// How far a table is, as its own snapshots say it (docs/formats/snapshot-properties.md).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/ids.h"

namespace fjord {

// The table holds exactly the effect of every source transaction whose commit ended at or before
// this.
struct Watermark {
  TimelineId timeline;
  Lsn lsn;
  friend bool operator==(const Watermark&, const Watermark&) = default;
};

// What one of our snapshots says in its summary.
struct OwnSnapshot {
  Lsn base_lsn;  // the watermark before
  Watermark watermark;
  std::string source;     // "system identifier/database/slot"
  std::string operation;  // id of the publication
};

// The summary key that answers "did my commit land?".
inline constexpr char kOperationKey[] = "fjord.operation";

// The keys that a snapshot of ours carries.
std::map<std::string, std::string> OwnSummaryKeys(const OwnSnapshot& own);
// Nothing when the snapshot is not ours; kDataLoss when its keys are there but wrong.
absl::StatusOr<std::optional<OwnSnapshot>> ParseOwnSnapshot(
    const std::map<std::string, std::string>& summary);

// The table property that mirrors the watermark: believed only if its snapshot is the head or an
// ancestor of it.
inline constexpr char kWatermarkProperty[] = "fjord.watermark";
inline constexpr char kIndexSeedProperty[] = "fjord.index-seed";

struct MirroredWatermark {
  Watermark watermark;
  SnapshotId snapshot_id;
  SequenceNumber sequence_number;
};
std::string FormatMirroredWatermark(const MirroredWatermark& mirrored);
// kDataLoss when it is damaged.
absl::StatusOr<MirroredWatermark> ParseMirroredWatermark(std::string_view text);

}  // namespace fjord
