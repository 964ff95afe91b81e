#include "lake/watermark.h"

#include "base/json.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr char kLsn[] = "fjord.lsn";
constexpr char kBaseLsn[] = "fjord.base-lsn";
constexpr char kTimeline[] = "fjord.timeline";
constexpr char kSource[] = "fjord.source";

absl::StatusOr<std::string> Require(const std::map<std::string, std::string>& summary,
                                    const char* key) {
  const auto it = summary.find(key);
  if (it == summary.end())
    return absl::DataLossError(StrCat("a snapshot has ", kLsn, " but no ", key));
  return it->second;
}

absl::StatusOr<Lsn> RequireLsn(const std::map<std::string, std::string>& summary, const char* key) {
  ASSIGN_OR_RETURN(const std::string text, Require(summary, key));
  const absl::StatusOr<Lsn> lsn = ParseLsn(text);
  if (!lsn.ok()) return absl::DataLossError(StrCat(key, ": ", Message(lsn.status())));
  return lsn;
}

absl::StatusOr<TimelineId> ParseTimeline(const std::string& text) {
  const std::optional<uint32_t> value = ParseInt<uint32_t>(text);
  if (!value) return absl::DataLossError(StrCat("not a timeline: '", text, "'"));
  return TimelineId(*value);
}

absl::StatusOr<MirroredWatermark> ReadMirrored(std::string_view text) {
  ASSIGN_OR_RETURN(const Json json, Json::Parse(text));
  MirroredWatermark mirrored;
  ASSIGN_OR_RETURN(const int64_t timeline, json.GetInt("timeline"));
  ASSIGN_OR_RETURN(mirrored.watermark.timeline, ParseTimeline(StrCat(timeline)));
  ASSIGN_OR_RETURN(const std::string lsn, json.GetString("lsn"));
  ASSIGN_OR_RETURN(mirrored.watermark.lsn, ParseLsn(lsn));
  ASSIGN_OR_RETURN(mirrored.snapshot_id.value, json.GetInt("snapshot-id"));
  ASSIGN_OR_RETURN(mirrored.sequence_number.value, json.GetInt("sequence-number"));
  return mirrored;
}

}  // namespace

std::map<std::string, std::string> OwnSummaryKeys(const OwnSnapshot& own) {
  return {{kLsn, FormatLsn(own.watermark.lsn)},
          {kBaseLsn, FormatLsn(own.base_lsn)},
          {kTimeline, StrCat(own.watermark.timeline.value)},
          {kSource, own.source},
          {kOperationKey, own.operation}};
}

absl::StatusOr<std::optional<OwnSnapshot>> ParseOwnSnapshot(
    const std::map<std::string, std::string>& summary) {
  if (!summary.contains(kLsn)) return std::nullopt;
  OwnSnapshot own;
  ASSIGN_OR_RETURN(own.watermark.lsn, RequireLsn(summary, kLsn));
  ASSIGN_OR_RETURN(own.base_lsn, RequireLsn(summary, kBaseLsn));
  ASSIGN_OR_RETURN(const std::string timeline, Require(summary, kTimeline));
  ASSIGN_OR_RETURN(own.watermark.timeline, ParseTimeline(timeline));
  ASSIGN_OR_RETURN(own.source, Require(summary, kSource));
  ASSIGN_OR_RETURN(own.operation, Require(summary, kOperationKey));
  return own;
}

std::string FormatMirroredWatermark(const MirroredWatermark& mirrored) {
  Json json = Json::MakeObject();
  json.Set("timeline", int64_t{mirrored.watermark.timeline.value});
  json.Set("lsn", FormatLsn(mirrored.watermark.lsn));
  json.Set("snapshot-id", mirrored.snapshot_id.value);
  json.Set("sequence-number", mirrored.sequence_number.value);
  return json.Dump();
}

absl::StatusOr<MirroredWatermark> ParseMirroredWatermark(std::string_view text) {
  absl::StatusOr<MirroredWatermark> mirrored = ReadMirrored(text);
  if (mirrored.ok()) return mirrored;
  return absl::DataLossError(StrCat("the table property ", kWatermarkProperty,
                                    " is damaged: ", Message(mirrored.status())));
}

}  // namespace fjord
