#include "postgres/pgoutput.h"

#include <cstring>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

// Microseconds between 1970-01-01 and 2000-01-01, where PostgreSQL's clock begins.
constexpr int64_t kPostgresEpochMicros = int64_t{10'957} * 86'400 * 1'000'000;

// Reads a message from the front. The first read past the end fails all later ones, so that
// a parser asks once, at its end, whether all went well: the values it saw until then are
// zeros and empty texts.
class MessageReader {
 public:
  explicit MessageReader(std::string_view payload) : rest_(payload) {}

  uint8_t U8() {
    const char* p = Take(1);
    return p == nullptr ? 0 : static_cast<uint8_t>(*p);
  }
  uint16_t U16() {
    const char* p = Take(2);
    return p == nullptr ? 0 : GetBig16(p);
  }
  uint32_t U32() {
    const char* p = Take(4);
    return p == nullptr ? 0 : GetBig32(p);
  }
  uint64_t U64() {
    const char* p = Take(8);
    return p == nullptr ? 0 : GetBig64(p);
  }
  Lsn ReadLsn() { return Lsn(U64()); }
  Xid ReadXid() { return Xid(U32()); }
  Oid ReadOid() { return Oid(U32()); }
  absl::Time Time() {
    return absl::FromUnixMicros(static_cast<int64_t>(U64()) + kPostgresEpochMicros);
  }
  // Up to a NUL.
  std::string_view String() {
    const size_t end = rest_.find('\0');
    if (end == std::string_view::npos) {
      Fail("a string without its end");
      return {};
    }
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::string_view Bytes(size_t size) {
    const char* p = Take(size);
    return p == nullptr ? std::string_view() : std::string_view(p, size);
  }
  void Fail(const char* what) {
    if (failure_ == nullptr) failure_ = what;
    rest_ = {};
  }
  bool failed() const { return failure_ != nullptr; }
  const char* failure() const { return failure_; }
  size_t left() const { return rest_.size(); }

 private:
  const char* Take(size_t size) {
    if (rest_.size() < size) {
      Fail("it ends too early");
      return nullptr;
    }
    const char* const p = rest_.data();
    rest_.remove_prefix(size);
    return p;
  }

  std::string_view rest_;
  const char* failure_ = nullptr;
};

void ReadTuple(MessageReader& reader, std::vector<TextCell>& cells) {
  cells.clear();
  const int count = reader.U16();
  for (int i = 0; i < count && !reader.failed(); ++i) {
    switch (reader.U8()) {
      case 'n': cells.push_back(TextCell::Null()); break;
      case 'u': cells.push_back(TextCell::Unchanged()); break;
      case 't': {
        const uint32_t size = reader.U32();
        cells.push_back(TextCell::Of(reader.Bytes(size)));
        break;
      }
      case 'b': reader.Fail("a value in binary form, although text was asked for"); break;
      default: reader.Fail("a value of unknown kind"); break;
    }
  }
}

BeginMessage ReadBegin(MessageReader& reader) {
  BeginMessage message;
  message.final_lsn = reader.ReadLsn();
  message.commit_time = reader.Time();
  message.xid = reader.ReadXid();
  return message;
}

CommitMessage ReadCommit(MessageReader& reader) {
  CommitMessage message;
  reader.U8();  // flags, unused
  message.commit_lsn = reader.ReadLsn();
  message.end_lsn = reader.ReadLsn();
  message.commit_time = reader.Time();
  return message;
}

OriginMessage ReadOrigin(MessageReader& reader) {
  OriginMessage message;
  message.commit_lsn = reader.ReadLsn();
  message.name = reader.String();
  return message;
}

RelationMessage ReadRelation(MessageReader& reader, Xid xid, PgOutputScratch& scratch) {
  RelationMessage message{.xid = xid};
  message.relation = reader.ReadOid();
  message.schema = reader.String();
  message.name = reader.String();
  message.replica_identity = static_cast<char>(reader.U8());
  const int count = reader.U16();
  scratch.columns.clear();
  for (int i = 0; i < count && !reader.failed(); ++i) {
    RelationColumn column;
    column.is_key = (reader.U8() & 1) != 0;
    column.name = reader.String();
    column.type = reader.ReadOid();
    column.typmod = static_cast<int32_t>(reader.U32());
    scratch.columns.push_back(column);
  }
  message.columns = scratch.columns;
  return message;
}

TypeMessage ReadType(MessageReader& reader, Xid xid) {
  TypeMessage message{.xid = xid};
  message.type = reader.ReadOid();
  message.schema = reader.String();
  message.name = reader.String();
  return message;
}

InsertMessage ReadInsert(MessageReader& reader, Xid xid, PgOutputScratch& scratch) {
  InsertMessage message{.xid = xid};
  message.relation = reader.ReadOid();
  if (reader.U8() != 'N') reader.Fail("no new row");
  ReadTuple(reader, scratch.row);
  message.row = scratch.row;
  return message;
}

std::optional<OldTuple> OldTupleOf(uint8_t marker) {
  if (marker == 'K') return OldTuple::kKey;
  if (marker == 'O') return OldTuple::kFull;
  return std::nullopt;
}

UpdateMessage ReadUpdate(MessageReader& reader, Xid xid, PgOutputScratch& scratch) {
  UpdateMessage message{.xid = xid};
  message.relation = reader.ReadOid();
  uint8_t marker = reader.U8();
  if (const auto old_kind = OldTupleOf(marker)) {
    message.old_kind = *old_kind;
    ReadTuple(reader, scratch.old_row);
    message.old_row = scratch.old_row;
    marker = reader.U8();
  }
  if (marker != 'N') reader.Fail("no new row");
  ReadTuple(reader, scratch.row);
  message.row = scratch.row;
  return message;
}

DeleteMessage ReadDelete(MessageReader& reader, Xid xid, PgOutputScratch& scratch) {
  DeleteMessage message{.xid = xid};
  message.relation = reader.ReadOid();
  const auto old_kind = OldTupleOf(reader.U8());
  if (!old_kind) reader.Fail("no old row");
  message.old_kind = old_kind.value_or(OldTuple::kKey);
  ReadTuple(reader, scratch.old_row);
  message.old_row = scratch.old_row;
  return message;
}

TruncateMessage ReadTruncate(MessageReader& reader, Xid xid, PgOutputScratch& scratch) {
  TruncateMessage message{.xid = xid};
  const uint32_t count = reader.U32();
  const uint8_t flags = reader.U8();
  message.cascade = (flags & 1) != 0;
  message.restart_identity = (flags & 2) != 0;
  scratch.relations.clear();
  for (uint32_t i = 0; i < count && !reader.failed(); ++i)
    scratch.relations.push_back(reader.ReadOid());
  message.relations = scratch.relations;
  return message;
}

LogicalMessage ReadLogical(MessageReader& reader, Xid xid) {
  LogicalMessage message{.xid = xid};
  message.transactional = (reader.U8() & 1) != 0;
  message.lsn = reader.ReadLsn();
  message.prefix = reader.String();
  const uint32_t size = reader.U32();
  message.content = reader.Bytes(size);
  return message;
}

StreamStartMessage ReadStreamStart(MessageReader& reader) {
  StreamStartMessage message;
  message.xid = reader.ReadXid();
  message.first_segment = reader.U8() == 1;
  return message;
}

StreamCommitMessage ReadStreamCommit(MessageReader& reader) {
  StreamCommitMessage message;
  message.xid = reader.ReadXid();
  reader.U8();  // flags, unused
  message.commit_lsn = reader.ReadLsn();
  message.end_lsn = reader.ReadLsn();
  message.commit_time = reader.Time();
  return message;
}

StreamAbortMessage ReadStreamAbort(MessageReader& reader) {
  StreamAbortMessage message;
  message.xid = reader.ReadXid();
  message.sub_xid = reader.ReadXid();
  return message;
}

// Nothing for an unknown type.
std::optional<PgOutputMessage> ReadMessage(char type, Xid xid, MessageReader& reader,
                                           PgOutputScratch& scratch) {
  switch (type) {
    case 'B': return ReadBegin(reader);
    case 'C': return ReadCommit(reader);
    case 'O': return ReadOrigin(reader);
    case 'R': return ReadRelation(reader, xid, scratch);
    case 'Y': return ReadType(reader, xid);
    case 'I': return ReadInsert(reader, xid, scratch);
    case 'U': return ReadUpdate(reader, xid, scratch);
    case 'D': return ReadDelete(reader, xid, scratch);
    case 'T': return ReadTruncate(reader, xid, scratch);
    case 'M': return ReadLogical(reader, xid);
    case 'S': return ReadStreamStart(reader);
    case 'E': return StreamStopMessage{};
    case 'c': return ReadStreamCommit(reader);
    case 'A': return ReadStreamAbort(reader);
    default: return std::nullopt;
  }
}

bool CarriesXid(char type) { return std::strchr("RYIUDTM", type) != nullptr && type != '\0'; }

absl::Status Broken(char type, std::string_view what) {
  return absl::DataLossError(absl::StrFormat("pgoutput message of type '%s': %s",
                                             absl::CHexEscape(std::string(1, type)), what));
}

}  // namespace

absl::StatusOr<PgOutputMessage> ParsePgOutput(std::string_view payload, StreamBlock block,
                                              PgOutputScratch& scratch) {
  if (payload.empty()) return absl::DataLossError("pgoutput message without bytes");
  const char type = payload[0];
  MessageReader reader(payload.substr(1));
  Xid xid;
  if (block == StreamBlock::kInside && CarriesXid(type)) xid = reader.ReadXid();
  std::optional<PgOutputMessage> message = ReadMessage(type, xid, reader, scratch);
  if (!message) return Broken(type, "unknown type");
  if (reader.failed()) return Broken(type, reader.failure());
  if (reader.left() != 0) return Broken(type, StrCat(reader.left(), " bytes too many"));
  return *std::move(message);
}

}  // namespace fjord
