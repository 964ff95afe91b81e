// Messages of the pgoutput plugin, protocol versions 1 and 2, with values as text. Pure:
// bytes in, structs out.
//
// Format: PostgreSQL manual, "Logical Replication Message Formats". Strings and cells of a message
// point into the payload, lists into the scratch: both live until the caller reuses them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/ids.h"
#include "postgres/tuple.h"

namespace fjord {

struct BeginMessage {
  Lsn final_lsn;  // of the commit record
  absl::Time commit_time;
  Xid xid;
};
struct CommitMessage {
  Lsn commit_lsn;
  Lsn end_lsn;  // where the transaction ends: what a watermark names
  absl::Time commit_time;
};
struct OriginMessage {
  Lsn commit_lsn;
  std::string_view name;
};
struct RelationColumn {
  bool is_key = false;  // of the replica identity
  std::string_view name;
  Oid type;
  int32_t typmod = -1;
};
// In a streamed transaction `xid` is the (sub)transaction that a message belongs to;
// else 0. Here and below.
struct RelationMessage {
  Xid xid;
  Oid relation;
  std::string_view schema;  // empty on the wire for pg_catalog
  std::string_view name;
  char replica_identity = 'd';  // d default, n nothing, f full, i index
  std::span<const RelationColumn> columns;
};
struct TypeMessage {
  Xid xid;
  Oid type;
  std::string_view schema;
  std::string_view name;
};
// What an update or delete says of the row as it was.
enum class OldTuple : uint8_t {
  kNone,
  kKey,   // only the identity's columns have values; the others are null by protocol and mean
          // nothing
  kFull,  // REPLICA IDENTITY FULL
};
struct InsertMessage {
  Xid xid;
  Oid relation;
  std::span<const TextCell> row;
};
struct UpdateMessage {
  Xid xid;
  Oid relation;
  OldTuple old_kind = OldTuple::kNone;
  std::span<const TextCell> old_row;
  std::span<const TextCell> row;
};
struct DeleteMessage {
  Xid xid;
  Oid relation;
  OldTuple old_kind = OldTuple::kKey;
  std::span<const TextCell> old_row;
};
struct TruncateMessage {
  Xid xid;
  std::span<const Oid> relations;
  bool cascade = false;
  bool restart_identity = false;
};
// pg_logical_emit_message.
struct LogicalMessage {
  Xid xid;
  bool transactional = false;
  Lsn lsn;
  std::string_view prefix;
  std::string_view content;
};
struct StreamStartMessage {
  Xid xid;
  bool first_segment = false;
};
struct StreamStopMessage {};
struct StreamCommitMessage {
  Xid xid;
  Lsn commit_lsn;
  Lsn end_lsn;
  absl::Time commit_time;
};
// Of a subtransaction, or of the whole when sub_xid == xid.
struct StreamAbortMessage {
  Xid xid;
  Xid sub_xid;
};

using PgOutputMessage =
    std::variant<BeginMessage, CommitMessage, OriginMessage, RelationMessage, TypeMessage,
                 InsertMessage, UpdateMessage, DeleteMessage, TruncateMessage, LogicalMessage,
                 StreamStartMessage, StreamStopMessage, StreamCommitMessage, StreamAbortMessage>;

// Is the message between Stream Start and Stream Stop? Those carry an xid. The caller
// knows: it saw the start.
enum class StreamBlock { kOutside, kInside };

struct PgOutputScratch {
  std::vector<TextCell> old_row;
  std::vector<TextCell> row;
  std::vector<RelationColumn> columns;
  std::vector<Oid> relations;
};

// kDataLoss names the message type and what is wrong with its bytes; the whole
// payload must be used up.
absl::StatusOr<PgOutputMessage> ParsePgOutput(std::string_view payload, StreamBlock block,
                                              PgOutputScratch& scratch);

}  // namespace fjord
