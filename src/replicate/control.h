// The control record of a replication: what of the stream is covered, in the lake itself.
//
// It is the summary of the newest, empty snapshot of the table
// fjord_control.<replication>, committed with a requirement on the head, so that of two
// processes with one name only one goes on (docs/formats/snapshot-properties.md).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "catalog/catalog.h"
#include "postgres/publication.h"
#include "postgres/table_definition.h"

namespace fjord {

class ObjectStore;

struct ControlTable {
  Oid oid;
  std::string table_uuid;  // of the lake table
  CatalogRow publication;
  Oid membership_oid;  // publication row: oid and xmin
  Xid membership_xmin;
  std::string state;   // "copying", "streaming", "blocked"
  std::string reason;  // of "blocked"
  Lsn covered_since;   // every change after this was received, without a break
  Lsn watermark;       // the lake table is not older
  TableDefinition definition;
  friend bool operator==(const ControlTable&, const ControlTable&) = default;
};

struct ControlRecord {
  int64_t generation = 0;
  std::string system_identifier;
  std::string database;
  std::string slot;
  TimelineId timeline;
  Lsn position;  // highest position confirmed or about to be confirmed
  std::map<std::string, ControlTable> tables;  // by source name
  friend bool operator==(const ControlRecord&, const ControlRecord&) = default;
};

std::string FormatControlRecord(const ControlRecord& record);
absl::StatusOr<ControlRecord> ParseControlRecord(std::string_view text);

// Confined to one thread.
class ControlStore {
 public:
  // Makes the table when it is missing.
  static absl::StatusOr<std::unique_ptr<ControlStore>> Open(Catalog* catalog, ObjectStore* store,
                                                            const std::string& replication);
  // As read when it was opened or last written; nothing when there was none.
  const std::optional<ControlRecord>& record() const { return record_; }
  // kAborted: another process wrote in between: this one must stop. kUnknown
  // or kUnavailable: write again.
  absl::Status Write(const ControlRecord& record);

 private:
  ControlStore(Catalog* catalog, ObjectStore* store, TableIdent ident)
      : catalog_(catalog), store_(store), ident_(std::move(ident)) {}
  absl::Status Load();

  Catalog* const catalog_;
  ObjectStore* const store_;
  const TableIdent ident_;
  std::optional<LoadedTable> loaded_;
  std::optional<ControlRecord> record_;
};

// The record as a reader (status) sees it, without making anything. Nothing when there is none.
absl::StatusOr<std::optional<ControlRecord>> ReadControlRecord(Catalog& catalog,
                                                               const std::string& replication);

}  // namespace fjord
