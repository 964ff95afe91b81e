// Values of rows as PostgreSQL's text, and their way into columns. COPY and the
// stream both go through here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/column.h"
#include "postgres/types.h"

namespace fjord {

// One value of one row. The text belongs to somebody else: a message, a CopyBatch.
struct TextCell {
  enum class Kind : uint8_t {
    kNull,
    kUnchanged,  // a large value that the update did not touch and the stream does not carry
    kText,
  };
  std::string_view text;
  Kind kind = Kind::kNull;

  static TextCell Null() { return {}; }
  static TextCell Unchanged() { return {{}, Kind::kUnchanged}; }
  static TextCell Of(std::string_view text) { return {text, Kind::kText}; }
  friend bool operator==(const TextCell&, const TextCell&) = default;
};

// Rows with the same number of cells, one row after the other.
struct TupleRows {
  size_t columns = 0;
  size_t rows = 0;  // kept apart, since tables without columns have rows too
  std::vector<TextCell> cells;

  void Append(std::span<const TextCell> row) {
    cells.insert(cells.end(), row.begin(), row.end());
    ++rows;
  }
  std::span<const TextCell> Row(size_t row) const {
    return {cells.data() + row * columns, columns};
  }
  void Clear() {
    rows = 0;
    cells.clear();
  }
};

// The cells of one column: every `stride`th from `first`.
struct CellColumn {
  const TextCell* first = nullptr;
  size_t rows = 0;
  size_t stride = 1;
};
inline CellColumn ColumnOf(const TupleRows& rows, size_t column) {
  return {rows.cells.data() + column, rows.rows, rows.columns};
}

// A value that cannot be taken over.
struct DecodeProblem {
  enum class Kind {
    kUnrepresentable,  // right in PostgreSQL, but the lake's type has no such value
    kMalformed,        // not a text that PostgreSQL prints for this type
  };
  Kind kind = Kind::kMalformed;
  size_t row = 0;  // in the cells that were passed
  std::string column;
  std::string type;    // as PostgreSQL names it
  std::string text;    // cut at 64 bytes
  std::string reason;  // "numeric NaN has no decimal", …

  // kFailedPrecondition (unrepresentable) or kDataLoss (malformed); `table` begins the message,
  // which says what helps.
  absl::Status ToStatus(std::string_view table) const;
};

struct DecodeResult {
  std::optional<DecodeProblem> problem;  // set: `out` ends before that row
  int64_t nulled = 0;                    // values that became null by UnrepresentablePolicy::kNull
};

// Appends the cells to `out`, whose type is column.lake. Null and unchanged cells become absent
// values; who gets unchanged ones looks at the cells and fills them. Text is not copied: `out` then
// points to where the cells point; what had to be made is in `arena`. Does not judge `required`,
// since old tuples carry the key only.
DecodeResult DecodeColumn(const PgColumn& column, CellColumn cells, UnrepresentablePolicy policy,
                          Column& out, Arena& arena);

// An empty batch with a column for each of `columns`.
ColumnBatch MakeBatch(std::span<const PgColumn> columns);
// Every column of `rows` (same order as `columns`) onto `batch`; stops at the first problem, and
// then the columns of `batch` have different lengths: Clear it.
DecodeResult DecodeRows(std::span<const PgColumn> columns, const TupleRows& rows,
                        UnrepresentablePolicy policy, ColumnBatch& batch);

}  // namespace fjord
