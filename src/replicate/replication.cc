#include "replicate/replication.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "absl/time/clock.h"
#include "base/digest.h"
#include "base/kill_point.h"
#include "base/log.h"
#include "base/status.h"
#include "base/strings.h"
#include "journal/spool.h"
#include "lake/lake_table.h"
#include "postgres/anchor.h"
#include "postgres/slot.h"
#include "replicate/control.h"
#include "replicate/epoch_pool.h"
#include "replicate/replicated_table.h"
#include "replicate/resume.h"
#include "replicate/source.h"
#include "replicate/stream_thread.h"
#include "replicate/table_watch.h"

namespace fjord {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(20);
constexpr absl::Duration kControlInterval = absl::Seconds(1);
constexpr absl::Duration kStopLimit = absl::Seconds(30);
constexpr absl::Duration kRewindBackoffMax = absl::Seconds(30);
constexpr absl::Duration kSlotWaitInterval = absl::Seconds(5);
constexpr absl::Duration kSlotLookInterval = absl::Seconds(10);
constexpr int kCopyRoundsMax = 8;

// A passing failure is tried again; everything else is for a person.
bool IsPassing(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kResourceExhausted: return true;
    default: return false;
  }
}

ConnectionOptions Replicating(ConnectionOptions options) {
  options.kind = SessionKind::kReplication;
  return options;
}

}  // namespace

std::string_view TableStateName(TableState state) {
  switch (state) {
    case TableState::kStarting: return "starting";
    case TableState::kCopying: return "copying";
    case TableState::kStreaming: return "streaming";
    case TableState::kRecovering: return "recovering";
    case TableState::kBlocked: return "blocked";
  }
  return "starting";
}

bool ReplicationStatus::ready() const {
  return connected && std::all_of(tables.begin(), tables.end(), [](const TableStatus& table) {
           return table.state == TableState::kStreaming;
         });
}

class ReplicationRunner::Impl {
 public:
  Impl(ReplicationOptions options, ReplicationEnvironment environment)
      : options_(std::move(options)),
        environment_(environment),
        account_(static_cast<uint64_t>(options_.memory_bytes_max) / 4),
        pool_(options_.workers) {}

  ~Impl() { Shutdown(); }

  absl::Status Run(RunUntil until) {
    RETURN_IF_ERROR(Start());
    absl::Status status = Loop(until);
    if (status.ok()) status = Finish();
    Shutdown();
    return status;
  }

  void Stop() {
    stop_ = true;
    wake_.notify_all();
    recorded_.notify_all();
  }

  ReplicationStatus Snapshot() const;

 private:
  // Starting.
  absl::Status Start();
  absl::Status MakeEntries(const SourceView& view);
  absl::Status OpenLake(ReplicatedTable& entry);
  void OpenEntry(ReplicatedTable& entry);
  absl::Status PrepareSlot(const SourceView& view);
  absl::Status CreatePermanentSlot();
  void StartStream();

  // The first copy runs on its own thread, round after round until no table waits for a base.
  void CopyLoop();
  absl::Status CopyRound(std::vector<ReplicatedTable*> entries);
  void CopyAnswered(ReplicatedTable& entry, const Watermark& watermark, const absl::Status& status);
  std::vector<ReplicatedTable*> WaitingForCopy() const;
  absl::StatusOr<NewSlot> TemporarySlot(std::unique_ptr<Connection>& session);
  absl::Status SayWhatTheSlotWaitsFor();
  absl::Status WaitForRecord();
  absl::Status RecordIfWanted();

  // The loop.
  absl::Status Loop(RunUntil until);
  void Schedule(absl::Time now, bool everything);
  bool IsDue(const ReplicatedTable& entry, absl::Time now) const;
  void RunEpoch(ReplicatedTable& entry);
  void Reopen(ReplicatedTable& entry);
  absl::Status BeforeConnect();
  Lsn SafePosition() const;
  absl::Status Acknowledge(absl::Time now, bool at_once);
  ControlRecord MakeRecord(Lsn position) const;
  absl::Status Finish();
  void Shutdown();
  bool AnyBusy() const;
  void LookAtSlot(absl::Time now);
  Lsn confirmed() const { return Lsn(confirmed_.load()); }

  const ReplicationOptions options_;
  const ReplicationEnvironment environment_;
  WindowAccount account_;
  std::unique_ptr<Spool> spool_;
  std::vector<std::unique_ptr<ReplicatedTable>> entries_;
  std::unique_ptr<Router> router_;
  std::unique_ptr<StreamThread> stream_;
  std::unique_ptr<ControlStore> control_;
  SourceIdentity identity_;
  std::vector<std::string> publications_;
  std::string source_id_;
  EpochPool pool_;
  std::thread copy_thread_;

  std::unique_ptr<Connection> look_session_;  // the runner's thread
  std::unique_ptr<TableWatch> watch_;

  // The slot's snapshot of a fresh start, for the first copy round.
  std::unique_ptr<Connection> slot_session_;
  std::optional<NewSlot> new_slot_;

  std::atomic<bool> stop_{false};
  std::atomic<bool> copying_{false};
  std::atomic<bool> join_requested_{false};
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable recorded_;
  bool record_wanted_ = false;  // guarded by mutex_
  absl::Status copy_failure_;   // guarded by mutex_
  absl::Time last_control_ = absl::InfinitePast();
  std::atomic<uint64_t> confirmed_{0};
  mutable std::atomic<bool> started_{false};
  std::atomic<int64_t> retained_wal_bytes_{0};
  std::atomic<int64_t> catalog_xmin_age_{0};
  absl::Time next_slot_look_ = absl::InfinitePast();
};

absl::Status ReplicationRunner::Impl::Start() {
  ASSIGN_OR_RETURN(spool_, Spool::Create(StrCat(options_.state_dir, "/spool"), {}));
  ASSIGN_OR_RETURN(const SourceView view, PrepareSource(options_));
  identity_ = view.identity;
  publications_ = view.publications;
  watch_ = std::make_unique<TableWatch>(options_.connection, publications_);
  source_id_ = StrCat(identity_.system_identifier, "/", identity_.database, "/", options_.slot);
  ASSIGN_OR_RETURN(control_,
                   ControlStore::Open(environment_.catalog, environment_.store, options_.name));
  RETURN_IF_ERROR(MakeEntries(view));
  router_ = std::make_unique<Router>(&account_, spool_.get());
  for (const auto& entry : entries_) {
    if (entry->source.info) router_->AddTable(&entry->routed);
  }
  RETURN_IF_ERROR(PrepareSlot(view));
  started_ = true;
  copying_ = true;
  copy_thread_ = std::thread([this] { CopyLoop(); });
  return absl::OkStatus();
}

absl::Status ReplicationRunner::Impl::MakeEntries(const SourceView& view) {
  for (const SourceTable& source : view.tables) {
    auto entry = std::make_unique<ReplicatedTable>(&account_, spool_.get());
    entry->source = source;
    entry->shape.name = source.name;
    entry->routed.shape = &entry->shape;
    entry->routed.blocked = true;  // until it joins the stream
    entry->known =
        source.info && control_->record() && control_->record()->tables.contains(source.name);
    if (source.info) entry->routed.oid = source.info->oid;
    if (!source.refusal.empty()) {
      LogWarning("a table is set aside", {{"table", source.name}, {"reason", source.refusal}});
      entry->Block(StrCat(source.name, ": ", source.refusal));
    } else {
      std::vector<int16_t> published;
      if (const auto it = view.published.find(source.info->oid); it != view.published.end()) {
        entry->publication = it->second.publication;
        entry->membership = it->second.membership;
        entry->row_filter = it->second.row_filter;
        published = it->second.column_attnums;
        entry->published_columns = published;
      }
      const std::vector<int16_t> key =
          source.options->append_only ? std::vector<int16_t>{} : source.key.attnums;
      if (const auto it = view.definitions.find(source.info->oid); it != view.definitions.end()) {
        entry->definition = it->second;
      }
      entry->definition.key = FormatAttnums(key);
      ColumnMapping mapping = MapColumns(*source.info, key, published,
                                         {.unrepresentable = source.options->unrepresentable,
                                          .database_encoding = view.server.encoding});
      for (const std::string& name : mapping.left_out) {
        LogInfo("a generated column is left out", {{"table", source.name}, {"column", name}});
      }
      entry->shape.columns = std::move(mapping.columns);
      entry->shape.key = std::move(mapping.key);
      if (!entry->row_filter.empty()) {
        entry->Block(StrCat(
            source.name, ": row filters of publications are not supported yet. ALTER PUBLICATION ",
            options_.publication, " SET TABLE … without WHERE for it"));
      }
    }
    entries_.push_back(std::move(entry));
  }
  std::vector<std::thread> openers;
  std::atomic<size_t> next{0};
  for (int i = 0; i < std::max(1, options_.workers); ++i) {
    openers.emplace_back([&] {
      for (size_t at = next++; at < entries_.size(); at = next++) {
        if (entries_[at]->phase == TablePhase::kOpening) OpenEntry(*entries_[at]);
      }
    });
  }
  for (std::thread& opener : openers) opener.join();
  for (const auto& entry : entries_) {
    if (entry->phase == TablePhase::kRewinding) {
      return absl::UnavailableError(entry->reason());
    }
  }
  return absl::OkStatus();
}

// On any thread, for an entry that nobody else touches.
absl::Status ReplicationRunner::Impl::OpenLake(ReplicatedTable& entry) {
  LakeTableSpec spec{.ident = entry.source.options->target,
                     .display_name = entry.source.name,
                     .source = source_id_,
                     .retention = options_.retention,
                     .accept_external_writes = entry.source.options->accept_external_writes};
  for (const PgColumn& column : entry.shape.columns)
    spec.columns.push_back({column.name, column.lake, column.required});
  spec.key = entry.shape.key;
  ASSIGN_OR_RETURN(std::unique_ptr<LakeTable> lake,
                   LakeTable::Open({.catalog = environment_.catalog,
                                    .store = environment_.store,
                                    .index_folder = StrCat(options_.state_dir, "/index")},
                                   std::move(spec)));
  if (!entry.table_uuid.empty() && entry.table_uuid != lake->table_uuid()) {
    return absl::FailedPreconditionError(
        StrCat(entry.source.name,
               ": its lake table was replaced by another one. Start again to have it copied."));
  }
  entry.table_uuid = lake->table_uuid();
  entry.shape.seed = lake->key_seed();
  entry.counters.rows = lake->rows();
  const EpochLimits limits{.part_bytes_max = static_cast<uint64_t>(options_.memory_bytes_max) / 8,
                           .epoch_changes_max = std::max<int64_t>(options_.publish_rows, 200'000),
                           .epoch_bytes_max = static_cast<uint64_t>(options_.publish_bytes)};
  const EpochPolicy policy{.divergence = entry.source.options->divergence,
                           .unrepresentable = entry.source.options->unrepresentable};
  entry.worker = std::make_unique<TableWorker>(&entry.routed, &entry.shape, identity_.timeline,
                                               limits, policy, &entry.counters);
  entry.worker->SetLake(std::move(lake));
  return absl::OkStatus();
}

// Opens the table for the first time and decides whether it resumes.
void ReplicationRunner::Impl::OpenEntry(ReplicatedTable& entry) {
  const absl::Status opened = OpenLake(entry);
  if (!opened.ok()) {
    entry.SetAside(StrCat(Message(opened)),
                   IsPassing(opened) ? TablePhase::kRewinding : TablePhase::kBlocked);
    if (!IsPassing(opened)) {
      LogError("a table is set aside", {{"table", entry.source.name}, {"reason", Message(opened)}});
    }
    return;
  }
  const ControlTable* known =
      entry.known ? &control_->record()->tables.at(entry.source.name) : nullptr;
  const std::optional<Watermark> watermark = entry.worker->lake()->watermark();
  const ResumeDecision decision = DecideResume({.oid = entry.routed.oid,
                                                .publication = entry.publication,
                                                .membership = entry.membership,
                                                .definition = entry.definition,
                                                .table_uuid = entry.table_uuid,
                                                .watermark = watermark,
                                                .control = known});
  if (decision.kind == ResumeDecision::Kind::kResume) {
    entry.covered_since = known->covered_since.value;
    entry.routed.watermark_lsn = watermark->lsn.value;
    entry.phase = TablePhase::kJoining;
    return;
  }
  if (watermark)
    LogWarning("a table is copied again",
               {{"table", entry.source.name}, {"reason", decision.reason}});
  entry.known = false;
  entry.phase = TablePhase::kCopying;
}

absl::Status ReplicationRunner::Impl::PrepareSlot(const SourceView& view) {
  LineageFacts facts{.identity = view.identity,
                     .history = view.history,
                     .slot = view.slot,
                     .control = control_->record(),
                     .slot_name = options_.slot,
                     .replication = options_.name};
  for (const auto& entry : entries_) {
    if (entry->worker != nullptr && entry->worker->lake()->watermark()) {
      facts.watermarks.push_back(*entry->worker->lake()->watermark());
    }
  }
  ASSIGN_OR_RETURN(const SlotPlan plan, ProveLineage(facts));
  if (plan == SlotPlan::kUse) {
    if (view.slot->active_pid) {
      return absl::UnavailableError(StrCat("slot ", options_.slot, " is in use by process ",
                                           *view.slot->active_pid,
                                           " of the server: is another fjord running?"));
    }
    confirmed_ = control_->record()->position.value;
    return control_->Write(MakeRecord(confirmed()));
  }
  // That a slot is about to be made is written down first: a slot without a record would
  // look like somebody else's.
  RETURN_IF_ERROR(control_->Write(MakeRecord(Lsn())));
  if (plan == SlotPlan::kRecreate) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Connection> session,
                     Connection::Open(options_.connection));
    RETURN_IF_ERROR(DropSlot(*session, options_.slot));
  }
  return CreatePermanentSlot();
}

absl::Status ReplicationRunner::Impl::SayWhatTheSlotWaitsFor() {
  if (stop_) return absl::CancelledError("stopped");
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> session,
                   Connection::Open(options_.connection));
  ASSIGN_OR_RETURN(const std::vector<OldTransaction> old, ReadOldTransactions(*session));
  std::vector<std::string> descriptions;
  for (const OldTransaction& transaction : old) descriptions.push_back(Describe(transaction));
  LogInfo("waiting for transactions that are open at the source",
          {{"transactions", Join(descriptions, ", ")}});
  return absl::OkStatus();
}

absl::Status ReplicationRunner::Impl::CreatePermanentSlot() {
  ASSIGN_OR_RETURN(slot_session_, Connection::Open(Replicating(options_.connection)));
  ASSIGN_OR_RETURN(
      new_slot_, CreateSlot(*slot_session_, options_.slot, SlotLife::kPermanent, kSlotWaitInterval,
                            [this] { return SayWhatTheSlotWaitsFor(); }));
  confirmed_ = new_slot_->consistent_point.value;
  LogInfo("slot made", {{"slot", options_.slot}, {"lsn", FormatLsn(confirmed())}});
  for (const auto& entry : entries_) {
    if (entry->phase != TablePhase::kCopying) continue;
    entry->routed.watermark_lsn = confirmed_.load();
    entry->covered_since = confirmed_.load();
  }
  return control_->Write(MakeRecord(confirmed()));
}

ControlRecord ReplicationRunner::Impl::MakeRecord(Lsn position) const {
  ControlRecord record;
  if (control_->record()) record.generation = control_->record()->generation;
  if (!started_) ++record.generation;
  record.system_identifier = identity_.system_identifier;
  record.database = identity_.database;
  record.slot = options_.slot;
  record.timeline = identity_.timeline;
  record.position = position;
  for (const auto& entry : entries_) {
    if (entry->table_uuid.empty()) {
      // A table that could not be opened keeps what was known of it, and
      // SafePosition keeps its WAL.
      if (entry->known) {
        const auto it = control_->record()->tables.find(entry->source.name);
        if (it != control_->record()->tables.end()) record.tables.insert(*it);
      }
      continue;
    }
    const TablePhase phase = entry->phase;
    record.tables[entry->source.name] = {.oid = entry->routed.oid,
                                         .table_uuid = entry->table_uuid,
                                         .publication = entry->publication,
                                         .membership_oid = entry->membership.oid,
                                         .membership_xmin = entry->membership.xmin,
                                         .state = phase == TablePhase::kBlocked   ? "blocked"
                                                  : phase == TablePhase::kCopying ? "copying"
                                                                                  : "streaming",
                                         .reason = entry->reason(),
                                         .covered_since = Lsn(entry->covered_since.load()),
                                         .watermark = Lsn(entry->routed.watermark_lsn.load()),
                                         .definition = entry->definition};
  }
  return record;
}

std::vector<ReplicatedTable*> ReplicationRunner::Impl::WaitingForCopy() const {
  std::vector<ReplicatedTable*> waiting;
  for (const auto& entry : entries_) {
    if (entry->phase == TablePhase::kCopying) waiting.push_back(entry.get());
  }
  return waiting;
}

absl::StatusOr<NewSlot> ReplicationRunner::Impl::TemporarySlot(
    std::unique_ptr<Connection>& session) {
  ASSIGN_OR_RETURN(session, Connection::Open(Replicating(options_.connection)));
  const std::string name = StrCat("fjord_copy_", Hex(RandomBytes(6)));
  return CreateSlot(*session, name, SlotLife::kTemporary, kSlotWaitInterval,
                    [this] { return SayWhatTheSlotWaitsFor(); });
}

void ReplicationRunner::Impl::CopyLoop() {
  for (int round = 0; !stop_; ++round) {
    std::vector<ReplicatedTable*> waiting = WaitingForCopy();
    if (waiting.empty()) break;
    if (round >= kCopyRoundsMax) {
      for (ReplicatedTable* entry : waiting) {
        entry->Block(StrCat(entry->source.name, ": it was rewritten or truncated during each of ",
                            kCopyRoundsMax,
                            " attempts to copy it. Start again when that is over."));
      }
      break;
    }
    const absl::Status status = CopyRound(std::move(waiting));
    if (!status.ok() && !stop_) {
      LogWarning("the copy was interrupted", {{"reason", Message(status)}});
      if (!IsPassing(status)) {
        std::lock_guard lock(mutex_);
        copy_failure_ = status;
        break;
      }
      for (int i = 0; i < 50 && !stop_; ++i) absl::SleepFor(absl::Milliseconds(20));
    }
  }
  copying_ = false;
  wake_.notify_all();
}

absl::Status ReplicationRunner::Impl::CopyRound(std::vector<ReplicatedTable*> waiting) {
  std::unique_ptr<Connection> session = std::move(slot_session_);
  std::optional<NewSlot> slot = std::exchange(new_slot_, std::nullopt);
  if (!slot) {
    ASSIGN_OR_RETURN(slot, TemporarySlot(session));
  }
  const Watermark watermark{identity_.timeline, slot->consistent_point};
  ASSIGN_OR_RETURN(const std::unique_ptr<AnchorSession> anchor,
                   AnchorSession::Open(options_.connection, slot->snapshot_name));
  // The anchor keeps the snapshot now. A permanent slot must be free for the stream; a temporary
  // one may go.
  session.reset();
  std::vector<CopyTarget> targets;
  std::vector<TableInfo> infos;
  {
    ASSIGN_OR_RETURN(const std::unique_ptr<Connection> look, Connection::Open(options_.connection));
    std::vector<Oid> oids;
    for (ReplicatedTable* entry : waiting) oids.push_back(entry->routed.oid);
    ASSIGN_OR_RETURN(infos, ReadTablesByOid(*look, oids));
  }
  std::vector<ReplicatedTable*> copied;
  for (ReplicatedTable* entry : waiting) {
    const auto info = std::find_if(infos.begin(), infos.end(),
                                   [&](const TableInfo& i) { return i.oid == entry->routed.oid; });
    if (info == infos.end()) {
      entry->Block(StrCat(entry->source.name, ": the table was dropped"));
      continue;
    }
    entry->routed.watermark_lsn = watermark.lsn.value;
    entry->covered_since = watermark.lsn.value;
    entry->copy.rows = entry->copy.bytes = entry->copy.pages_done = 0;
    targets.push_back({.info = *info,
                       .shape = &entry->shape,
                       .row_filter = entry->row_filter,
                       .unrepresentable = entry->source.options->unrepresentable,
                       .lake = entry->worker->lake(),
                       .progress = &entry->copy});
    copied.push_back(entry);
  }
  // Durable before any base: a base whose coverage is not on record would be
  // copied again after a kill.
  RETURN_IF_ERROR(WaitForRecord());
  RunCopy({.connection = options_.connection,
           .snapshot_name = anchor->snapshot_name(),
           .watermark = watermark,
           .workers = options_.workers},
          std::move(targets), stop_, [&](size_t index, const absl::Status& status) {
            CopyAnswered(*copied[index], watermark, status);
          });
  return absl::OkStatus();
}

void ReplicationRunner::Impl::CopyAnswered(ReplicatedTable& entry, const Watermark& watermark,
                                           const absl::Status& status) {
  if (status.ok()) {
    entry.counters.rows = entry.worker->lake()->rows();
    LogInfo("table copied", {{"table", entry.source.name},
                             {"rows", entry.copy.rows.load()},
                             {"lsn", FormatLsn(watermark.lsn)}});
    entry.phase = TablePhase::kJoining;
    wake_.notify_all();
  } else if (IsPassing(status)) {
    LogWarning("a table will be copied from a newer snapshot",
               {{"table", entry.source.name}, {"reason", Message(status)}});
  } else {
    LogError("a table is set aside", {{"table", entry.source.name}, {"reason", Message(status)}});
    entry.Block(StrCat(Message(status)));
    entry.covered_since = 0;
  }
}

absl::Status ReplicationRunner::Impl::WaitForRecord() {
  std::unique_lock lock(mutex_);
  record_wanted_ = true;
  wake_.notify_all();
  recorded_.wait(lock, [this] { return !record_wanted_ || stop_; });
  return record_wanted_ ? absl::CancelledError("stopped") : absl::OkStatus();
}

absl::Status ReplicationRunner::Impl::RecordIfWanted() {
  {
    std::lock_guard lock(mutex_);
    if (!record_wanted_) return absl::OkStatus();
  }
  RETURN_IF_ERROR(control_->Write(MakeRecord(confirmed())));
  std::lock_guard lock(mutex_);
  record_wanted_ = false;
  recorded_.notify_all();
  return absl::OkStatus();
}

void ReplicationRunner::Impl::StartStream() {
  ReplicationStreamOptions options{.connection = options_.connection,
                                   .slot = options_.slot,
                                   .start = confirmed(),
                                   .publications = publications_};
  stream_ = std::make_unique<StreamThread>(
      std::move(options), router_.get(),
      StreamHooks{.before_connect = [this] { return BeforeConnect(); },
                  .on_changes = [this] { wake_.notify_all(); }});
  stream_->Start();
}

// On the stream's thread, which owns skip_until.
absl::Status ReplicationRunner::Impl::BeforeConnect() {
  ASSIGN_OR_RETURN(const SourceView view, LookAgain(options_));
  ControlRecord ours{.system_identifier = identity_.system_identifier,
                     .database = identity_.database,
                     .slot = options_.slot,
                     .timeline = identity_.timeline,
                     .position = confirmed()};
  std::vector<Watermark> watermarks;
  for (const auto& entry : entries_) {
    const Lsn lsn(entry->routed.watermark_lsn.load());
    if (entry->phase != TablePhase::kBlocked) watermarks.push_back({identity_.timeline, lsn});
  }
  ASSIGN_OR_RETURN(const SlotPlan plan, ProveLineage({.identity = view.identity,
                                                      .history = view.history,
                                                      .slot = view.slot,
                                                      .control = std::move(ours),
                                                      .watermarks = std::move(watermarks),
                                                      .slot_name = options_.slot,
                                                      .replication = options_.name}));
  if (plan != SlotPlan::kUse)
    return absl::DataLossError(StrCat("slot ", options_.slot, " is gone"));
  join_requested_ = false;
  for (const auto& entry : entries_) {
    if (entry->phase != TablePhase::kJoining || entry->busy) continue;
    entry->routed.feed.Clear();
    entry->routed.skip_until = Lsn(entry->routed.watermark_lsn.load());
    // touched_lsn stays: what was received and dropped above the watermark keeps the table pending,
    // and so the slot in place, until it was received again and published.
    entry->routed.blocked = false;
    entry->phase = TablePhase::kLive;
  }
  return absl::OkStatus();
}

absl::Status ReplicationRunner::Impl::Loop(RunUntil until) {
  absl::Time next_progress = absl::Now() + absl::Seconds(5);
  while (!stop_) {
    const absl::Time now = absl::Now();
    {
      std::lock_guard lock(mutex_);
      RETURN_IF_ERROR(copy_failure_);
    }
    if (stream_ != nullptr) RETURN_IF_ERROR(stream_->failure());
    const bool joining = std::any_of(entries_.begin(), entries_.end(), [](const auto& entry) {
      return entry->phase == TablePhase::kJoining && !entry->busy;
    });
    if (until == RunUntil::kCopied && !copying_) return absl::OkStatus();
    const bool usable = std::any_of(entries_.begin(), entries_.end(), [](const auto& entry) {
      return entry->phase != TablePhase::kBlocked;
    });
    if (!usable && !copying_) {
      return absl::FailedPreconditionError(
          StrCat("replication ", options_.name,
                 ": no table can go on: ", entries_.empty() ? "" : entries_[0]->reason()));
    }
    if (until == RunUntil::kStopped && joining) {
      if (stream_ == nullptr) {
        StartStream();
      } else if (stream_->connected() && !join_requested_.exchange(true)) {
        stream_->RequestReconnect();
      }
    }
    watch_->Look(entries_, now);
    Schedule(now, false);
    RETURN_IF_ERROR(RecordIfWanted());
    if (now >= next_slot_look_) LookAtSlot(now);
    RETURN_IF_ERROR(Acknowledge(now, false));
    if (copying_ && now >= next_progress) {
      next_progress = now + absl::Seconds(5);
      for (ReplicatedTable* entry : WaitingForCopy()) {
        const int64_t total = entry->copy.pages_total;
        LogInfo("copying", {{"table", entry->source.name},
                            {"rows", entry->copy.rows.load()},
                            {"percent", total == 0 ? 100 : 100 * entry->copy.pages_done / total}});
      }
    }
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, absl::ToChronoMilliseconds(kTick));
  }
  return absl::OkStatus();
}

bool ReplicationRunner::Impl::IsDue(const ReplicatedTable& entry, absl::Time now) const {
  const FeedState feed = entry.routed.feed.state();
  if (feed.first_commit == Lsn()) return false;
  return now - entry.last_epoch >= options_.publish_every ||
         static_cast<int64_t>(feed.changes) >= options_.publish_rows ||
         static_cast<int64_t>(feed.bytes) >= options_.publish_bytes;
}

void ReplicationRunner::Impl::Schedule(absl::Time now, bool everything) {
  for (const auto& entry : entries_) {
    if (entry->busy) continue;
    if (entry->phase == TablePhase::kRewinding && now >= entry->retry_at) {
      entry->busy = true;
      pool_.Submit([this, entry = entry.get()] { Reopen(*entry); });
    } else if (entry->phase == TablePhase::kLive && TableWatch::Seen(*entry) &&
               !entry->routed.feed.empty() && (everything || IsDue(*entry, now))) {
      entry->busy = true;
      entry->last_epoch = now;
      pool_.Submit([this, entry = entry.get()] { RunEpoch(*entry); });
    }
  }
}

void ReplicationRunner::Impl::RunEpoch(ReplicatedTable& entry) {
  const absl::Status status = entry.worker->RunEpoch();
  if (status.ok()) {
    entry.backoff = absl::Milliseconds(200);
  } else if (IsPassing(status)) {
    LogWarning("a table is rewound to its watermark",
               {{"table", entry.source.name}, {"reason", Message(status)}});
    entry.retry_at = absl::Now() + entry.backoff;
    entry.backoff = std::min(entry.backoff * 2, kRewindBackoffMax);
    entry.SetAside(StrCat(Message(status)), TablePhase::kRewinding);
  } else {
    LogError("a table is set aside", {{"table", entry.source.name}, {"reason", Message(status)}});
    entry.Block(StrCat(Message(status)));
    entry.routed.feed.Clear();
  }
  entry.busy = false;
  wake_.notify_all();
}

void ReplicationRunner::Impl::Reopen(ReplicatedTable& entry) {
  entry.worker.reset();
  absl::Status status = OpenLake(entry);
  if (status.ok() && !entry.worker->lake()->watermark()) {
    status = absl::FailedPreconditionError(
        StrCat(entry.source.name, ": its lake table was emptied by somebody else"));
  }
  if (status.ok() &&
      entry.worker->lake()->watermark()->lsn < Lsn(entry.routed.watermark_lsn.load())) {
    entry.covered_since = 0;
    status = absl::FailedPreconditionError(StrCat(
        entry.source.name,
        ": its lake table was set back to an older state. Start again to have it copied anew."));
  }
  if (status.ok()) {
    // A commit whose outcome was unknown may have landed.
    entry.routed.watermark_lsn = entry.worker->lake()->watermark()->lsn.value;
    entry.phase = TablePhase::kJoining;
  } else if (IsPassing(status)) {
    entry.retry_at = absl::Now() + entry.backoff;
    entry.backoff = std::min(entry.backoff * 2, kRewindBackoffMax);
  } else {
    LogError("a table is set aside", {{"table", entry.source.name}, {"reason", Message(status)}});
    entry.Block(StrCat(Message(status)));
  }
  entry.busy = false;
  wake_.notify_all();
}

// The smallest watermark of pending tables, or everything received when none is pending.
Lsn ReplicationRunner::Impl::SafePosition() const {
  // Received first: a commit that comes after this makes its table pending above it.
  Lsn safe = router_->received();
  for (const auto& entry : entries_) {
    // Without a base there is nothing to keep current: the table will be copied
    // from a newer snapshot.
    const bool has_base = entry->known || entry->covered_since != 0;
    if (has_base && entry->routed.pending())
      safe = std::min(safe, Lsn(entry->routed.watermark_lsn.load()));
  }
  return std::max(safe, confirmed());
}

absl::Status ReplicationRunner::Impl::Acknowledge(absl::Time now, bool at_once) {
  if (stream_ == nullptr) return absl::OkStatus();
  if (!at_once && now - last_control_ < kControlInterval) return absl::OkStatus();
  const Lsn safe = SafePosition();
  if (safe <= confirmed() && !at_once) return absl::OkStatus();
  last_control_ = now;
  KillPoint("before-confirm");
  // The record first: if the slot were ahead of it, the next start could not tell our own
  // confirmation from somebody else's.
  const absl::Status written = control_->Write(MakeRecord(safe));
  if (absl::IsAborted(written)) return written;
  if (!written.ok()) {
    LogWarning("the control record could not be written, the slot stays where it is",
               {{"reason", Message(written)}});
    return absl::OkStatus();
  }
  confirmed_ = safe.value;
  stream_->Confirm(safe);
  KillPoint("after-confirm");
  return absl::OkStatus();
}

// For status and metrics only, so a source that does not answer is no error here.
void ReplicationRunner::Impl::LookAtSlot(absl::Time now) {
  next_slot_look_ = now + kSlotLookInterval;
  if (look_session_ == nullptr) {
    absl::StatusOr<std::unique_ptr<Connection>> opened = Connection::Open(options_.connection);
    if (!opened.ok()) return;
    look_session_ = *std::move(opened);
  }
  const absl::StatusOr<std::optional<SlotState>> slot = ReadSlot(*look_session_, options_.slot);
  if (!slot.ok()) {
    look_session_.reset();
    return;
  }
  if (!slot->has_value()) return;
  retained_wal_bytes_ = (*slot)->retained_wal_bytes;
  catalog_xmin_age_ = (*slot)->catalog_xmin_age;
}

bool ReplicationRunner::Impl::AnyBusy() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const auto& entry) { return entry->busy.load(); });
}

// A clean stop: what was received is published and confirmed, and every index closed.
absl::Status ReplicationRunner::Impl::Finish() {
  Stop();
  if (copy_thread_.joinable()) copy_thread_.join();
  const absl::Time limit = absl::Now() + kStopLimit;
  while (AnyBusy() && absl::Now() < limit) absl::SleepFor(absl::Milliseconds(5));
  watch_->Look(entries_, absl::Now());
  Schedule(absl::Now(), true);
  while (AnyBusy() && absl::Now() < limit) absl::SleepFor(absl::Milliseconds(5));
  if (stream_ != nullptr) {
    RETURN_IF_ERROR(Acknowledge(absl::Now(), true));
    stream_->Stop();
  } else {
    RETURN_IF_ERROR(control_->Write(MakeRecord(confirmed())));
  }
  pool_.Stop();
  for (const auto& entry : entries_) {
    if (entry->worker == nullptr || entry->worker->lake() == nullptr) continue;
    const absl::Status closed = entry->worker->lake()->Close();
    if (!closed.ok())
      LogWarning("an index was not closed",
                 {{"table", entry->source.name}, {"reason", Message(closed)}});
  }
  return absl::OkStatus();
}

void ReplicationRunner::Impl::Shutdown() {
  Stop();
  if (copy_thread_.joinable()) copy_thread_.join();
  if (stream_ != nullptr) stream_->Stop();
  pool_.Stop();
}

ReplicationStatus ReplicationRunner::Impl::Snapshot() const {
  ReplicationStatus status{.name = options_.name};
  if (!started_) return status;
  status.connected = stream_ != nullptr && stream_->connected();
  if (stream_ != nullptr) status.last_error = stream_->last_error();
  status.received = router_->received();
  status.confirmed = stream_ != nullptr ? stream_->confirmed() : confirmed();
  status.window_bytes = static_cast<int64_t>(account_.used());
  status.retained_wal_bytes = retained_wal_bytes_;
  status.catalog_xmin_age = catalog_xmin_age_;
  status.spool_bytes = static_cast<int64_t>(spool_->bytes_on_disk());
  const int64_t now_us = absl::ToUnixMicros(absl::Now());
  for (const auto& entry : entries_) {
    TableStatus table{.source = entry->source.name,
                      .target = StrCat(Join(entry->source.options->target.ns, "."), ".",
                                       entry->source.options->target.name)};
    switch (entry->phase.load()) {
      case TablePhase::kOpening: table.state = TableState::kStarting; break;
      case TablePhase::kCopying: table.state = TableState::kCopying; break;
      case TablePhase::kJoining:
      case TablePhase::kLive: table.state = TableState::kStreaming; break;
      case TablePhase::kRewinding: table.state = TableState::kRecovering; break;
      case TablePhase::kBlocked: table.state = TableState::kBlocked; break;
    }
    if (table.state == TableState::kBlocked || table.state == TableState::kRecovering)
      table.reason = entry->reason();
    table.rows = entry->counters.rows;
    table.watermark = Lsn(entry->routed.watermark_lsn.load());
    const FeedState feed = entry->routed.feed.state();
    table.pending_bytes = static_cast<int64_t>(feed.bytes);
    if (feed.first_commit_time_us != 0) {
      table.lag_seconds =
          std::max(0.0, static_cast<double>(now_us - feed.first_commit_time_us) / 1e6);
    }
    table.epochs = entry->counters.epochs;
    table.changes = entry->counters.changes;
    table.repaired = entry->counters.repaired;
    table.nulled = entry->counters.nulled + entry->copy.nulled;
    table.copy_rows = entry->copy.rows;
    table.copy_bytes = entry->copy.bytes;
    const int64_t pages = entry->copy.pages_total;
    table.copy_fraction =
        pages == 0 ? 0 : static_cast<double>(entry->copy.pages_done) / static_cast<double>(pages);
    status.tables.push_back(std::move(table));
  }
  return status;
}

ReplicationRunner::ReplicationRunner(ReplicationOptions options, ReplicationEnvironment environment)
    : impl_(std::make_unique<Impl>(std::move(options), environment)) {}
ReplicationRunner::~ReplicationRunner() = default;
absl::Status ReplicationRunner::Run(RunUntil until) { return impl_->Run(until); }
void ReplicationRunner::Stop() { impl_->Stop(); }
ReplicationStatus ReplicationRunner::Snapshot() const { return impl_->Snapshot(); }

}  // namespace fjord
