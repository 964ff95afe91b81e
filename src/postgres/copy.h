// First copy of a table: `COPY (SELECT …) TO STDOUT` in text form, by ranges of pages.
//
// Format: PostgreSQL manual, COPY, "Text Format".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "postgres/connection.h"
#include "postgres/tuple.h"

namespace fjord {

// Pages [first, end) of a table; without `end`, all from `first` on.
struct PageRange {
  uint32_t first = 0;
  std::optional<uint32_t> end;
  friend bool operator==(const PageRange&, const PageRange&) = default;
};
// Ranges of equal size that cover the table, the last one open-ended: pages that came after the
// size was read are in it. One for a table of up to `bytes_max`, else a multiple of `workers`, none
// larger than `bytes_max`, so that all workers end together. Precondition: both are above 0.
std::vector<PageRange> SliceTable(int64_t pages, int64_t bytes_max, int workers);

struct CopyQuery {
  std::string schema;
  std::string name;
  std::vector<std::string> columns;
  std::string row_filter;  // a publication's WHERE expression as SQL; empty: all rows
  std::optional<PageRange> pages;
};
// Rows of the table itself, not of tables that inherit from it.
std::string CopySql(const CopyQuery& query);

struct CopyLimits {
  size_t rows_max = 16'384;
  size_t bytes_max = 8 << 20;  // of text; one row may be larger
};

// Rows and the memory that their cells point into.
struct CopyBatch {
  TupleRows rows;
  Arena arena;
  size_t text_bytes = 0;

  void Clear();
};

// Splits one line (without its newline) into cells, undoing the escapes. The cells
// point into `arena`. kDataLoss when it has another number of fields than rows.columns
// or a broken escape. Pure.
absl::Status ParseCopyLine(std::string_view line, Arena& arena, TupleRows& rows);

// A running COPY. Confined to the connection's thread. The connection can be used again when Next
// has returned false; after an error, or when destroyed before, the COPY is cancelled and drained.
class CopyReader {
 public:
  static absl::StatusOr<std::unique_ptr<CopyReader>> Start(Connection& connection,
                                                           std::string_view sql, size_t columns);
  ~CopyReader();
  CopyReader(const CopyReader&) = delete;
  CopyReader& operator=(const CopyReader&) = delete;

  // Clears `batch` and fills it up to a limit. False when there are no more rows
  // (then `batch` is empty).
  absl::StatusOr<bool> Next(const CopyLimits& limits, CopyBatch& batch);

 private:
  CopyReader(Connection& connection, size_t columns) : connection_(connection), columns_(columns) {}

  absl::Status Finish();

  Connection& connection_;
  const size_t columns_;
  bool running_ = true;
};

}  // namespace fjord
