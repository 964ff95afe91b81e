#include "postgres/tuple.h"

#include <algorithm>

#include "base/strings.h"
#include "postgres/text_value.h"

namespace fjord {
namespace {

// What a loop over the cells of one column needs beside them.
struct Loop {
  const PgColumn& column;
  CellColumn cells;
  UnrepresentablePolicy policy;
  Column& out;
};

DecodeProblem ProblemAt(const Loop& loop, size_t row, const ValueFailure& failure) {
  constexpr size_t kTextBytesMax = 64;
  const std::string_view text = loop.cells.first[row * loop.cells.stride].text;
  return DecodeProblem{.kind = failure.kind,
                       .row = row,
                       .column = loop.column.name,
                       .type = loop.column.type_name,
                       .text = std::string(text.substr(0, kTextBytesMax)),
                       .reason = failure.reason};
}

// Parses every cell into `values`, which is the vector of `out` that belongs to its type. `parse`
// is inlined: the type was decided once for the column, the loop has no switch in it.
template <class T, class Parse>
DecodeResult Decode(const Loop& loop, std::vector<T>& values, Parse parse) {
  DecodeResult result;
  const size_t before = values.size();
  values.resize(before + loop.cells.rows);
  loop.out.valid.resize(before + loop.cells.rows, 0);
  T* const value = values.data() + before;
  uint8_t* const valid = loop.out.valid.data() + before;
  const TextCell* cell = loop.cells.first;
  for (size_t row = 0; row < loop.cells.rows; ++row, cell += loop.cells.stride) {
    if (cell->kind != TextCell::Kind::kText) continue;
    const ValueFailure failure = parse(cell->text, value[row]);
    if (!failure) {
      valid[row] = 1;
      continue;
    }
    if (failure.kind == DecodeProblem::Kind::kUnrepresentable &&
        loop.policy == UnrepresentablePolicy::kNull && !loop.column.is_key) {
      value[row] = T{};
      ++result.nulled;
      continue;
    }
    result.problem = ProblemAt(loop, row, failure);
    values.resize(before + row);
    loop.out.valid.resize(before + row);
    return result;
  }
  return result;
}

constexpr ValueFailure kNotUtf8{DecodeProblem::Kind::kUnrepresentable,
                                "the text is not UTF-8, as text in the lake is"};

DecodeResult DecodeText(const Loop& loop) {
  return Decode(loop, loop.out.bytes, [](std::string_view text, std::string_view& value) {
    value = text;
    return ValueFailure{};
  });
}

DecodeResult DecodeCheckedText(const Loop& loop) {
  return Decode(loop, loop.out.bytes, [](std::string_view text, std::string_view& value) {
    value = text;
    return IsUtf8(text) ? ValueFailure{} : kNotUtf8;
  });
}

DecodeResult DecodeBytea(const Loop& loop, Arena& arena) {
  return Decode(loop, loop.out.bytes, [&](std::string_view text, std::string_view& value) {
    char* const bytes = arena.Allocate(text.size() / 2);
    size_t size = 0;
    const ValueFailure failure = ParseBytea(text, bytes, size);
    value = {bytes, size};
    return failure;
  });
}

DecodeResult DecodeUuid(const Loop& loop, Arena& arena) {
  return Decode(loop, loop.out.bytes, [&](std::string_view text, std::string_view& value) {
    char* const bytes = arena.Allocate(16);
    value = {bytes, 16};
    return ParseUuid(text, bytes);
  });
}

DecodeResult DecodeArray(const Loop& loop, Arena& arena) {
  std::string json;
  return Decode(loop, loop.out.bytes, [&](std::string_view text, std::string_view& value) {
    if (loop.column.check_utf8 && !IsUtf8(text)) return kNotUtf8;
    const ValueFailure failure =
        ArrayToJson(text, loop.column.element, loop.column.element_delimiter, json);
    if (!failure) value = arena.Copy(json);
    return failure;
  });
}

DecodeResult DecodeDecimal(const Loop& loop) {
  const int precision = loop.column.lake.precision;
  const int scale = loop.column.lake.scale;
  return Decode(loop, loop.out.int128s, [=](std::string_view text, absl::int128& value) {
    return ParseDecimal(text, precision, scale, value);
  });
}

}  // namespace

DecodeResult DecodeColumn(const PgColumn& column, CellColumn cells, UnrepresentablePolicy policy,
                          Column& out, Arena& arena) {
  const Loop loop{column, cells, policy, out};
  switch (column.decode) {
    case DecodeKind::kBoolean: return Decode(loop, out.int32s, ParseBoolean);
    case DecodeKind::kInt32: return Decode(loop, out.int32s, ParseInt32);
    case DecodeKind::kInt64: return Decode(loop, out.int64s, ParseInt64);
    case DecodeKind::kFloat: return Decode(loop, out.floats, ParseFloat);
    case DecodeKind::kDouble: return Decode(loop, out.doubles, ParseDouble);
    case DecodeKind::kDecimal: return DecodeDecimal(loop);
    case DecodeKind::kText: return DecodeText(loop);
    case DecodeKind::kCheckedText: return DecodeCheckedText(loop);
    case DecodeKind::kBytea: return DecodeBytea(loop, arena);
    case DecodeKind::kDate: return Decode(loop, out.int32s, ParseDate);
    case DecodeKind::kTime: return Decode(loop, out.int64s, ParseTime);
    case DecodeKind::kTimestamp: return Decode(loop, out.int64s, ParseTimestamp);
    case DecodeKind::kTimestampTz: return Decode(loop, out.int64s, ParseTimestampTz);
    case DecodeKind::kUuid: return DecodeUuid(loop, arena);
    case DecodeKind::kArray: return DecodeArray(loop, arena);
  }
  return {};
}

ColumnBatch MakeBatch(std::span<const PgColumn> columns) {
  ColumnBatch batch;
  for (const PgColumn& column : columns) batch.columns.emplace_back(column.lake);
  return batch;
}

DecodeResult DecodeRows(std::span<const PgColumn> columns, const TupleRows& rows,
                        UnrepresentablePolicy policy, ColumnBatch& batch) {
  DecodeResult all;
  for (size_t i = 0; i < columns.size(); ++i) {
    DecodeResult one =
        DecodeColumn(columns[i], ColumnOf(rows, i), policy, batch.columns[i], batch.arena);
    all.nulled += one.nulled;
    if (one.problem) {
      all.problem = std::move(one.problem);
      return all;
    }
  }
  return all;
}

absl::Status DecodeProblem::ToStatus(std::string_view table) const {
  const std::string what = StrCat(table, ": column \"", column, "\" (", type, ") has the value \"",
                                  text, "\": ", reason);
  if (kind == Kind::kMalformed) return absl::DataLossError(what);
  return absl::FailedPreconditionError(StrCat(
      what,
      "; correct the value in the source, or set onUnrepresentable: null (or text) for this table; "
      "key columns need a correction"));
}

}  // namespace fjord
