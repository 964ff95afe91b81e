#include "replicate/resume.h"

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

absl::Status Gap(const LineageFacts& facts, std::string_view why) {
  return absl::DataLossError(
      StrCat("replication ", facts.replication, " cannot continue from this source: ", why,
             ". Changes may be missing, so nothing is published. To copy everything again: drop "
             "the lake's tables and "
             "fjord_control.",
             facts.replication, ", run SELECT pg_drop_replication_slot('", facts.slot_name,
             "') if the slot is still there, and start again."));
}

}  // namespace

ResumeDecision DecideResume(const ResumeFacts& facts) {
  const auto copy = [](std::string reason) {
    return ResumeDecision{ResumeDecision::Kind::kCopy, std::move(reason)};
  };
  if (!facts.watermark) return copy("the lake has no base of it yet");
  if (facts.control == nullptr) return copy("the control record does not know it");
  if (facts.control->oid != facts.oid)
    return copy("it is another table than before under this name");
  if (facts.control->table_uuid != facts.table_uuid)
    return copy("the lake table is another one than before");
  if (facts.control->publication != facts.publication)
    return copy("its publication was altered or made again");
  if (facts.control->membership_oid != facts.membership.oid ||
      facts.control->membership_xmin != facts.membership.xmin) {
    return copy("it left the publication in between, or its publication was altered");
  }
  if (facts.control->covered_since == Lsn()) return copy("its copy was not finished");
  if (facts.control->covered_since > facts.watermark->lsn)
    return copy("it was not covered since its watermark");
  if (facts.control->watermark > facts.watermark->lsn)
    return copy("the lake table was set back to an older state");
  const std::string difference = DefinitionDifference(facts.control->definition, facts.definition);
  if (!difference.empty()) return copy(difference);
  return {ResumeDecision::Kind::kResume, ""};
}

absl::StatusOr<SlotPlan> ProveLineage(const LineageFacts& facts) {
  const bool has_base = !facts.watermarks.empty();
  if (!facts.control) {
    if (!facts.slot) return SlotPlan::kCreate;
    return absl::FailedPreconditionError(
        StrCat("slot ", facts.slot_name, " exists, but replication ", facts.replication,
               " has no control record: it belongs to somebody else, or the lake was removed. "
               "Choose another slot name "
               "(source.postgres.slot), or run SELECT pg_drop_replication_slot('",
               facts.slot_name, "')."));
  }
  const ControlRecord& control = *facts.control;
  if (control.position == Lsn() && !has_base)
    return facts.slot ? SlotPlan::kRecreate : SlotPlan::kCreate;
  if (control.system_identifier != facts.identity.system_identifier) {
    return Gap(facts, StrCat("it is another database cluster (system identifier ",
                             facts.identity.system_identifier, ", before ",
                             control.system_identifier, ")"));
  }
  if (control.database != facts.identity.database) {
    return Gap(facts, StrCat("it is another database (", facts.identity.database, ", before ",
                             control.database, ")"));
  }
  if (!facts.slot) return Gap(facts, StrCat("slot ", facts.slot_name, " is gone"));
  if (!facts.slot->invalidation.empty()) {
    return Gap(facts,
               StrCat("slot ", facts.slot_name, " was invalidated: ", facts.slot->invalidation));
  }
  if (facts.slot->confirmed_flush_lsn > control.position) {
    return Gap(facts, StrCat("slot ", facts.slot_name, " was advanced by somebody else, to ",
                             FormatLsn(facts.slot->confirmed_flush_lsn), " beyond our ",
                             FormatLsn(control.position)));
  }
  if (!OnHistory(control.timeline, control.position, facts.identity.timeline, facts.history)) {
    return Gap(facts, StrCat("its timeline ", facts.identity.timeline.value, " left ours before ",
                             FormatLsn(control.position), " (failover or point-in-time recovery)"));
  }
  Lsn newest = control.position;
  for (const Watermark& watermark : facts.watermarks) newest = std::max(newest, watermark.lsn);
  if (facts.identity.wal_position < newest) {
    const std::string behind = StrCat("its WAL ends at ", FormatLsn(facts.identity.wal_position),
                                      " before our ", FormatLsn(newest));
    // A standby that was just started has not replayed all that it has.
    if (facts.identity.in_recovery) return absl::UnavailableError(behind);
    return Gap(facts, StrCat(behind, ": it was restored from an older copy"));
  }
  for (const Watermark& watermark : facts.watermarks) {
    if (!OnHistory(watermark.timeline, watermark.lsn, facts.identity.timeline, facts.history)) {
      return Gap(facts,
                 StrCat("a table's watermark ", FormatLsn(watermark.lsn),
                        " is not on the history of timeline ", facts.identity.timeline.value));
    }
  }
  return SlotPlan::kUse;
}

}  // namespace fjord
