// Random batches of every type, files in memory, and values as text: what this layer's tests share.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"
#include "columnar/parquet_reader.h"
#include "columnar/parquet_test_support.h"
#include "columnar/parquet_writer.h"

namespace fjord {

// A field of every type, with decimals of each of Parquet's three forms.
inline std::vector<FileField> EveryType() {
  return {{FieldId(1), "key", {TypeKind::kLong}, true},
          {FieldId(2), "flag", {TypeKind::kBoolean}},
          {FieldId(3), "int", {TypeKind::kInt}},
          {FieldId(4), "long", {TypeKind::kLong}},
          {FieldId(5), "float", {TypeKind::kFloat}},
          {FieldId(6), "double", {TypeKind::kDouble}},
          {FieldId(7), "dec9", {TypeKind::kDecimal, 9, 2}},
          {FieldId(8), "dec18", {TypeKind::kDecimal, 18, 0}},
          {FieldId(9), "dec38", {TypeKind::kDecimal, 38, 38}},
          {FieldId(10), "date", {TypeKind::kDate}},
          {FieldId(11), "time", {TypeKind::kTime}},
          {FieldId(12), "ts", {TypeKind::kTimestamp}},
          {FieldId(13), "tstz", {TypeKind::kTimestampTz}},
          {FieldId(14), "text", {TypeKind::kString}},
          {FieldId(15), "uuid", {TypeKind::kUuid}},
          {FieldId(16), "bytes", {TypeKind::kBinary}},
          // Names of PostgreSQL columns are anything.
          {FieldId(1000), "a.b \"Ünï\"", {TypeKind::kString}}};
}

inline ColumnBatch EmptyBatchOf(const std::vector<FileField>& fields) {
  ColumnBatch batch;
  for (const FileField& field : fields) batch.columns.emplace_back(field.type);
  return batch;
}

inline absl::int128 RandomInt128Below(std::mt19937_64& random, int digits) {
  absl::int128 limit = 1;
  for (int i = 0; i < digits; ++i) limit *= 10;
  const absl::int128 wide =
      absl::MakeInt128(static_cast<int64_t>(random()), random()) >> (random() % 126);
  return wide % limit;
}

// Short words of few letters, so that they repeat and begin alike; sometimes any bytes,
// where the type allows.
inline std::string RandomBytes(std::mt19937_64& random, TypeKind kind) {
  std::string text(kind == TypeKind::kUuid ? 16 : random() % (random() % 50 == 0 ? 300 : 20), '\0');
  for (char& c : text)
    c = kind == TypeKind::kString ? static_cast<char>('a' + random() % 3)
                                  : static_cast<char>(random());
  if (kind == TypeKind::kString && random() % 4 == 0) text += "Zü𝄞";
  return text;
}

// Edge values are likely.
inline void AppendRandomValue(std::mt19937_64& random, Column& column, Arena& arena) {
  const int64_t any = static_cast<int64_t>(random() >> (random() % 64));
  const int64_t number = random() % 2 == 0 ? any : -any;
  constexpr double kDoubles[] = {0.0, -0.0, 1.5, -2.25, 1e300, -1e-300, INFINITY, -INFINITY, NAN};
  constexpr float kFloats[] = {0.0f, -0.0f, 1.5f, -2.25f, 1e38f, -1e-40f, INFINITY, -INFINITY, NAN};
  column.valid.push_back(1);
  switch (column.type.kind) {
    case TypeKind::kBoolean: column.int32s.push_back(static_cast<int32_t>(random() % 2)); break;
    case TypeKind::kInt: column.int32s.push_back(static_cast<int32_t>(number)); break;
    // Years 1 to 9999, which Python's dates have.
    case TypeKind::kDate:
      column.int32s.push_back(static_cast<int32_t>(random() % 3'652'059) - 719'162);
      break;
    case TypeKind::kLong: column.int64s.push_back(number); break;
    case TypeKind::kTime:
      column.int64s.push_back(static_cast<int64_t>(random() % 86'400'000'000));
      break;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
      column.int64s.push_back(static_cast<int64_t>(random() % 315'537'897'599'000'000) -
                              62'135'596'800'000'000);
      break;
    case TypeKind::kFloat:
      column.floats.push_back(random() % 2 == 0 ? kFloats[random() % 9]
                                                : static_cast<float>(number));
      break;
    case TypeKind::kDouble:
      column.doubles.push_back(random() % 2 == 0 ? kDoubles[random() % 9]
                                                 : static_cast<double>(number));
      break;
    case TypeKind::kDecimal:
      column.int128s.push_back(RandomInt128Below(random, column.type.precision));
      break;
    case TypeKind::kString:
    case TypeKind::kUuid:
    case TypeKind::kBinary:
      column.bytes.push_back(arena.Copy(RandomBytes(random, column.type.kind)));
      break;
  }
}

// About `nulls_of_16` of 16 values of optional columns are null.
inline ColumnBatch RandomBatch(std::mt19937_64& random, const std::vector<FileField>& fields,
                               size_t rows, uint64_t nulls_of_16 = 3) {
  ColumnBatch batch = EmptyBatchOf(fields);
  for (size_t c = 0; c < fields.size(); ++c) {
    for (size_t i = 0; i < rows; ++i) {
      if (!fields[c].required && random() % 16 < nulls_of_16) {
        batch.columns[c].AppendNull();
      } else {
        AppendRandomValue(random, batch.columns[c], batch.arena);
      }
    }
  }
  return batch;
}

inline std::string Int128ToText(absl::int128 value) {
  const bool negative = value < 0;
  std::string digits;
  do {
    const int digit = static_cast<int>(value % 10);
    digits.insert(digits.begin(), static_cast<char>('0' + (digit < 0 ? -digit : digit)));
    value /= 10;
  } while (value != 0);
  return negative ? "-" + digits : digits;
}

// One value as tests/unit_py/parquet_peer.py writes it too: numbers in decimal, unscaled; floats as
// the hexadecimal of their bits, one NaN; bytes as 'x' and hexadecimal.
inline std::string ValueToText(const Column& column, size_t row) {
  if (column.valid[row] == 0) return "null";
  switch (PhysicalOf(column.type.kind)) {
    case Physical::kInt32: return StrCat(column.int32s[row]);
    case Physical::kInt64: return StrCat(column.int64s[row]);
    case Physical::kInt128: return Int128ToText(column.int128s[row]);
    case Physical::kBytes: return StrCat("x", Hex(column.bytes[row]));
    case Physical::kFloat: {
      if (column.floats[row] != column.floats[row]) return "nan";
      uint32_t bits = 0;
      std::memcpy(&bits, &column.floats[row], sizeof bits);
      return StrCat(absl::Hex(bits, absl::kZeroPad8));
    }
    case Physical::kDouble: {
      if (column.doubles[row] != column.doubles[row]) return "nan";
      uint64_t bits = 0;
      std::memcpy(&bits, &column.doubles[row], sizeof bits);
      return StrCat(absl::Hex(bits, absl::kZeroPad16));
    }
  }
  return "";
}

// The values of each column.
using TextColumns = std::vector<std::vector<std::string>>;

inline void AppendAsText(const ColumnBatch& batch, TextColumns& out) {
  out.resize(batch.columns.size());
  for (size_t c = 0; c < batch.columns.size(); ++c) {
    ASSERT_EQ(batch.columns[c].size(), batch.rows());
    for (size_t i = 0; i < batch.rows(); ++i) out[c].push_back(ValueToText(batch.columns[c], i));
  }
}

// A whole file in memory.
struct MemoryFile {
  std::string bytes;
  WrittenFile written;
};

inline MemoryFile WriteFile(const std::vector<FileField>& fields,
                            const std::vector<const ColumnBatch*>& batches,
                            const ParquetWriteOptions& options = {}) {
  MemoryObject object;
  auto writer = ParquetWriter::Create(fields, options, std::make_unique<MemoryWriteStream>(object));
  EXPECT_TRUE(writer.ok()) << writer.status();
  for (const ColumnBatch* batch : batches) {
    const absl::Status status = (*writer)->Append(*batch);
    EXPECT_TRUE(status.ok()) << status;
  }
  absl::StatusOr<WrittenFile> written = (*writer)->Finish();
  EXPECT_TRUE(written.ok()) << written.status();
  EXPECT_TRUE(object.closed);
  EXPECT_FALSE(object.aborted);
  return {object.bytes, *std::move(written)};
}

inline absl::StatusOr<TextColumns> ReadAll(ParquetReader& reader,
                                           const std::vector<FileField>& fields) {
  TextColumns out(fields.size());
  uint64_t next = 0;
  RETURN_IF_ERROR(reader.ReadColumns(fields, [&](const ColumnBatch& batch, uint64_t first_row) {
    EXPECT_EQ(first_row, next);
    next += batch.rows();
    AppendAsText(batch, out);
    return absl::OkStatus();
  }));
  return out;
}

inline absl::StatusOr<TextColumns> ReadAll(const std::string& bytes,
                                           const std::vector<FileField>& fields) {
  ASSIGN_OR_RETURN(const auto reader, ParquetReader::Open(std::make_unique<MemoryReadable>(bytes)));
  return ReadAll(*reader, fields);
}

}  // namespace fjord
