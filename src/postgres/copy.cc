#include "postgres/copy.h"

#include <emmintrin.h>
#include <libpq-fe.h>

#include <algorithm>
#include <cstring>

#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr int64_t kPageBytes = 8192;

// The first tab or backslash in [p, end), or end. Sixteen bytes at a time: this is
// every byte of a first copy.
const char* FindSpecial(const char* p, const char* end) {
  const __m128i tab = _mm_set1_epi8('\t');
  const __m128i backslash = _mm_set1_epi8('\\');
  for (; end - p >= 16; p += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const int found = _mm_movemask_epi8(
        _mm_or_si128(_mm_cmpeq_epi8(bytes, tab), _mm_cmpeq_epi8(bytes, backslash)));
    if (found != 0) return p + __builtin_ctz(static_cast<unsigned>(found));
  }
  while (p < end && *p != '\t' && *p != '\\') ++p;
  return p;
}

int OctalDigit(const char* p, const char* end) {
  return p < end && *p >= '0' && *p <= '7' ? *p - '0' : -1;
}
int HexDigit(const char* p, const char* end) {
  if (p >= end) return -1;
  if (*p >= '0' && *p <= '9') return *p - '0';
  const char lower = static_cast<char>(*p | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The byte behind a backslash; moves `p` behind what was read. Precondition: p < end.
char Unescape(const char*& p, const char* end) {
  const char c = *p++;
  switch (c) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'v': return '\v';
    case 'x': {
      int value = HexDigit(p, end);
      if (value < 0) return c;
      ++p;
      if (const int digit = HexDigit(p, end); digit >= 0) value = value * 16 + digit, ++p;
      return static_cast<char>(value);
    }
    default: break;
  }
  if (c < '0' || c > '7') return c;
  int value = c - '0';
  for (int i = 0; i < 2; ++i) {
    const int digit = OctalDigit(p, end);
    if (digit < 0) break;
    value = value * 8 + digit;
    ++p;
  }
  return static_cast<char>(value);
}

// The field that begins at `from`, whose first escape is at `at`; undone in place. `at` ends on the
// tab or `end`. False when a backslash is the last byte.
bool UnescapeField(const char* from, const char*& at, const char* end, TextCell& cell) {
  char* out = const_cast<char*>(at);
  while (at < end && *at == '\\') {
    if (++at == end) return false;
    *out++ = Unescape(at, end);
    const char* const next = FindSpecial(at, end);
    std::memmove(out, at, static_cast<size_t>(next - at));
    out += next - at;
    at = next;
  }
  cell = TextCell::Of({from, static_cast<size_t>(out - from)});
  return true;
}

absl::Status WrongFields(size_t found, size_t expected) {
  return absl::DataLossError(StrCat("a line of COPY has ", found,
                                    " fields where the statement has ", expected, " columns"));
}

// Cells of `line`, which lies in memory of ours that may be changed.
absl::Status SplitLine(std::string_view line, TupleRows& rows) {
  const char* at = line.data();
  const char* const end = at + line.size();
  size_t fields = 0;
  while (true) {
    const char* const from = at;
    at = FindSpecial(at, end);
    TextCell cell;
    if (at == end || *at == '\t') {
      cell = TextCell::Of({from, static_cast<size_t>(at - from)});
    } else if (at == from && end - at >= 2 && at[1] == 'N' && (end - at == 2 || at[2] == '\t')) {
      at += 2;
    } else if (!UnescapeField(from, at, end, cell)) {
      return absl::DataLossError("a line of COPY ends within an escape");
    }
    rows.cells.push_back(cell);
    ++fields;
    if (at == end) break;
    ++at;
  }
  return fields == rows.columns ? absl::OkStatus() : WrongFields(fields, rows.columns);
}

}  // namespace

std::vector<PageRange> SliceTable(int64_t pages, int64_t bytes_max, int workers) {
  const int64_t pages_max = std::max<int64_t>(bytes_max / kPageBytes, 1);
  int64_t count = (pages + pages_max - 1) / pages_max;
  if (count > 1) count = (count + workers - 1) / workers * workers;
  count = std::clamp<int64_t>(count, 1, std::max<int64_t>(pages, 1));
  std::vector<PageRange> slices;
  for (int64_t i = 0; i < count; ++i) {
    PageRange slice{.first = static_cast<uint32_t>(pages * i / count)};
    if (i + 1 < count) slice.end = static_cast<uint32_t>(pages * (i + 1) / count);
    slices.push_back(slice);
  }
  return slices;
}

std::string CopySql(const CopyQuery& query) {
  std::vector<std::string> names;
  for (const std::string& column : query.columns) names.push_back(QuoteIdent(column));
  std::vector<std::string> conditions;
  if (query.pages && (query.pages->first > 0 || query.pages->end)) {
    conditions.push_back(StrCat("ctid >= '(", query.pages->first, ",0)'::tid"));
    if (query.pages->end) conditions.push_back(StrCat("ctid < '(", *query.pages->end, ",0)'::tid"));
  }
  if (!query.row_filter.empty()) conditions.push_back(StrCat("(", query.row_filter, ")"));
  return StrCat("COPY (SELECT ", Join(names, ", "), " FROM ONLY ",
                QuoteQualified(query.schema, query.name), conditions.empty() ? "" : " WHERE ",
                Join(conditions, " AND "), ") TO STDOUT");
}

void CopyBatch::Clear() {
  rows.Clear();
  arena.Clear();
  text_bytes = 0;
}

absl::Status ParseCopyLine(std::string_view line, Arena& arena, TupleRows& rows) {
  if (rows.columns == 0) {
    if (!line.empty()) return WrongFields(1, 0);
    ++rows.rows;
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(SplitLine(arena.Copy(line), rows));
  ++rows.rows;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CopyReader>> CopyReader::Start(Connection& connection,
                                                              std::string_view sql,
                                                              size_t columns) {
  RETURN_IF_ERROR(connection.Exec(sql));
  return std::unique_ptr<CopyReader>(new CopyReader(connection, columns));
}

absl::StatusOr<bool> CopyReader::Next(const CopyLimits& limits, CopyBatch& batch) {
  batch.Clear();
  batch.rows.columns = columns_;
  while (running_ && batch.rows.rows < limits.rows_max && batch.text_bytes < limits.bytes_max) {
    char* line = nullptr;
    const int size = PQgetCopyData(connection_.native(), &line, /*async=*/1);
    if (size > 0) {
      const std::string_view text(line, static_cast<size_t>(size) - 1);  // without the newline
      const absl::Status status = ParseCopyLine(text, batch.arena, batch.rows);
      PQfreemem(line);
      RETURN_IF_ERROR(status);
      batch.text_bytes += static_cast<size_t>(size);
    } else if (size == 0) {
      ASSIGN_OR_RETURN(const bool ready, connection_.WaitForInput(absl::InfiniteFuture()));
      if (ready && !PQconsumeInput(connection_.native()))
        return connection_.ConnectionError("read a COPY");
    } else if (size == -1) {
      RETURN_IF_ERROR(Finish());
    } else {
      running_ = false;
      return connection_.ConnectionError("read a COPY");
    }
  }
  return batch.rows.rows > 0;
}

absl::Status CopyReader::Finish() {
  running_ = false;
  absl::Status status;
  while (PGresult* result = PQgetResult(connection_.native())) {
    if (PQresultStatus(result) != PGRES_COMMAND_OK && status.ok())
      status = connection_.ResultError(result, "");
    PQclear(result);
  }
  return status;
}

CopyReader::~CopyReader() {
  if (!running_) return;
  connection_.Cancel();
  char* line = nullptr;
  while (PQgetCopyData(connection_.native(), &line, /*async=*/0) > 0) PQfreemem(line);
  Finish().IgnoreError();  // It says that we cancelled, or that the connection is gone, which the
                           // next user learns.
}

}  // namespace fjord
