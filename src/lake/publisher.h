// From planned changes to a commit, and from its answer to a certain outcome.
//
// Bytes go out in the order data, manifests, manifest list, commit: nothing is named before it is
// durable. After that an answer of the catalog is only believed when it is clear; else we look for
// our own operation in the table. Nothing is ever deleted because of an unclear answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "iceberg/metadata.h"
#include "lake/commit_patience.h"
#include "lake/head.h"
#include "lake/retention.h"
#include "lake/snapshot_plan.h"
#include "lake/watermark.h"

namespace fjord {

class ObjectStore;

struct CommitInput {
  const TableHead* base = nullptr;
  FileChanges changes;
  SnapshotId snapshot;
  OwnSnapshot own;
  RetentionPolicy retention;
  int64_t now_ms = 0;
};

// Everything is written; the request may be sent, and sent again.
struct PreparedCommit {
  CommitRequest request;
  SnapshotId snapshot;
  std::string operation;
  std::optional<SnapshotId> base_snapshot;
  std::vector<LiveManifest> manifests;  // of the new snapshot
};
absl::StatusOr<PreparedCommit> PrepareCommit(ObjectStore& store, const CommitInput& input);

// The table after our commit. kAborted: certainly not in, and the head has moved or a requirement
// cannot hold any more: plan anew. kUnknown: cannot be found out now; load the table later, which
// says how far it is. kFailedPrecondition, kNotFound: as the catalog says.
absl::StatusOr<LoadedTable> SendCommit(Catalog& catalog, const TableIdent& ident,
                                       const PreparedCommit& commit,
                                       const CommitPatience& patience);

}  // namespace fjord
