// PostgreSQL's types as Iceberg's: one table for first copy
// and stream alike (docs/postgres-types.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/column.h"
#include "base/ids.h"
#include "postgres/catalog.h"

namespace fjord {

// What to do with a value that its native type cannot hold (`infinity`, NaN in numeric, `24:00`).
// Key columns always block, whatever this says.
enum class UnrepresentablePolicy {
  kBlock,  // the table stops
  kNull,   // the value becomes null, and is counted
  kText,   // columns of types that have such values are strings from the beginning
};

// How the text of a value becomes a value of the lake.
enum class DecodeKind : uint8_t {
  kBoolean,
  kInt32,  // smallint and integer
  kInt64,
  kFloat,
  kDouble,
  kDecimal,
  kText,         // the bytes as they are; the server guarantees UTF-8
  kCheckedText,  // the same, and UTF-8 is checked here: SQL_ASCII databases, "char"
  kBytea,
  kDate,
  kTime,
  kTimestamp,
  kTimestampTz,
  kUuid,
  kArray,  // as JSON text
};

// How the elements of an array are written in its JSON text.
enum class ArrayElement : uint8_t { kNumber, kBoolean, kJson, kString };

// A replicated column. Immutable after MapColumns.
struct PgColumn {
  int16_t attnum = 0;
  std::string name;
  Oid type;  // as relation messages carry it: the declared type, maybe a domain
  int32_t typmod = -1;
  std::string type_name;
  ColumnType lake;
  DecodeKind decode = DecodeKind::kText;
  ArrayElement element = ArrayElement::kString;
  char element_delimiter = ',';
  bool check_utf8 = false;  // array elements come from a database that does not check its text
  bool required = false;    // NOT NULL
  bool is_key = false;
};

struct TypeOptions {
  UnrepresentablePolicy unrepresentable = UnrepresentablePolicy::kBlock;
  std::string database_encoding = "UTF8";  // ServerInfo::encoding
};

// What replication takes of a table, and what it leaves out.
struct ColumnMapping {
  std::vector<PgColumn> columns;      // by attnum
  std::vector<int> key;               // indexes into `columns`, in the order of the key
  std::vector<std::string> left_out;  // generated columns: PostgreSQL does not send them
};
// `key_attnums`: KeyChoice::attnums. `published_attnums`: a publication's column
// list; empty: all columns.
ColumnMapping MapColumns(const TableInfo& table, const std::vector<int16_t>& key_attnums,
                         const std::vector<int16_t>& published_attnums, const TypeOptions& options);

// Precision and scale in a numeric column's typmod; nothing for plain `numeric`.
struct NumericModifier {
  int precision = 0;
  int scale = 0;  // -1000 … 1000
};
std::optional<NumericModifier> NumericModifierOf(int32_t typmod);

}  // namespace fjord
