#include "lake/table_fields.h"

#include <algorithm>

#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"
#include "lake/watermark.h"

namespace fjord {
namespace {

// Iceberg identifier fields: required, and of types whose equality is exact (specification,
// "Identifier Field IDs").
bool MayIdentify(const LakeColumn& column) {
  return column.required && column.type.kind != TypeKind::kFloat &&
         column.type.kind != TypeKind::kDouble;
}

Json FieldToJson(const LakeColumn& column, int64_t id) {
  Json field = Json::MakeObject();
  field.Set("id", id);
  field.Set("name", column.name);
  field.Set("required", column.required);
  field.Set("type", TypeName(column.type));
  return field;
}

// Ids from 1, in the order of the columns; the catalog may give others.
Json InitialSchema(const LakeTableSpec& spec) {
  Json::Array fields;
  for (const LakeColumn& column : spec.columns)
    fields.push_back(FieldToJson(column, static_cast<int64_t>(fields.size() + 1)));
  const bool identified =
      !spec.key.empty() && std::all_of(spec.key.begin(), spec.key.end(), [&](int column) {
        return MayIdentify(spec.columns[static_cast<size_t>(column)]);
      });
  Json schema = Json::MakeObject();
  schema.Set("type", "struct");
  schema.Set("schema-id", int64_t{0});
  if (identified) {
    Json::Array ids;
    for (const int column : spec.key) ids.emplace_back(column + 1);
    schema.Set("identifier-field-ids", std::move(ids));
  }
  schema.Set("fields", std::move(fields));
  return schema;
}

std::string FormatSeed(const std::array<uint64_t, 2>& seed) {
  std::string bytes;
  bytes.append(reinterpret_cast<const char*>(seed.data()), sizeof seed);
  return Hex(bytes);
}

absl::StatusOr<std::array<uint64_t, 2>> ParseSeed(std::string_view text) {
  std::array<uint64_t, 2> seed{};
  if (text.size() != 2 * sizeof seed)
    return absl::DataLossError("the table property fjord.index-seed is damaged");
  auto* bytes = reinterpret_cast<uint8_t*>(seed.data());
  for (size_t i = 0; i < sizeof seed; ++i) {
    const std::optional<uint8_t> byte = ParseInt<uint8_t>(text.substr(2 * i, 2), 16);
    if (!byte) return absl::DataLossError("the table property fjord.index-seed is damaged");
    bytes[i] = *byte;
  }
  return seed;
}

// The spec's columns by name, with the field ids that the table gave them.
absl::StatusOr<std::vector<FileField>> MatchColumns(const LakeTableSpec& spec, const Schema& schema,
                                                    const std::string& table) {
  std::vector<FileField> fields;
  for (const LakeColumn& column : spec.columns) {
    const auto it =
        std::find_if(schema.fields.begin(), schema.fields.end(),
                     [&](const SchemaField& field) { return field.name == column.name; });
    if (it == schema.fields.end() || it->primitive != column.type ||
        it->required != column.required) {
      return absl::FailedPreconditionError(StrCat(
          table, " has ",
          it == schema.fields.end() ? "no column " : "another type or nullability for column ",
          column.name, " (wanted ", TypeName(column.type), column.required ? ", required" : "",
          "). Schema changes are not supported yet: drop the lake table to have it copied again."));
    }
    fields.push_back({it->id, column.name, column.type, column.required});
  }
  if (schema.fields.size() != spec.columns.size()) {
    return absl::FailedPreconditionError(
        StrCat(table,
               " has columns that the source has not. Schema changes are not supported yet: drop "
               "the lake table to have it copied again."));
  }
  return fields;
}

}  // namespace

TableCreation CreationOf(const LakeTableSpec& spec, const std::array<uint64_t, 2>& seed) {
  return {.schema = InitialSchema(spec),
          .properties = {{"format-version", "2"},
                         {"write.metadata.delete-after-commit.enabled", "true"},
                         {"write.metadata.previous-versions-max", "100"},
                         {"write.delete.mode", "merge-on-read"},
                         {"write.update.mode", "merge-on-read"},
                         {"write.merge.mode", "merge-on-read"},
                         {kIndexSeedProperty, FormatSeed(seed)}}};
}

absl::StatusOr<TableFields> MatchTable(const LakeTableSpec& spec, const TableMetadata& metadata) {
  const std::string table = StrCat(spec.display_name, ": lake table ", spec.ident.ToString());
  if (metadata.format_version != 2) {
    return absl::FailedPreconditionError(StrCat(
        table, " has format version ", metadata.format_version, "; only 2 is supported yet"));
  }
  if (!metadata.IsUnpartitioned()) {
    return absl::FailedPreconditionError(
        StrCat(table, " is partitioned, which is not supported yet"));
  }
  TableFields fields;
  ASSIGN_OR_RETURN(fields.all, MatchColumns(spec, metadata.CurrentSchema(), table));
  for (const int column : spec.key) fields.key.push_back(fields.all[static_cast<size_t>(column)]);
  const auto seed = metadata.properties.find(kIndexSeedProperty);
  if (seed == metadata.properties.end()) {
    return absl::FailedPreconditionError(
        StrCat(table, " was not made by fjord. Choose another target, or drop it."));
  }
  ASSIGN_OR_RETURN(fields.seed, ParseSeed(seed->second));
  return fields;
}

}  // namespace fjord
