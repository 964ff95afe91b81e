#include "replicate/resume.h"

#include <gtest/gtest.h>

namespace fjord {
namespace {

constexpr auto kResume = ResumeDecision::Kind::kResume;
constexpr auto kCopy = ResumeDecision::Kind::kCopy;

struct ResumeCase {
  const char* name;
  void (*change)(ResumeFacts& facts, ControlTable& control);
  ResumeDecision::Kind expected;
};

TEST(DecideResume, ResumesOnlyWhenCoveredSinceTheWatermark) {
  const ResumeCase cases[] = {
      {"everything fits", [](ResumeFacts&, ControlTable&) {}, kResume},
      {"no base", [](ResumeFacts& f, ControlTable&) { f.watermark.reset(); }, kCopy},
      {"unknown to the record", [](ResumeFacts& f, ControlTable&) { f.control = nullptr; }, kCopy},
      {"another table of that name", [](ResumeFacts& f, ControlTable&) { f.oid = Oid(2); }, kCopy},
      {"another lake table", [](ResumeFacts& f, ControlTable&) { f.table_uuid = "other"; }, kCopy},
      {"left the publication", [](ResumeFacts& f, ControlTable&) { f.membership.xmin = Xid(99); },
       kCopy},
      {"publication altered", [](ResumeFacts& f, ControlTable&) { f.publication.xmin = Xid(99); },
       kCopy},
      {"lake table set back", [](ResumeFacts&, ControlTable& c) { c.watermark = Lsn(101); }, kCopy},
      {"lake table as old as recorded",
       [](ResumeFacts&, ControlTable& c) { c.watermark = Lsn(100); }, kResume},
      {"a column dropped and added again",
       [](ResumeFacts& f, ControlTable&) { f.definition.columns = "other"; }, kCopy},
      {"values computed anew",
       [](ResumeFacts& f, ControlTable&) {
         f.definition.column_rows = "other";
         f.definition.relfilenode = 2;
       },
       kCopy},
      {"VACUUM FULL", [](ResumeFacts& f, ControlTable&) { f.definition.relfilenode = 2; }, kResume},
      {"SET DEFAULT", [](ResumeFacts& f, ControlTable&) { f.definition.column_rows = "other"; },
       kResume},
      {"another key", [](ResumeFacts& f, ControlTable&) { f.definition.key = "2"; }, kCopy},
      {"copy not finished", [](ResumeFacts&, ControlTable& c) { c.covered_since = Lsn(); }, kCopy},
      {"covered too late", [](ResumeFacts&, ControlTable& c) { c.covered_since = Lsn(101); },
       kCopy},
      {"covered from the watermark on",
       [](ResumeFacts&, ControlTable& c) { c.covered_since = Lsn(100); }, kResume},
  };
  for (const ResumeCase& c : cases) {
    ControlTable control{.oid = Oid(1),
                         .table_uuid = "u",
                         .membership_oid = Oid(7),
                         .membership_xmin = Xid(8),
                         .state = "streaming",
                         .covered_since = Lsn(50)};
    ResumeFacts facts{.oid = Oid(1),
                      .membership = {Oid(7), Xid(8)},
                      .table_uuid = "u",
                      .watermark = Watermark{TimelineId(1), Lsn(100)},
                      .control = &control};
    c.change(facts, control);
    EXPECT_EQ(DecideResume(facts).kind, c.expected) << c.name;
  }
}

struct LineageCase {
  const char* name;
  void (*change)(LineageFacts& facts);
  absl::StatusCode code;  // kOk: kUse
};

TEST(ProveLineage, GapsEndTheReplication) {
  const LineageCase cases[] = {
      {"everything fits", [](LineageFacts&) {}, absl::StatusCode::kOk},
      {"other cluster", [](LineageFacts& f) { f.identity.system_identifier = "2"; },
       absl::StatusCode::kDataLoss},
      {"other database", [](LineageFacts& f) { f.identity.database = "b"; },
       absl::StatusCode::kDataLoss},
      {"slot gone", [](LineageFacts& f) { f.slot.reset(); }, absl::StatusCode::kDataLoss},
      {"slot invalidated", [](LineageFacts& f) { f.slot->invalidation = "wal_removed"; },
       absl::StatusCode::kDataLoss},
      {"slot advanced by somebody", [](LineageFacts& f) { f.slot->confirmed_flush_lsn = Lsn(201); },
       absl::StatusCode::kDataLoss},
      {"timeline left before our position",
       [](LineageFacts& f) {
         f.identity.timeline = TimelineId(2);
         f.history = {{TimelineId(1), Lsn(150)}};
       },
       absl::StatusCode::kDataLoss},
      {"failover after our position",
       [](LineageFacts& f) {
         f.identity.timeline = TimelineId(2);
         f.history = {{TimelineId(1), Lsn(300)}};
       },
       absl::StatusCode::kOk},
      {"restored from an older copy", [](LineageFacts& f) { f.identity.wal_position = Lsn(199); },
       absl::StatusCode::kDataLoss},
      {"restored to before a table's watermark",
       [](LineageFacts& f) {
         f.identity.wal_position = Lsn(250);
         f.watermarks.push_back({TimelineId(1), Lsn(251)});
       },
       absl::StatusCode::kDataLoss},
      {"a standby that is not there yet",
       [](LineageFacts& f) {
         f.identity.wal_position = Lsn(199);
         f.identity.in_recovery = true;
       },
       absl::StatusCode::kUnavailable},
      {"somebody else's slot", [](LineageFacts& f) { f.control.reset(); },
       absl::StatusCode::kFailedPrecondition},
  };
  for (const LineageCase& c : cases) {
    LineageFacts facts{.identity = {.system_identifier = "1",
                                    .timeline = TimelineId(1),
                                    .wal_position = Lsn(500),
                                    .database = "a"},
                       .slot = SlotState{.name = "s", .confirmed_flush_lsn = Lsn(200)},
                       .control = ControlRecord{.generation = 1,
                                                .system_identifier = "1",
                                                .database = "a",
                                                .slot = "s",
                                                .timeline = TimelineId(1),
                                                .position = Lsn(200)},
                       .watermarks = {{TimelineId(1), Lsn(180)}},
                       .slot_name = "s",
                       .replication = "shop"};
    c.change(facts);
    const absl::StatusOr<SlotPlan> plan = ProveLineage(facts);
    EXPECT_EQ(plan.status().code(), c.code) << c.name << ": " << plan.status();
    if (plan.ok()) EXPECT_EQ(*plan, SlotPlan::kUse) << c.name;
  }
}

TEST(ProveLineage, StartThatDiedBeforeItsSlotWasWrittenDownMakesItAnew) {
  LineageFacts facts{
      .identity = {.system_identifier = "1", .timeline = TimelineId(1), .database = "a"},
      .control = ControlRecord{.generation = 1, .system_identifier = "1", .database = "a"},
      .slot_name = "s",
      .replication = "shop"};
  EXPECT_EQ(*ProveLineage(facts), SlotPlan::kCreate);
  facts.slot = SlotState{.name = "s", .confirmed_flush_lsn = Lsn(9)};
  EXPECT_EQ(*ProveLineage(facts), SlotPlan::kRecreate);
}

TEST(ControlRecord, SurvivesItsTextForm) {
  ControlRecord record{.generation = 3,
                       .system_identifier = "7",
                       .database = "a",
                       .slot = "s",
                       .timeline = TimelineId(2),
                       .position = Lsn(0x1600000028)};
  record.tables["public.t"] = {.oid = Oid(5),
                               .table_uuid = "u",
                               .publication = {Oid(8), Xid(9)},
                               .membership_oid = Oid(6),
                               .membership_xmin = Xid(7),
                               .state = "blocked",
                               .reason = "why",
                               .covered_since = Lsn(4),
                               .watermark = Lsn(5),
                               .definition = {"c", "r", 6, "1 2"}};
  EXPECT_EQ(*ParseControlRecord(FormatControlRecord(record)), record);
}

}  // namespace
}  // namespace fjord
