#include "postgres/anchor.h"

#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

// Starts a transaction that sees the snapshot.
absl::Status Import(Connection& connection, std::string_view snapshot_name) {
  RETURN_IF_ERROR(connection.Exec("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
  const absl::Status imported =
      connection.Exec(StrCat("SET TRANSACTION SNAPSHOT ", QuoteLiteral(snapshot_name)));
  if (imported.ok() || absl::IsUnavailable(imported)) return imported;
  return absl::FailedPreconditionError(
      StrCat("the snapshot ", snapshot_name,
             " has ended, its reading must begin again: ", imported.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<AnchorSession>> AnchorSession::Open(const ConnectionOptions& options,
                                                                   std::string_view snapshot_name) {
  ConnectionOptions ordinary = options;
  ordinary.kind = SessionKind::kOrdinary;
  ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection, Connection::Open(ordinary));
  RETURN_IF_ERROR(Import(*connection, snapshot_name));
  ASSIGN_OR_RETURN(const QueryResult rows,
                   connection->Query("SELECT pg_catalog.pg_export_snapshot()"));
  if (rows.rows() != 1) return absl::InternalError("pg_export_snapshot gave no name");
  return std::unique_ptr<AnchorSession>(
      new AnchorSession(std::move(connection), std::string(rows.Text(0, 0))));
}

absl::Status AnchorSession::CheckAlive() {
  return Annotate(connection_->Exec("SELECT 1"), "the session that holds the snapshot is lost");
}

absl::StatusOr<std::unique_ptr<SnapshotSession>> SnapshotSession::Open(
    const ConnectionOptions& options) {
  ConnectionOptions ordinary = options;
  ordinary.kind = SessionKind::kOrdinary;
  ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection, Connection::Open(ordinary));
  return std::unique_ptr<SnapshotSession>(new SnapshotSession(std::move(connection)));
}

absl::Status SnapshotSession::Begin(std::string_view snapshot_name, const TableInfo& table) {
  absl::Status status = Import(*connection_, snapshot_name);
  if (status.ok()) status = LockAndCompare(table);
  if (!status.ok())
    End().IgnoreError();  // Whatever it says, the first error is the one that counts.
  return Annotate(status, DisplayName(table));
}

absl::Status SnapshotSession::LockAndCompare(const TableInfo& table) {
  const std::string name = QuoteQualified(table.schema, table.name);
  RETURN_IF_ERROR(connection_->Exec(StrCat("LOCK TABLE ONLY ", name, " IN ACCESS SHARE MODE")));
  // pg_class is read under the snapshot, the functions look at what is there now, which the lock
  // keeps. A file that is another one now has only rows that the snapshot cannot see: the table
  // would seem to be empty.
  ASSIGN_OR_RETURN(
      const QueryResult rows,
      connection_->Query(
          StrCat("SELECT c.relfilenode = pg_relation_filenode(c.oid), c.oid = ", QuoteLiteral(name),
                 "::regclass FROM pg_catalog.pg_class c WHERE c.oid = ", table.oid.value)));
  if (rows.rows() == 0) {
    return absl::AbortedError("the table is younger than the snapshot; it needs a newer one");
  }
  if (rows.Text(0, 1) != "t")
    return absl::NotFoundError("the table was renamed, or dropped and made again");
  if (rows.Text(0, 0) != "t") {
    return absl::AbortedError(
        "the table was rewritten or truncated after the snapshot; it needs a newer one");
  }
  return absl::OkStatus();
}

absl::Status SnapshotSession::End() { return connection_->Exec("ROLLBACK"); }

}  // namespace fjord
