// Strong ids. Different things get different types, so that swapping two does not compile.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace fjord {

// A number with a tag. Ordered, hashable, explicit both ways.
template <class Tag, class T>
struct StrongId {
  T value{};

  constexpr StrongId() = default;
  constexpr explicit StrongId(T v) : value(v) {}
  friend constexpr auto operator<=>(const StrongId&, const StrongId&) = default;
  template <class H>
  friend H AbslHashValue(H h, const StrongId& id) {
    return H::combine(std::move(h), id.value);
  }
};

// A position in PostgreSQL's write-ahead log (PostgreSQL manual, "pg_lsn Type"). 0 is "none".
using Lsn = StrongId<struct LsnTag, uint64_t>;
// A transaction id as pgoutput carries it (32 bits, wraps).
using Xid = StrongId<struct XidTag, uint32_t>;
// An object id of PostgreSQL's catalogue: relation or type.
using Oid = StrongId<struct OidTag, uint32_t>;
// PostgreSQL's timeline number.
using TimelineId = StrongId<struct TimelineIdTag, uint32_t>;
// Iceberg ids (specification, "Table Metadata").
using SnapshotId = StrongId<struct SnapshotIdTag, int64_t>;
using SequenceNumber = StrongId<struct SequenceNumberTag, int64_t>;
using FieldId = StrongId<struct FieldIdTag, int32_t>;
using SchemaId = StrongId<struct SchemaIdTag, int32_t>;
using SpecId = StrongId<struct SpecIdTag, int32_t>;
// Number of a data file within one table's row index; never used twice.
using FileNumber = StrongId<struct FileNumberTag, uint32_t>;
// 0-based row number within a data file.
using RowPosition = StrongId<struct RowPositionTag, uint32_t>;

// "16/B374D848": two hexadecimal halves, upper case, as PostgreSQL prints it.
std::string FormatLsn(Lsn lsn);
absl::StatusOr<Lsn> ParseLsn(std::string_view text);

}  // namespace fjord
