// First copy: tables read under one exported snapshot by several workers, a
// slice of pages at a time.
//
// A slice is one data file and the unit of retry. A table's base is published by the worker that
// finishes its last slice.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "lake/lake_table.h"
#include "postgres/catalog.h"
#include "postgres/connection.h"
#include "postgres/types.h"
#include "replicate/collapse.h"

namespace fjord {

// Of all tables of a copy together, or of one. Any thread reads.
struct CopyProgress {
  std::atomic<int64_t> rows{0};
  std::atomic<int64_t> bytes{0};  // of text received
  std::atomic<int64_t> pages_total{0};
  std::atomic<int64_t> pages_done{0};
  std::atomic<int64_t> nulled{0};
};

struct CopyTarget {
  TableInfo info;
  const TableShape* shape = nullptr;
  std::string row_filter;  // of the publication
  UnrepresentablePolicy unrepresentable = UnrepresentablePolicy::kBlock;
  LakeTable* lake = nullptr;  // touched by one worker at a time, in PublishBase
  CopyProgress* progress = nullptr;
};

struct CopyOptions {
  ConnectionOptions connection;
  std::string snapshot_name;
  Watermark watermark;  // what the snapshot shows
  int workers = 2;
  int64_t slice_bytes = 96ll << 20;  // of heap
};

// Called once for each target, on a worker's thread: OK when its base is in the lake; kAborted: the
// table was rewritten or the snapshot ended, it needs a newer one; kUnavailable: try again; else
// the table is set aside.
using CopyDone = std::function<void(size_t target, const absl::Status& status)>;

// Returns when every target was answered for, or soon after `stop` became true (then
// some may not have been).
void RunCopy(const CopyOptions& options, std::vector<CopyTarget> targets,
             const std::atomic<bool>& stop, const CopyDone& done);

}  // namespace fjord
