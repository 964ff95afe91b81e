#include "replicate/router.h"

#include <utility>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr size_t kBlockBytes = 256 << 10;
constexpr size_t kXidBytes = 4;
constexpr size_t kOidBytes = 4;

int64_t UnixMicros(absl::Time time) { return absl::ToUnixMicros(time); }

}  // namespace

std::string ShapeDifference(const TableShape& shape, const RelationMessage& message) {
  if (message.columns.size() != shape.columns.size()) {
    return StrCat("it has ", message.columns.size(), " columns now and had ", shape.columns.size());
  }
  for (size_t i = 0; i < shape.columns.size(); ++i) {
    const PgColumn& known = shape.columns[i];
    const RelationColumn& announced = message.columns[i];
    if (known.name != announced.name) {
      return StrCat("column ", i + 1, " is ", announced.name, " now and was ", known.name);
    }
    if (known.type != announced.type || known.typmod != announced.typmod) {
      return StrCat("the type of column ", known.name, " changed");
    }
    if (!shape.key.empty() && message.replica_identity != 'f' && known.is_key != announced.is_key) {
      return StrCat("the replica identity is another one, column ", known.name,
                    known.is_key ? " is not in it any more" : " is in it now");
    }
  }
  return "";
}

Router::~Router() { OnDisconnect(); }

RoutedTable* Router::Find(Oid oid) {
  const auto it = tables_.find(oid);
  return it == tables_.end() ? nullptr : it->second;
}

void Router::NoteReceived(Lsn lsn) {
  if (lsn.value > received_) received_ = lsn.value;
}

absl::Status Router::OnMessage(std::string_view payload) {
  if (payload.empty()) return absl::DataLossError("the server sent an empty message");
  switch (payload[0]) {
    case 'I':
    case 'U':
    case 'D': return OnChange(payload);
    default: break;
  }
  const StreamBlock block = in_stream_block_ ? StreamBlock::kInside : StreamBlock::kOutside;
  ASSIGN_OR_RETURN(const PgOutputMessage message, ParsePgOutput(payload, block, scratch_));
  if (std::holds_alternative<BeginMessage>(message)) {
    in_transaction_ = true;
  } else if (const auto* commit = std::get_if<CommitMessage>(&message)) {
    return OnCommit(*commit);
  } else if (const auto* relation = std::get_if<RelationMessage>(&message)) {
    return OnRelation(*relation);
  } else if (const auto* truncate = std::get_if<TruncateMessage>(&message)) {
    return OnTruncate(*truncate);
  } else if (const auto* start = std::get_if<StreamStartMessage>(&message)) {
    in_stream_block_ = true;
    stream_xid_ = start->xid;
    open_.try_emplace(start->xid);
  } else if (std::holds_alternative<StreamStopMessage>(message)) {
    in_stream_block_ = false;
  } else if (const auto* stream_commit = std::get_if<StreamCommitMessage>(&message)) {
    return OnStreamCommit(*stream_commit);
  } else if (const auto* abort = std::get_if<StreamAbortMessage>(&message)) {
    OnStreamAbort(*abort);
  } else if (const auto* logical = std::get_if<LogicalMessage>(&message)) {
    if (!logical->transactional && !in_transaction_ && open_.empty()) NoteReceived(logical->lsn);
  }
  return absl::OkStatus();
}

// The hot path: nothing but the relation is looked at here.
absl::Status Router::OnChange(std::string_view payload) {
  const size_t xid_bytes = in_stream_block_ ? kXidBytes : 0;
  if (payload.size() < 1 + xid_bytes + kOidBytes)
    return absl::DataLossError("a change message is cut short");
  const Xid xid(in_stream_block_ ? GetBig32(payload.data() + 1) : 0);
  RoutedTable* table = Find(Oid(GetBig32(payload.data() + 1 + xid_bytes)));
  if (table == nullptr) return absl::OkStatus();
  changes_received_.fetch_add(1, std::memory_order_relaxed);
  return Add(*table, static_cast<ChangeKind>(payload[0]), xid, payload.substr(0, 1),
             payload.substr(1 + xid_bytes));
}

absl::Status Router::Add(RoutedTable& table, ChangeKind kind, Xid xid, std::string_view head,
                         std::string_view rest) {
  if (table.blocked.load(std::memory_order_relaxed)) {
    // The records are of no use, but the commit has to make the table pending: it will be received
    // again.
    (in_stream_block_ ? open_[stream_xid_].tables : current_).try_emplace(table.oid);
    return absl::OkStatus();
  }
  TableChanges& changes =
      in_stream_block_ ? open_[stream_xid_].tables[table.oid] : current_[table.oid];
  PutFixed32(changes.buffer, static_cast<uint32_t>(head.size() + rest.size()));
  changes.buffer.push_back(static_cast<char>(kind));
  PutFixed32(changes.buffer, xid.value);
  changes.buffer.append(head);
  changes.buffer.append(rest);
  ++changes.changes;
  return changes.buffer.size() >= kBlockBytes ? CutBlock(changes) : absl::OkStatus();
}

absl::Status Router::CutBlock(TableChanges& changes) {
  if (changes.buffer.empty()) return absl::OkStatus();
  std::string bytes = std::exchange(changes.buffer, {});
  if (account_->full()) {
    ASSIGN_OR_RETURN(const SpoolRef ref, spool_->Append(bytes));
    changes.blocks.push_back(ChangeBlock::InSpool(spool_, ref));
    return absl::OkStatus();
  }
  account_->Add(bytes.size());
  changes.bytes += bytes.size();
  changes.blocks.push_back(ChangeBlock::InMemory(std::move(bytes)));
  return absl::OkStatus();
}

absl::Status Router::OnTruncate(const TruncateMessage& message) {
  for (const Oid oid : message.relations) {
    if (RoutedTable* table = Find(oid))
      RETURN_IF_ERROR(Add(*table, ChangeKind::kTruncate, message.xid, "", ""));
  }
  return absl::OkStatus();
}

// A relation message comes before the first change of its new shape and within the transaction that
// has it, so the record blocks the table exactly there, and not at all when that transaction is
// rolled back.
absl::Status Router::OnRelation(const RelationMessage& message) {
  RoutedTable* table = Find(message.relation);
  if (table == nullptr) return absl::OkStatus();
  table->announcements.fetch_add(1);
  const std::string difference = ShapeDifference(*table->shape, message);
  if (difference.empty()) return absl::OkStatus();
  const std::string reason = StrCat(table->shape->name, ": its columns changed: ", difference,
                                    ". Schema changes are not supported yet: remove the table from "
                                    "the configuration, or drop the lake table "
                                    "and start again to have it copied anew.");
  return Add(*table, ChangeKind::kBlock, message.xid, "", reason);
}

absl::Status Router::OnCommit(const CommitMessage& message) {
  const CommitMark mark{message.end_lsn, UnixMicros(message.commit_time)};
  for (auto& [oid, changes] : current_) {
    RoutedTable& table = *tables_[oid];
    account_->Remove(std::exchange(changes.bytes, 0));
    if (message.end_lsn <= table.skip_until) continue;
    table.touched_lsn = message.end_lsn.value;
    if (!table.blocked) RETURN_IF_ERROR(Feed(table, changes, mark));
    // Only now: after an error the server sends the transaction again, and it must not be skipped.
    table.skip_until = message.end_lsn;
  }
  current_.clear();
  in_transaction_ = false;
  if (open_.empty()) NoteReceived(message.end_lsn);
  return absl::OkStatus();
}

absl::Status Router::Feed(RoutedTable& table, TableChanges& changes, CommitMark mark) {
  AppendCommit(changes.buffer, mark.end_lsn, mark.commit_time_us);
  if (changes.blocks.empty())
    return table.feed.Append(std::move(changes.buffer), changes.changes, mark);
  changes.blocks.push_back(ChangeBlock::InMemory(std::move(changes.buffer)));
  table.feed.Append(std::move(changes.blocks), changes.changes, mark);
  return absl::OkStatus();
}

absl::Status Router::OnStreamCommit(const StreamCommitMessage& message) {
  auto node = open_.extract(message.xid);
  if (node.empty()) return absl::OkStatus();
  OpenTransaction& transaction = node.mapped();
  const CommitMark mark{message.end_lsn, UnixMicros(message.commit_time)};
  for (auto& [oid, changes] : transaction.tables) {
    RoutedTable& table = *tables_[oid];
    account_->Remove(changes.bytes);
    if (message.end_lsn <= table.skip_until) continue;
    table.skip_until = message.end_lsn;
    table.touched_lsn = message.end_lsn.value;
    if (table.blocked) continue;
    AppendCommit(changes.buffer, mark.end_lsn, mark.commit_time_us);
    changes.blocks.push_back(ChangeBlock::InMemory(std::move(changes.buffer)));
    for (ChangeBlock& block : changes.blocks) block.aborted = transaction.aborted;
    table.feed.Append(std::move(changes.blocks), changes.changes, mark);
  }
  if (open_.empty()) NoteReceived(message.end_lsn);
  return absl::OkStatus();
}

void Router::OnStreamAbort(const StreamAbortMessage& message) {
  const auto it = open_.find(message.xid);
  if (it == open_.end()) return;
  if (message.sub_xid == message.xid) {
    Drop(it->second);
    open_.erase(it);
    return;
  }
  if (it->second.aborted == nullptr) it->second.aborted = std::make_shared<AbortedXids>();
  it->second.aborted->insert(message.sub_xid.value);
}

void Router::Drop(OpenTransaction& transaction) {
  for (auto& [oid, changes] : transaction.tables) account_->Remove(changes.bytes);
}

void Router::OnKeepalive(Lsn wal_end) {
  // While a transaction is open here, the server's position says nothing about what we hold of it.
  if (!in_transaction_ && open_.empty()) NoteReceived(wal_end);
}

void Router::OnDisconnect() {
  for (auto& [xid, transaction] : open_) Drop(transaction);
  open_.clear();
  for (auto& [oid, changes] : current_) account_->Remove(changes.bytes);
  current_.clear();
  in_transaction_ = in_stream_block_ = false;
}

}  // namespace fjord
