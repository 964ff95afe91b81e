// Slots, snapshots, COPY and the stream, against a real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <deque>

#include "absl/time/clock.h"
#include "base/status.h"
#include "postgres/anchor.h"
#include "postgres/copy.h"
#include "postgres/live_server.h"
#include "postgres/pgoutput.h"
#include "postgres/replication_stream.h"

namespace fjord {
namespace {

using ::testing::HasSubstr;

class StreamLive : public LiveTest {
 protected:
  void Publish(std::string_view tables) {
    Exec(StrCat("CREATE PUBLICATION ", schema_, " FOR TABLE ", tables));
    at_end_.push_back(StrCat("DROP PUBLICATION ", schema_));
  }

  std::unique_ptr<ReplicationStream> OpenStream(Lsn start) {
    auto stream = ReplicationStream::Open(
        {.connection = options_, .slot = schema_, .start = start, .publications = {schema_}});
    EXPECT_TRUE(stream.ok()) << stream.status();
    return stream.ok() ? *std::move(stream) : nullptr;
  }

  // Takes the rows of inserts until there are `count` and their commit came; `end` becomes its end.
  void ReadInserts(ReplicationStream& stream, size_t count, TupleRows& rows, Lsn& end) {
    const absl::Time deadline = absl::Now() + absl::Seconds(20);
    PgOutputScratch scratch;
    StreamBlock block = StreamBlock::kOutside;
    while (absl::Now() < deadline) {
      const auto event = stream.Next(absl::Now() + absl::Milliseconds(100));
      ASSERT_TRUE(event.ok()) << event.status();
      const auto* data = std::get_if<XLogData>(&*event);
      if (data == nullptr) continue;
      payloads_.emplace_back(data->payload);
      const auto message = ParsePgOutput(payloads_.back(), block, scratch);
      ASSERT_TRUE(message.ok()) << message.status();
      if (std::holds_alternative<StreamStartMessage>(*message)) block = StreamBlock::kInside;
      if (std::holds_alternative<StreamStopMessage>(*message)) block = StreamBlock::kOutside;
      if (const auto* insert = std::get_if<InsertMessage>(&*message)) {
        rows.Append(insert->row);
        end = Lsn();
      }
      if (const auto* commit = std::get_if<CommitMessage>(&*message)) end = commit->end_lsn;
      if (end != Lsn() && rows.rows >= count) return;
    }
    FAIL() << "the stream did not reach the commit in time";
  }

  std::deque<std::string> payloads_;
};

// All rows of a table, as it stands under the snapshot.
absl::Status CopyAll(SnapshotSession& worker, const TableInfo& table,
                     const std::vector<PgColumn>& columns, CopyBatch& batch) {
  std::vector<std::string> names;
  for (const PgColumn& column : columns) names.push_back(column.name);
  const std::string sql = CopySql({.schema = table.schema, .name = table.name, .columns = names});
  auto reader = CopyReader::Start(worker.connection(), sql, columns.size());
  RETURN_IF_ERROR(reader.status());
  return (*reader)->Next({.rows_max = 1'000'000, .bytes_max = 1 << 30}, batch).status();
}

constexpr char kValuesTable[] = R"(
CREATE TABLE $.v (id int PRIMARY KEY, bo bool, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, n52 numeric(5,2),
  n38 numeric(38,18), n3m2 numeric(3,-2), n25 numeric(2,5), n numeric, t text, vc varchar(10), c char(5), ch "char", na name,
  by bytea, d date, ti time, ts timestamp, tz timestamptz, ttz timetz, iv interval, u uuid, j json, jb jsonb, e $.mood,
  p $.pair, dom $.dom, ia int[], ta text[], na2 numeric[], ba bytea[], ja json[], r int4range, mr int4multirange,
  bi bit(3), vb varbit, m money, ip inet, l pg_lsn, x xid8, o oid, tsv tsvector, xm xml, po point, tid tid))";

constexpr char kValues[] = R"(
INSERT INTO $.v (id) VALUES (1);
INSERT INTO $.v (id, bo, i2, i4, i8, f4, f8, n52, n38, n3m2, n25, n) VALUES
 (2, true, -32768, -2147483648, -9223372036854775808, 'NaN', '-Infinity', -999.99, 12345678901234567890.123456789012345678,
  12345, 0.00099, 'NaN'),
 (3, false, 32767, 2147483647, 9223372036854775807, 1e-45, 5e-324, 0.01, -0.000000000000000001, -99949, -0.00001,
  repeat('9', 1000)::numeric),
 (4, NULL, 0, 0, 9007199254740993, 3.4028235e38, '-0', 0, 0, 0, 0, 1e-1000);
INSERT INTO $.v (id, t, vc, c, ch, na, by, j, jb, xm) VALUES
 (5, '', '', '', '', '', '', '"\u0000"', '{"b":1,"a":2}', '<a/>'),
 (6, E'tab\tnew\nline\r\\back\b\f\v', E'\\N', 'ab', E'\\', 'ü', '\x005c0aff', '{"a" : 1,  "a":2 }', 'null', NULL),
 (7, repeat('ü𝄞', 5000), NULL, 'äöü', 'z', 'n', decode(repeat('00ff5c', 4000), 'hex'), 'null', NULL, '<x>&lt;</x>');
INSERT INTO $.v (id, d, ti, ts, tz, ttz, iv, u) VALUES
 (8, '0044-03-15 BC', '23:59:59.999999', '4713-01-01 00:00:00 BC', '294246-12-31 23:59:59.999999+00', '24:00+15:59',
  '-1 year -2 days -03:04:05.678', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'),
 (9, '5874897-12-31', '00:00', '1969-12-31 23:59:59.999999', '1582-10-04 01:02:03.4+00', '00:00:00.1-00:30', '0',
  '00000000-0000-0000-0000-000000000000');
INSERT INTO $.v (id, e, p, dom, ia, ta, na2, ba, ja, r, mr, bi, vb, m, ip, l, x, o, tsv, po, tid) VALUES
 (10, 'so so', '(1,"a b")', 7, '{1,NULL,-5}', ARRAY['NULL', NULL, '', 'a"b', E'c\\d', '{', ','], '{NaN,1.50,1e30}',
  ARRAY['\x00ff'::bytea, ''], ARRAY['{"a": "x"}'::json, 'null'], '[1,5)', '{[1,3),[5,7)}', B'101', B'', '-12.34', '::1/64',
  '16/B374D848', '18446744073709551615', 4294967295, 'fat:1 cat:2A', '(1.5,-2)', '(1,2)'),
 (11, NULL, NULL, NULL, '{}', '{{a,b},{c,NULL}}', '[0:1]={1,2}', '{}', '{}', 'empty', '{}', NULL, NULL, NULL, NULL, NULL,
  NULL, 0, '', NULL, NULL);)";

std::string In(std::string_view sql, std::string_view schema) {
  std::string out;
  for (const char c : sql) c == '$' ? out += schema : out += c;
  return out;
}

void ExpectEqual(const Column& a, const Column& b, const std::string& name) {
  EXPECT_EQ(a.valid, b.valid) << name;
  EXPECT_EQ(a.int32s, b.int32s) << name;
  EXPECT_EQ(a.int64s, b.int64s) << name;
  EXPECT_EQ(a.int128s, b.int128s) << name;
  EXPECT_EQ(a.bytes, b.bytes) << name;
  // Bits, since NaN is not equal to itself.
  EXPECT_EQ(std::memcmp(a.floats.data(), b.floats.data(), a.floats.size() * sizeof(float)), 0)
      << name;
  EXPECT_EQ(std::memcmp(a.doubles.data(), b.doubles.data(), a.doubles.size() * sizeof(double)), 0)
      << name;
}

TEST_F(StreamLive, EveryValueIsTheSameThroughCopyAndStream) {
  Exec(
      In("CREATE TYPE $.mood AS ENUM ('so so'); CREATE TYPE $.pair AS (a int, b text); CREATE "
         "DOMAIN $.dom AS int",
         schema_));
  std::string table_sql = In(kValuesTable, schema_);
  if (session_->server_version() < 150000) {
    // Before 15 a scale is between 0 and the precision.
    for (const auto& [now, then] :
         {std::pair("numeric(3,-2)", "numeric(5,0)"), std::pair("numeric(2,5)", "numeric(5,5)")}) {
      table_sql.replace(table_sql.find(now), std::string_view(now).size(), then);
    }
  }
  Exec(table_sql);
  Publish(StrCat(schema_, ".v"));
  auto replication = Open(SessionKind::kReplication);
  const NewSlot slot = MakeSlot(*replication);
  // A role whose settings are odd writes the rows, and the walsender reads them with ours.
  Exec("SET timezone = 'America/New_York'; SET datestyle = 'German'");
  Exec(In(kValues, schema_));
  const TableInfo table = Table("v");
  const ColumnMapping mapping = MapColumns(table, ChooseKey(table).attnums, {}, {});

  auto stream = OpenStream(slot.consistent_point);
  TupleRows streamed{.columns = mapping.columns.size()};
  Lsn end;
  ReadInserts(*stream, 11, streamed, end);
  ColumnBatch from_stream = MakeBatch(mapping.columns);
  DecodeResult decoded =
      DecodeRows(mapping.columns, streamed, UnrepresentablePolicy::kBlock, from_stream);
  ASSERT_FALSE(decoded.problem) << decoded.problem->ToStatus("v");

  Exec("BEGIN ISOLATION LEVEL REPEATABLE READ");
  auto worker = SnapshotSession::Open(options_);
  ASSERT_TRUE(worker.ok());
  ASSERT_TRUE((*worker)->Begin(Value("SELECT pg_export_snapshot()"), table).ok());
  CopyBatch copied;
  ASSERT_TRUE(CopyAll(**worker, table, mapping.columns, copied).ok());
  Exec("ROLLBACK");
  ColumnBatch from_copy = MakeBatch(mapping.columns);
  decoded = DecodeRows(mapping.columns, copied.rows, UnrepresentablePolicy::kBlock, from_copy);
  ASSERT_FALSE(decoded.problem) << decoded.problem->ToStatus("v");

  EXPECT_EQ(from_copy.rows(), 11u);
  for (size_t i = 0; i < mapping.columns.size(); ++i) {
    ExpectEqual(from_copy.columns[i], from_stream.columns[i], mapping.columns[i].name);
  }
}

TEST_F(StreamLive, SnapshotShowsWhatTheStreamDoesNotBring) {
  Exec(In("CREATE TABLE $.t (id int PRIMARY KEY); INSERT INTO $.t SELECT generate_series(1, 1000)",
          schema_));
  Publish(StrCat(schema_, ".t"));
  auto replication = Open(SessionKind::kReplication);
  const NewSlot slot = MakeSlot(*replication);
  auto anchor = AnchorSession::Open(options_, slot.snapshot_name);
  ASSERT_TRUE(anchor.ok()) << anchor.status();
  // The slot's own session goes on, which ends its snapshot; the anchor's stays.
  ASSERT_TRUE(ReadSourceIdentity(*replication).ok());
  Exec(In("INSERT INTO $.t SELECT generate_series(2001, 2010)", schema_));
  const TableInfo table = Table("t");
  const ColumnMapping mapping = MapColumns(table, {1}, {}, {});
  auto worker = SnapshotSession::Open(options_);
  ASSERT_TRUE(worker.ok());
  ASSERT_TRUE((*worker)->Begin((*anchor)->snapshot_name(), table).ok());
  CopyBatch copied;
  ASSERT_TRUE(CopyAll(**worker, table, mapping.columns, copied).ok());
  EXPECT_EQ(copied.rows.rows, 1000u);
  ASSERT_TRUE((*worker)->End().ok());
  EXPECT_TRUE((*anchor)->CheckAlive().ok());
  auto stream = OpenStream(slot.consistent_point);
  TupleRows streamed{.columns = 1};
  Lsn end;
  ReadInserts(*stream, 10, streamed, end);
  EXPECT_EQ(streamed.rows, 10u);
  EXPECT_EQ(streamed.cells[0].text, "2001");
  anchor->reset();
  EXPECT_EQ((*worker)->Begin("00000003-0000001B-1", table).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(StreamLive, RewrittenTruncatedAndYoungerTablesNeedANewSnapshot) {
  Exec(
      In("CREATE TABLE $.kept (id int); CREATE TABLE $.rewritten (id int); CREATE TABLE $.emptied "
         "(id int); "
         "CREATE TABLE $.dropped (id int); CREATE TABLE $.renamed (id int); CREATE TABLE $.again "
         "(id int)",
         schema_));
  const TableInfo renamed = Table("renamed");
  const TableInfo dropped = Table("dropped");
  const TableInfo again = Table("again");
  auto replication = Open(SessionKind::kReplication);
  const NewSlot slot = MakeSlot(*replication);
  auto anchor = AnchorSession::Open(options_, slot.snapshot_name);
  ASSERT_TRUE(anchor.ok()) << anchor.status();
  Exec(
      In("CREATE TABLE $.younger (id int); TRUNCATE $.emptied; DROP TABLE $.dropped; ALTER TABLE "
         "$.renamed RENAME TO other; "
         "DROP TABLE $.again; CREATE TABLE $.again (id int)",
         schema_));
  Exec(In("VACUUM FULL $.rewritten", schema_));
  auto worker = SnapshotSession::Open(options_);
  ASSERT_TRUE(worker.ok());
  auto begin = [&](const TableInfo& table) {
    const absl::Status status = (*worker)->Begin((*anchor)->snapshot_name(), table);
    if (status.ok()) {
      EXPECT_TRUE((*worker)->End().ok());
    }
    return status.code();
  };
  EXPECT_EQ(begin(Table("kept")), absl::StatusCode::kOk);
  EXPECT_EQ(begin(Table("rewritten")), absl::StatusCode::kAborted);
  EXPECT_EQ(begin(Table("emptied")), absl::StatusCode::kAborted);
  EXPECT_EQ(begin(Table("younger")), absl::StatusCode::kAborted);
  EXPECT_EQ(begin(dropped), absl::StatusCode::kNotFound);
  EXPECT_EQ(begin(renamed), absl::StatusCode::kNotFound);
  EXPECT_EQ(begin(again), absl::StatusCode::kNotFound);
}

TEST_F(StreamLive, SlicesTogetherAreTheTable) {
  Exec(
      In("CREATE TABLE $.t (id int, filler text); INSERT INTO $.t SELECT g, repeat('x', 500) FROM "
         "generate_series(1, 5000) g",
         schema_));
  const TableInfo table = Table("t");
  EXPECT_GT(table.pages, 100);
  const std::vector<PageRange> slices = SliceTable(table.pages, 64 * 8192, 1);
  EXPECT_GT(slices.size(), 4u);
  size_t rows = 0;
  CopyBatch batch;
  for (const PageRange& slice : slices) {
    const std::string sql =
        CopySql({.schema = schema_, .name = "t", .columns = {"id", "filler"}, .pages = slice});
    auto reader = CopyReader::Start(*session_, sql, 2);
    ASSERT_TRUE(reader.ok()) << reader.status();
    while (true) {
      const auto more = (*reader)->Next({.rows_max = 100}, batch);
      ASSERT_TRUE(more.ok()) << more.status();
      if (!*more) break;
      EXPECT_LE(batch.rows.rows, 100u);
      rows += batch.rows.rows;
    }
  }
  EXPECT_EQ(rows, 5000u);
}

TEST_F(StreamLive, CopyGivenUpLeavesTheSessionUsable) {
  {
    auto reader =
        CopyReader::Start(*session_, "COPY (SELECT generate_series(1, 100000000)) TO STDOUT", 1);
    ASSERT_TRUE(reader.ok()) << reader.status();
    CopyBatch batch;
    EXPECT_TRUE(*(*reader)->Next({.rows_max = 10}, batch));
    EXPECT_EQ(batch.rows.rows, 10u);
  }
  EXPECT_EQ(Value("SELECT 1"), "1");
}

TEST_F(StreamLive, ErrorInTheMiddleOfACopyIsReported) {
  auto reader = CopyReader::Start(
      *session_, "COPY (SELECT 100 / (5000 - g) FROM generate_series(1, 6000) g) TO STDOUT", 1);
  ASSERT_TRUE(reader.ok()) << reader.status();
  CopyBatch batch;
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more) more = (*reader)->Next({.rows_max = 1000}, batch);
  EXPECT_THAT(more.status().ToString(), HasSubstr("division by zero"));
  EXPECT_EQ(Value("SELECT 1"), "1");
}

TEST_F(StreamLive, TableWithoutColumnsHasRows) {
  Exec(In("CREATE TABLE $.t (); INSERT INTO $.t DEFAULT VALUES; INSERT INTO $.t DEFAULT VALUES",
          schema_));
  auto reader = CopyReader::Start(*session_, CopySql({.schema = schema_, .name = "t"}), 0);
  ASSERT_TRUE(reader.ok()) << reader.status();
  CopyBatch batch;
  EXPECT_TRUE(*(*reader)->Next({}, batch));
  EXPECT_EQ(batch.rows.rows, 2u);
  EXPECT_FALSE(*(*reader)->Next({}, batch));
}

TEST_F(StreamLive, SlotCreationSaysWhatItWaitsFor) {
  auto busy = Open(SessionKind::kOrdinary);
  ASSERT_TRUE(busy->Exec("BEGIN; SELECT txid_current()").ok());
  auto replication = Open(SessionKind::kReplication);
  std::string waits_for;
  const auto slot =
      CreateSlot(*replication, schema_, SlotLife::kPermanent, absl::Milliseconds(100), [&] {
        const auto old = ReadOldTransactions(*session_);
        if (!old.ok() || old->empty()) return absl::InternalError("nothing to wait for");
        waits_for = Describe(old->front());
        return absl::CancelledError("seen");
      });
  EXPECT_EQ(slot.status().code(), absl::StatusCode::kCancelled) << slot.status();
  EXPECT_THAT(waits_for, HasSubstr(StrCat("pid ", busy->backend_pid(), " ")));
  EXPECT_THAT(waits_for, HasSubstr("idle in transaction"));
  EXPECT_FALSE(*ReadSlot(*session_, schema_)) << "a slot that was given up is not left behind";
}

TEST_F(StreamLive, StatusMovesTheSlotAndStopIsClean) {
  Exec(In("CREATE TABLE $.t (id int PRIMARY KEY)", schema_));
  Publish(StrCat(schema_, ".t"));
  auto replication = Open(SessionKind::kReplication);
  const NewSlot slot = MakeSlot(*replication);
  replication.reset();
  auto stream = OpenStream(slot.consistent_point);
  EXPECT_EQ((*ReadSlot(*session_, schema_))->active_pid.has_value(), true);
  const auto second = ReplicationStream::Open({.connection = options_,
                                               .slot = schema_,
                                               .start = slot.consistent_point,
                                               .publications = {schema_}});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable) << second.status();
  EXPECT_THAT(second.status().ToString(), HasSubstr("is active for PID"));
  Exec(In("INSERT INTO $.t VALUES (1)", schema_));
  TupleRows rows{.columns = 1};
  Lsn end;
  ReadInserts(*stream, 1, rows, end);
  ASSERT_TRUE(stream->SendStatus({.received = end, .flushed = end}).ok());
  ASSERT_TRUE(stream->Stop(absl::Seconds(10)).ok());
  stream.reset();
  // The walsender takes the status over before it ends.
  const absl::Time deadline = absl::Now() + absl::Seconds(10);
  std::optional<SlotState> state;
  do {
    state = *ReadSlot(*session_, schema_);
  } while (state->active_pid && absl::Now() < deadline);
  EXPECT_EQ(state->confirmed_flush_lsn, end);
  EXPECT_EQ(state->plugin, "pgoutput");
  EXPECT_TRUE(state->invalidation.empty());
  EXPECT_EQ(state->wal_status, "reserved");
}

TEST_F(StreamLive, IdleStreamGivesKeepalivesAndNothing) {
  Exec(In("CREATE TABLE $.t (id int PRIMARY KEY)", schema_));
  Publish(StrCat(schema_, ".t"));
  auto replication = Open(SessionKind::kReplication);
  const NewSlot slot = MakeSlot(*replication);
  auto stream = OpenStream(slot.consistent_point);
  EXPECT_GT(stream->wal_sender_timeout(), absl::Seconds(1));
  bool keepalive = false;
  bool nothing = false;
  const absl::Time deadline = absl::Now() + absl::Seconds(10);
  while (!(keepalive && nothing) && absl::Now() < deadline) {
    const auto event = stream->Next(absl::Now() + absl::Milliseconds(20));
    ASSERT_TRUE(event.ok()) << event.status();
    keepalive = keepalive || std::holds_alternative<Keepalive>(*event);
    nothing = nothing || std::holds_alternative<NothingYet>(*event);
  }
  EXPECT_TRUE(keepalive);
  EXPECT_TRUE(nothing);
}

TEST_F(StreamLive, ServerSideEndIsUnavailable) {
  Exec(In("CREATE TABLE $.t (id int PRIMARY KEY)", schema_));
  Publish(StrCat(schema_, ".t"));
  auto replication = Open(SessionKind::kReplication);
  const NewSlot slot = MakeSlot(*replication);
  auto stream = OpenStream(slot.consistent_point);
  Exec(
      StrCat("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = ",
             QuoteLiteral(schema_)));
  absl::Status status;
  const absl::Time deadline = absl::Now() + absl::Seconds(10);
  while (status.ok() && absl::Now() < deadline)
    status = stream->Next(absl::Now() + absl::Milliseconds(50)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
}

TEST_F(StreamLive, MissingSlotAndLostSlotAreNotRetried) {
  const auto stream = ReplicationStream::Open(
      {.connection = options_, .slot = "never_made", .start = Lsn(), .publications = {"p"}});
  EXPECT_EQ(stream.status().code(), absl::StatusCode::kNotFound) << stream.status();
  EXPECT_FALSE(*ReadSlot(*session_, "never_made"));
  EXPECT_TRUE(DropSlot(*session_, "never_made").ok());
}

}  // namespace
}  // namespace fjord
