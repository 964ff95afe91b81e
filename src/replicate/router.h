// Routing: from the messages of one replication connection to the feeds of tables.
//
// A transaction that comes whole goes to its tables at its commit. A transaction that is streamed
// while it is open is kept apart by xid, in memory or in the spool, until its commit or abort; all
// open ones die with the connection, since the server sends them again from their beginning. No I/O
// but the spool's. Confined to the stream's thread, except RoutedTable's atomics.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "base/ids.h"
#include "journal/spool.h"
#include "postgres/pgoutput.h"
#include "replicate/collapse.h"
#include "replicate/table_feed.h"

namespace fjord {

// One replicated table as the stream sees it.
struct RoutedTable {
  RoutedTable(WindowAccount* account, Spool* spool) : feed(account, spool) {}

  Oid oid;
  const TableShape* shape = nullptr;
  TableFeed feed;
  // Commits that ended at or before this are not for the table: its watermark when it was opened,
  // then what was received.
  Lsn skip_until;
  // End of the newest commit that was received and touches the table. Pending:
  // above the durable watermark.
  std::atomic<uint64_t> touched_lsn{0};
  std::atomic<uint64_t> watermark_lsn{0};
  // Changes are dropped, and the slot is held at the watermark, until a person acted and the
  // process was started again.
  std::atomic<bool> blocked{false};

  // How often the stream announced its columns: each time, the catalogue has to be looked at before
  // anything is published.
  std::atomic<uint64_t> announcements{1};

  bool pending() const { return blocked || touched_lsn > watermark_lsn; }
};

class Router {
 public:
  Router(WindowAccount* account, Spool* spool) : account_(account), spool_(spool) {}
  ~Router();

  // Before messages come. The table outlives the router.
  void AddTable(RoutedTable* table) { tables_[table->oid] = table; }

  absl::Status OnMessage(std::string_view payload);
  // The server says that everything up to here was sent.
  void OnKeepalive(Lsn wal_end);
  // The connection is gone: what was not committed is forgotten.
  void OnDisconnect();

  // Everything that committed at or before this was received.
  Lsn received() const { return Lsn(received_.load()); }
  size_t open_transactions() const { return open_.size(); }
  // How many commits touched a table so far; the scheduler looks at feeds when it has grown.
  int64_t changes_received() const { return changes_received_; }

 private:
  struct TableChanges {
    std::string buffer;
    std::deque<ChangeBlock> blocks;
    uint64_t changes = 0;
    uint64_t bytes = 0;
  };
  // Of one transaction that is streamed while open.
  struct OpenTransaction {
    absl::flat_hash_map<Oid, TableChanges> tables;
    std::shared_ptr<AbortedXids> aborted;
  };

  absl::Status OnChange(std::string_view payload);
  absl::Status OnTruncate(const TruncateMessage& message);
  absl::Status OnRelation(const RelationMessage& message);
  absl::Status OnCommit(const CommitMessage& message);
  absl::Status OnStreamCommit(const StreamCommitMessage& message);
  void OnStreamAbort(const StreamAbortMessage& message);
  absl::Status Add(RoutedTable& table, ChangeKind kind, Xid xid, std::string_view head,
                   std::string_view rest);
  absl::Status CutBlock(TableChanges& changes);
  static absl::Status Feed(RoutedTable& table, TableChanges& changes, CommitMark mark);
  void Drop(OpenTransaction& transaction);
  void NoteReceived(Lsn lsn);
  RoutedTable* Find(Oid oid);

  WindowAccount* const account_;
  Spool* const spool_;
  absl::flat_hash_map<Oid, RoutedTable*> tables_;
  absl::flat_hash_map<Oid, TableChanges> current_;  // of the transaction between Begin and Commit
  absl::flat_hash_map<Xid, OpenTransaction> open_;
  PgOutputScratch scratch_;
  bool in_transaction_ = false;
  bool in_stream_block_ = false;
  Xid stream_xid_;
  std::atomic<uint64_t> received_{0};
  std::atomic<int64_t> changes_received_{0};
};

// Why the columns that the stream announces are not those that the table was opened with; empty
// when they are.
std::string ShapeDifference(const TableShape& shape, const RelationMessage& message);

}  // namespace fjord
