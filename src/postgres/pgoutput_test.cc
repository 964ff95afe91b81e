#include "postgres/pgoutput.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/coding.h"
#include "base/strings.h"

namespace fjord {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The messages of a recording (tests/data/make_pgoutput_fixtures.py).
std::vector<std::string> Recorded(const std::string& name) {
  std::ifstream in(StrCat(FJORD_SOURCE_DIR, "/tests/data/pgoutput/", name));
  EXPECT_TRUE(in.is_open()) << name;
  std::vector<std::string> messages;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    const std::string hex = line.substr(line.find(' ') + 1);
    std::string bytes;
    for (size_t i = 0; i < hex.size(); i += 2)
      bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    messages.push_back(bytes);
  }
  return messages;
}

std::string CellText(const TextCell& cell) {
  switch (cell.kind) {
    case TextCell::Kind::kNull: return "null";
    case TextCell::Kind::kUnchanged: return "unchanged";
    case TextCell::Kind::kText: return StrCat("'", cell.text.size() > 20 ? "…" : cell.text, "'");
  }
  return "";
}

std::string RowText(std::span<const TextCell> row) {
  std::vector<std::string> cells;
  for (const TextCell& cell : row) cells.push_back(CellText(cell));
  return StrCat("(", Join(cells, ", "), ")");
}

std::string OldText(OldTuple kind, std::span<const TextCell> row) {
  if (kind == OldTuple::kNone) return "";
  return StrCat(kind == OldTuple::kKey ? " key" : " old", RowText(row));
}

// Messages as lines without the ids and times of the recording.
class Printer {
 public:
  std::string operator()(const BeginMessage&) { return "begin"; }
  std::string operator()(const CommitMessage& m) {
    return m.end_lsn > m.commit_lsn ? "commit" : "commit without end";
  }
  std::string operator()(const OriginMessage& m) { return StrCat("origin ", m.name); }
  std::string operator()(const RelationMessage& m) {
    names_[m.relation] = StrCat(m.schema, ".", m.name);
    std::string line =
        StrCat("relation ", Name(m.relation), " ", std::string(1, m.replica_identity));
    for (const RelationColumn& column : m.columns) {
      StrAppend(&line, " ", column.name, column.is_key ? "*" : "", ":", column.typmod);
    }
    return line;
  }
  std::string operator()(const TypeMessage& m) { return StrCat("type ", m.schema, ".", m.name); }
  std::string operator()(const InsertMessage& m) {
    return StrCat("insert ", Name(m.relation), " ", RowText(m.row));
  }
  std::string operator()(const UpdateMessage& m) {
    return StrCat("update ", Name(m.relation), OldText(m.old_kind, m.old_row), " ", RowText(m.row));
  }
  std::string operator()(const DeleteMessage& m) {
    return StrCat("delete ", Name(m.relation), OldText(m.old_kind, m.old_row));
  }
  std::string operator()(const TruncateMessage& m) {
    std::string line =
        StrCat("truncate", m.cascade ? " cascade" : "", m.restart_identity ? " restart" : "");
    for (const Oid relation : m.relations) StrAppend(&line, " ", Name(relation));
    return line;
  }
  std::string operator()(const LogicalMessage& m) {
    return StrCat(m.transactional ? "message " : "loose message ", m.prefix, ": ", m.content);
  }
  std::string operator()(const StreamStartMessage& m) {
    return m.first_segment ? "stream start" : "stream again";
  }
  std::string operator()(const StreamStopMessage&) { return "stream stop"; }
  std::string operator()(const StreamCommitMessage&) { return "stream commit"; }
  std::string operator()(const StreamAbortMessage& m) {
    return m.xid == m.sub_xid ? "stream abort" : "stream abort of a subtransaction";
  }

 private:
  std::string Name(Oid oid) { return names_.contains(oid) ? names_[oid] : "?"; }
  std::map<Oid, std::string> names_;
};

// All messages as lines, keeping account of stream blocks as a caller does.
std::vector<std::string> Lines(const std::vector<std::string>& messages) {
  std::vector<std::string> lines;
  PgOutputScratch scratch;
  Printer printer;
  StreamBlock block = StreamBlock::kOutside;
  for (const std::string& bytes : messages) {
    const auto message = ParsePgOutput(bytes, block, scratch);
    EXPECT_TRUE(message.ok()) << message.status();
    if (!message.ok()) continue;
    if (std::holds_alternative<StreamStartMessage>(*message)) block = StreamBlock::kInside;
    if (std::holds_alternative<StreamStopMessage>(*message)) block = StreamBlock::kOutside;
    lines.push_back(std::visit(printer, *message));
  }
  return lines;
}

TEST(PgOutput, EachKindOfChangeAsTheServerSendsIt) {
  std::vector<std::string> lines = Lines(Recorded("changes.txt"));
  std::erase_if(lines, [](const std::string& line) { return line == "begin" || line == "commit"; });
  EXPECT_THAT(
      lines,
      ElementsAre(
          "type public.mood", "relation public.orders d id*:-1 note:-1 price:589830 feeling:-1",
          "insert public.orders ('1', 'first', '12.50', 'ok')",
          "insert public.orders ('2', null, null, null)",
          "update public.orders ('1', '', '12.50', 'ok')",
          "update public.orders key('1', null, null, null) ('101', '', '12.50', 'ok')",
          "delete public.orders key('2', null, null, null)", "relation public.whole f a*:-1 b*:-1",
          "update public.whole old('1', 'one') ('1', 'two')", "delete public.whole old('1', 'two')",
          "relation public.big d id*:-1 qty:-1 payload:-1",
          "update public.big ('1', '9', unchanged)", "relation public.empty_row d",
          "insert public.empty_row ()", "type public.mood",
          "relation public.orders d id*:-1 note:-1 price:589830 feeling:-1",
          "relation public.whole f a*:-1 b*:-1",
          "truncate cascade restart public.orders public.whole",
          "message fjord: in the transaction", "loose message fjord: at once", "type public.mood",
          "relation public.orders d id*:-1 note:-1 price:589830 feeling:-1",
          "insert public.orders ('-1', null, null, null)"));
}

TEST(PgOutput, StreamedTransactionWithASubtransactionRolledBack) {
  std::vector<std::string> lines = Lines(Recorded("streamed.txt"));
  // Runs of inserts as one line.
  std::vector<std::string> short_lines;
  for (std::string& line : lines) {
    if (line.starts_with("insert")) line = "inserts";
    if (short_lines.empty() || short_lines.back() != line) short_lines.push_back(std::move(line));
  }
  EXPECT_THAT(short_lines, ::testing::Contains("stream abort of a subtransaction"));
  EXPECT_THAT(short_lines, ::testing::Contains("stream commit"));
  EXPECT_THAT(short_lines, ::testing::Contains("stream abort"));
  EXPECT_EQ(short_lines.front(), "stream start");
}

TEST(PgOutput, StreamedChangesCarryTheirSubtransaction) {
  PgOutputScratch scratch;
  StreamBlock block = StreamBlock::kOutside;
  Xid top;
  Xid aborted;
  std::map<Xid, int> inserts;
  for (const std::string& bytes : Recorded("streamed.txt")) {
    const auto message = ParsePgOutput(bytes, block, scratch);
    ASSERT_TRUE(message.ok()) << message.status();
    if (const auto* start = std::get_if<StreamStartMessage>(&*message)) {
      block = StreamBlock::kInside;
      if (top == Xid()) top = start->xid;
    }
    if (std::holds_alternative<StreamStopMessage>(*message)) block = StreamBlock::kOutside;
    if (const auto* insert = std::get_if<InsertMessage>(&*message)) ++inserts[insert->xid];
    if (const auto* abort = std::get_if<StreamAbortMessage>(&*message)) {
      if (abort->xid == top) aborted = abort->sub_xid;
    }
  }
  EXPECT_EQ(inserts[top], 500);
  EXPECT_GT(inserts[aborted], 0);
  EXPECT_NE(aborted, top);
}

TEST(PgOutput, CommitNamesTimeAndEnd) {
  std::string bytes = "C";
  bytes += '\0';
  PutBig64(bytes, 0x16B374D848);
  PutBig64(bytes, 0x16B374D880);
  PutBig64(bytes, 1'000'000);  // one second after 2000-01-01
  PgOutputScratch scratch;
  const auto message = ParsePgOutput(bytes, StreamBlock::kOutside, scratch);
  ASSERT_TRUE(message.ok());
  const auto& commit = std::get<CommitMessage>(*message);
  EXPECT_EQ(commit.commit_lsn, Lsn(0x16B374D848));
  EXPECT_EQ(commit.end_lsn, Lsn(0x16B374D880));
  EXPECT_EQ(absl::ToUnixSeconds(commit.commit_time), 946'684'801);
}

TEST(PgOutput, EveryCutOffMessageIsDataLoss) {
  PgOutputScratch scratch;
  StreamBlock block = StreamBlock::kOutside;
  for (const char* name : {"changes.txt", "streamed.txt"}) {
    for (const std::string& bytes : Recorded(name)) {
      for (size_t size = 0; size < bytes.size(); ++size) {
        const std::string part = bytes.substr(0, size);
        EXPECT_EQ(ParsePgOutput(part, block, scratch).status().code(), absl::StatusCode::kDataLoss)
            << name << size;
      }
      EXPECT_EQ(ParsePgOutput(bytes + "x", block, scratch).status().code(),
                absl::StatusCode::kDataLoss);
      if (bytes[0] == 'S') block = StreamBlock::kInside;
      if (bytes[0] == 'E') block = StreamBlock::kOutside;
    }
  }
}

TEST(PgOutput, DamagedBytesGiveAMessageOrDataLoss) {
  std::mt19937 random(20'240'229);
  PgOutputScratch scratch;
  for (const std::string& bytes : Recorded("changes.txt")) {
    for (int round = 0; round < 500; ++round) {
      std::string damaged = bytes;
      for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
      for (const StreamBlock block : {StreamBlock::kOutside, StreamBlock::kInside}) {
        const auto message = ParsePgOutput(damaged, block, scratch);
        if (!message.ok()) {
          EXPECT_EQ(message.status().code(), absl::StatusCode::kDataLoss);
        }
      }
    }
  }
}

TEST(PgOutput, UnknownTypeAndBinaryValuesAreRefused) {
  PgOutputScratch scratch;
  EXPECT_THAT(ParsePgOutput("?", StreamBlock::kOutside, scratch).status().ToString(),
              HasSubstr("unknown type"));
  std::string insert = "I";
  PutBig32(insert, 1);
  insert += "N";
  insert += std::string("\0\1", 2);
  insert += "b";
  PutBig32(insert, 0);
  EXPECT_THAT(ParsePgOutput(insert, StreamBlock::kOutside, scratch).status().ToString(),
              HasSubstr("binary"));
}

}  // namespace
}  // namespace fjord
