// May a table go on from its watermark, and may the source go on at all?
// Pure; the tests are tables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "lake/watermark.h"
#include "postgres/catalog.h"
#include "postgres/publication.h"
#include "postgres/slot.h"
#include "replicate/control.h"

namespace fjord {

struct ResumeFacts {
  Oid oid;                 // of the source table now
  CatalogRow publication;  // now
  CatalogRow membership;   // of its publication row now
  TableDefinition definition;
  std::string table_uuid;  // of the lake table now
  std::optional<Watermark> watermark;
  const ControlTable* control = nullptr;  // nothing: the record does not know the table
};

struct ResumeDecision {
  enum class Kind { kResume, kCopy } kind = Kind::kCopy;
  std::string reason;  // of kCopy, for the log
};
// A table resumes only when every change since its watermark went
// through this replication's stream.
ResumeDecision DecideResume(const ResumeFacts& facts);

struct LineageFacts {
  SourceIdentity identity;
  std::vector<TimelineEnd> history;
  std::optional<SlotState> slot;
  std::optional<ControlRecord> control;
  std::vector<Watermark> watermarks;  // of tables that have a base
  std::string slot_name;
  std::string replication;
};
enum class SlotPlan {
  kCreate,    // nothing was begun yet
  kRecreate,  // a first start died between making the slot and writing that down
  kUse,
};
// kDataLoss: the source can no longer continue (exit 79); the message says why and what the ways
// out are. kFailedPrecondition: the slot is not ours.
absl::StatusOr<SlotPlan> ProveLineage(const LineageFacts& facts);

}  // namespace fjord
