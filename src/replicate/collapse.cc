#include "replicate/collapse.h"

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

// Keys are decoded and hashed a batch at a time: column-wise decoding pays only then.
constexpr size_t kHashBatch = 1024;

}  // namespace

std::span<const TextCell> Collapse::Row(uint32_t row) const {
  const size_t columns = shape_->columns.size();
  return {cells_.data() + row * columns, columns};
}

uint64_t Collapse::memory_bytes() const {
  return block_bytes_ + cells_.size() * sizeof(TextCell) +
         states_.size() * (sizeof(KeyState) + 2 * sizeof(Hash128));
}

void Collapse::NextPart() {
  blocks_.clear();
  block_bytes_ = 0;
  cells_.clear();
  by_key_.clear();
  states_.clear();
  appended_.clear();
}

void Collapse::Reset() {
  NextPart();
  pending_.clear();
  truncations_ = 0;
  changes_ = repaired_ = 0;
  last_commit_ = {};
}

absl::Status Collapse::Add(std::string block, const AbortedXids* aborted, Lsn commit_hint) {
  block_bytes_ += block.size();
  blocks_.push_back(std::move(block));
  commit_hint_ = commit_hint;
  ChangeReader reader(blocks_.back());
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<ChangeRecord> record, reader.Next());
    if (!record) break;
    if (aborted != nullptr && aborted->contains(record->sub_xid.value)) continue;
    RETURN_IF_ERROR(Parse(*record));
    if (pending_.size() >= kHashBatch) RETURN_IF_ERROR(Settle());
  }
  return Settle();
}

absl::Status Collapse::Parse(const ChangeRecord& record) {
  if (record.kind == ChangeKind::kCommit) {
    ASSIGN_OR_RETURN(last_commit_, ParseCommitMark(record.payload));
    commit_hint_ = last_commit_.end_lsn;
    return absl::OkStatus();
  }
  if (record.kind == ChangeKind::kBlock) {
    RETURN_IF_ERROR(Settle());
    return absl::FailedPreconditionError(StrCat(record.payload));
  }
  ++changes_;
  if (record.kind == ChangeKind::kTruncate) {
    RETURN_IF_ERROR(Settle());
    Truncate();
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const PgOutputMessage message,
                   ParsePgOutput(record.payload, StreamBlock::kOutside, scratch_));
  Pending pending{.kind = record.kind};
  if (const auto* insert = std::get_if<InsertMessage>(&message)) {
    pending.row = StoreRow(insert->row);
  } else if (const auto* update = std::get_if<UpdateMessage>(&message)) {
    pending.row = StoreRow(update->row);
    pending.old_kind = update->old_kind;
    if (update->old_kind != OldTuple::kNone) pending.old_row = StoreRow(update->old_row);
    FillUnchangedFromOld(pending);
  } else if (const auto* del = std::get_if<DeleteMessage>(&message)) {
    pending.old_kind = del->old_kind;
    pending.old_row = StoreRow(del->old_row);
  } else {
    return absl::DataLossError(StrCat(shape_->name, ": the window holds a record of no change"));
  }
  pending_.push_back(pending);
  return absl::OkStatus();
}

uint32_t Collapse::StoreRow(std::span<const TextCell> row) {
  const size_t columns = shape_->columns.size();
  const uint32_t index = static_cast<uint32_t>(cells_.size() / std::max<size_t>(1, columns));
  cells_.insert(cells_.end(), row.begin(),
                row.begin() + static_cast<std::ptrdiff_t>(std::min(row.size(), columns)));
  cells_.resize((index + 1) * columns);
  return index;
}

// A full old tuple has every value; a key tuple has only the key's, the other fields
// are null by protocol and must not be believed (PostgreSQL manual, "Logical
// Replication Message Formats", Update).
void Collapse::FillUnchangedFromOld(Pending& pending) {
  if (pending.old_row == KeyState::kNoRow) return;
  const size_t columns = shape_->columns.size();
  TextCell* row = cells_.data() + pending.row * columns;
  const TextCell* old = cells_.data() + pending.old_row * columns;
  for (size_t i = 0; i < columns; ++i) {
    if (row[i].kind != TextCell::Kind::kUnchanged) continue;
    const bool in_old = pending.old_kind == OldTuple::kFull || shape_->columns[i].is_key;
    if (in_old && old[i].kind != TextCell::Kind::kUnchanged) row[i] = old[i];
  }
}

absl::Status Collapse::HashSide(bool old_side) {
  TupleRows keys{.columns = shape_->key.size()};
  std::vector<size_t> owners;
  for (size_t i = 0; i < pending_.size(); ++i) {
    const uint32_t row = old_side ? pending_[i].old_row : pending_[i].row;
    if (row == KeyState::kNoRow) continue;
    for (const int column : shape_->key) {
      const TextCell& cell = Row(row)[static_cast<size_t>(column)];
      if (cell.kind != TextCell::Kind::kText) {
        return absl::FailedPreconditionError(
            StrCat(shape_->name, ": a change at ", FormatLsn(commit_hint_),
                   " carries no value for key column ",
                   shape_->columns[static_cast<size_t>(column)].name, ". Set ALTER TABLE ",
                   shape_->name, " REPLICA IDENTITY FULL and copy the table again."));
      }
      keys.cells.push_back(cell);
    }
    ++keys.rows;
    owners.push_back(i);
  }
  std::vector<PgColumn> key_columns;
  std::vector<int> all;
  for (const int column : shape_->key) {
    all.push_back(static_cast<int>(key_columns.size()));
    key_columns.push_back(shape_->columns[static_cast<size_t>(column)]);
  }
  ColumnBatch batch = MakeBatch(key_columns);
  const DecodeResult result = DecodeRows(key_columns, keys, UnrepresentablePolicy::kBlock, batch);
  if (result.problem) return result.problem->ToStatus(shape_->name);
  std::string bytes;
  for (size_t i = 0; i < owners.size(); ++i) {
    bytes.clear();
    AppendKeyBytes(batch, i, all, bytes);
    Pending& pending = pending_[owners[i]];
    (old_side ? pending.old_key : pending.key) = SipHash128(shape_->seed, bytes);
  }
  return absl::OkStatus();
}

absl::Status Collapse::Settle() {
  if (pending_.empty()) return absl::OkStatus();
  if (shape_->key.empty()) {
    for (const Pending& pending : pending_) {
      if (pending.kind == ChangeKind::kInsert) appended_.push_back(pending.row);
    }
    pending_.clear();
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(HashSide(true));
  RETURN_IF_ERROR(HashSide(false));
  for (const Pending& pending : pending_) RETURN_IF_ERROR(SettleOne(pending));
  pending_.clear();
  return absl::OkStatus();
}

absl::Status Collapse::SettleOne(const Pending& pending) {
  if (pending.kind == ChangeKind::kDelete) return Remove(pending.old_key);
  if (pending.kind == ChangeKind::kInsert) return Put(pending, {}, false);
  if (pending.old_row != KeyState::kNoRow && pending.old_key != pending.key) {
    // A key change is delete(old) + put(new); what it did not touch comes from the
    // row under the old key.
    const auto it = by_key_.find(pending.old_key);
    const KeyState before = it == by_key_.end() ? KeyState{} : states_[it->second];
    RETURN_IF_ERROR(Remove(pending.old_key));
    bool unchanged = HasUnchanged(pending.row);
    Hash128 origin = pending.old_key;
    if (unchanged && before.row != KeyState::kNoRow) {
      unchanged = MergeUnchanged(pending.row, before.row);
      origin = before.origin;
    }
    return Put(pending, origin, unchanged);
  }
  return Replace(StateOf(pending.key, true), pending);
}

KeyState& Collapse::StateOf(const Hash128& key, bool existed_if_new) {
  const auto [it, is_new] = by_key_.try_emplace(key, static_cast<uint32_t>(states_.size()));
  if (is_new)
    states_.push_back(
        {.key = key, .origin = key, .existed = existed_if_new, .exists = existed_if_new});
  KeyState& state = states_[it->second];
  state.lsn = commit_hint_;
  return state;
}

absl::Status Collapse::Put(const Pending& pending, const Hash128& origin, bool has_unchanged) {
  KeyState& state = StateOf(pending.key, false);
  if (state.exists) RETURN_IF_ERROR(Diverged("an insert of a key that is there", pending.key));
  state.exists = true;
  state.row = pending.row;
  state.has_unchanged = has_unchanged;
  if (has_unchanged) state.origin = origin;
  return absl::OkStatus();
}

absl::Status Collapse::Replace(KeyState& state, const Pending& pending) {
  if (!state.exists) RETURN_IF_ERROR(Diverged("an update of a key that is not there", pending.key));
  state.exists = true;
  bool unchanged = HasUnchanged(pending.row);
  if (unchanged && state.row != KeyState::kNoRow) {
    unchanged = MergeUnchanged(pending.row, state.row);  // the origin stays
  } else if (unchanged) {
    state.origin = state.key;
  }
  state.row = pending.row;
  state.has_unchanged = unchanged;
  return absl::OkStatus();
}

absl::Status Collapse::Remove(const Hash128& key) {
  KeyState& state = StateOf(key, true);
  if (!state.exists) RETURN_IF_ERROR(Diverged("a delete of a key that is not there", key));
  state.exists = false;
  state.row = KeyState::kNoRow;
  state.has_unchanged = false;
  return absl::OkStatus();
}

absl::Status Collapse::Diverged(std::string_view what, const Hash128& key) {
  if (rule_ == DivergenceRule::kRepair) {
    ++repaired_;
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      StrCat(shape_->name, ": lake and source have diverged: ", what, " (key hash ", Hex(key),
             ", commit at ", FormatLsn(commit_hint_),
             "). Copy the table again, or set onDivergence: repair for it."));
}

bool Collapse::HasUnchanged(uint32_t row) const {
  for (const TextCell& cell : Row(row)) {
    if (cell.kind == TextCell::Kind::kUnchanged) return true;
  }
  return false;
}

// True when some value is still unknown: then the earlier row did not have it either, and the
// origin is the earlier row's.
bool Collapse::MergeUnchanged(uint32_t row, uint32_t previous) {
  const size_t columns = shape_->columns.size();
  TextCell* to = cells_.data() + row * columns;
  const TextCell* from = cells_.data() + previous * columns;
  bool unknown = false;
  for (size_t i = 0; i < columns; ++i) {
    if (to[i].kind != TextCell::Kind::kUnchanged) continue;
    to[i] = from[i];
    unknown |= to[i].kind == TextCell::Kind::kUnchanged;
  }
  return unknown;
}

void Collapse::Truncate() {
  by_key_.clear();
  states_.clear();
  appended_.clear();
  ++truncations_;
}

}  // namespace fjord
