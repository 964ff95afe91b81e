// How a lake table is made for a source's columns, and whether one that is there fits them. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "columnar/field.h"
#include "lake/lake_table.h"

namespace fjord {

// What a table's metadata says about the columns of its spec.
struct TableFields {
  std::vector<FileField> all;  // in the order of the spec's columns
  std::vector<FileField> key;
  std::array<uint64_t, 2> seed{};  // of the key hash
};

TableCreation CreationOf(const LakeTableSpec& spec, const std::array<uint64_t, 2>& seed);

// kFailedPrecondition: the table is another one than the spec wants, and a person must act.
absl::StatusOr<TableFields> MatchTable(const LakeTableSpec& spec, const TableMetadata& metadata);

}  // namespace fjord
