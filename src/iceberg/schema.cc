#include "iceberg/schema.h"

#include <algorithm>
#include <map>

#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

const std::map<std::string, TypeKind, std::less<>>& SimpleTypes() {
  static const auto* types = new std::map<std::string, TypeKind, std::less<>>{
      {"boolean", TypeKind::kBoolean}, {"int", TypeKind::kInt},         {"long", TypeKind::kLong},
      {"float", TypeKind::kFloat},     {"double", TypeKind::kDouble},   {"date", TypeKind::kDate},
      {"time", TypeKind::kTime},       {"timestamp", TypeKind::kTimestamp},
      {"timestamptz", TypeKind::kTimestampTz}, {"string", TypeKind::kString}, {"uuid", TypeKind::kUuid},
      {"binary", TypeKind::kBinary}};
  return *types;
}

absl::StatusOr<SchemaField> FieldFromJson(const Json& json) {
  SchemaField field;
  ASSIGN_OR_RETURN(const int64_t id, json.GetInt("id"));
  field.id = FieldId(static_cast<int32_t>(id));
  ASSIGN_OR_RETURN(field.name, json.GetString("name"));
  ASSIGN_OR_RETURN(field.required, json.GetBool("required"));
  const Json* type = json.Find("type");
  if (type == nullptr) return absl::InvalidArgumentError(StrCat("field ", field.name, " has no type"));
  field.type = *type;
  if (type->is_string()) field.primitive = ParseTypeName(type->as_string());
  for (const auto& [name, value] : json.object()) {
    if (name != "id" && name != "name" && name != "required" && name != "type") field.other.Set(name, value);
  }
  return field;
}

constexpr const char* kIdMembers[] = {"id", "element-id", "key-id", "value-id"};

Json FreshType(const Json& type, int32_t* last_id, std::map<int64_t, int64_t>* renamed);

// Ids of one level first, then what is nested in it.
Json FreshFields(const Json& fields, int32_t* last_id, std::map<int64_t, int64_t>* renamed) {
  Json fresh = fields;
  for (Json& field : fresh.array()) {
    if (const Json* old = field.Find("id"); old != nullptr && old->is_int()) (*renamed)[old->as_int()] = *last_id + 1;
    field.Set("id", int64_t{++*last_id});
  }
  for (Json& field : fresh.array()) {
    if (const Json* type = field.Find("type")) field.Set("type", FreshType(*type, last_id, renamed));
  }
  return fresh;
}

Json FreshType(const Json& type, int32_t* last_id, std::map<int64_t, int64_t>* renamed) {
  if (!type.is_object()) return type;
  Json fresh = type;
  if (const Json* fields = type.Find("fields"); fields != nullptr && fields->is_array()) {
    fresh.Set("fields", FreshFields(*fields, last_id, renamed));
  }
  for (const char* member : {"element-id", "key-id", "value-id"}) {
    if (type.Find(member) != nullptr) fresh.Set(member, int64_t{++*last_id});
  }
  for (const char* member : {"element", "key", "value"}) {
    if (const Json* nested = type.Find(member)) fresh.Set(member, FreshType(*nested, last_id, renamed));
  }
  return fresh;
}

}  // namespace

std::optional<ColumnType> ParseTypeName(std::string_view name) {
  if (const auto it = SimpleTypes().find(name); it != SimpleTypes().end()) return ColumnType{.kind = it->second};
  if (!name.starts_with("decimal(") || !name.ends_with(")")) return std::nullopt;
  const std::vector<std::string> parts = Split(name.substr(8, name.size() - 9), ',');
  if (parts.size() != 2) return std::nullopt;
  const std::optional<int32_t> precision = ParseInt<int32_t>(Trim(parts[0]));
  const std::optional<int32_t> scale = ParseInt<int32_t>(Trim(parts[1]));
  if (!precision || !scale) return std::nullopt;
  return ColumnType{.kind = TypeKind::kDecimal, .precision = *precision, .scale = *scale};
}

Json SchemaToJson(const Schema& schema) {
  Json json = Json::MakeObject();
  json.Set("type", "struct");
  json.Set("schema-id", int64_t{schema.id.value});
  if (!schema.identifier_fields.empty()) {
    Json ids = Json::MakeArray();
    for (const FieldId id : schema.identifier_fields) ids.Push(int64_t{id.value});
    json.Set("identifier-field-ids", std::move(ids));
  }
  Json fields = Json::MakeArray();
  for (const SchemaField& field : schema.fields) {
    Json item = Json::MakeObject();
    item.Set("id", int64_t{field.id.value});
    item.Set("name", field.name);
    item.Set("required", field.required);
    item.Set("type", field.type);
    for (const auto& [name, value] : field.other.object()) item.Set(name, value);
    fields.Push(std::move(item));
  }
  json.Set("fields", std::move(fields));
  return json;
}

absl::StatusOr<Schema> SchemaFromJson(const Json& json) {
  Schema schema;
  ASSIGN_OR_RETURN(const int64_t id, json.GetInt("schema-id", 0));
  schema.id = SchemaId(static_cast<int32_t>(id));
  if (const Json* ids = json.Find("identifier-field-ids"); ids != nullptr && ids->is_array()) {
    for (const Json& item : ids->array()) {
      if (item.is_int()) schema.identifier_fields.push_back(FieldId(static_cast<int32_t>(item.as_int())));
    }
  }
  ASSIGN_OR_RETURN(const Json* fields, json.GetArray("fields"));
  for (const Json& item : fields->array()) {
    ASSIGN_OR_RETURN(SchemaField field, FieldFromJson(item));
    schema.fields.push_back(std::move(field));
  }
  return schema;
}

int32_t HighestFieldId(const Json& schema) {
  int64_t highest = 0;
  if (schema.is_array()) {
    for (const Json& item : schema.array()) highest = std::max<int64_t>(highest, HighestFieldId(item));
  } else if (schema.is_object()) {
    for (const char* member : kIdMembers) {
      if (const Json* id = schema.Find(member); id != nullptr && id->is_int()) highest = std::max(highest, id->as_int());
    }
    for (const char* member : {"fields", "type", "element", "key", "value"}) {
      if (const Json* nested = schema.Find(member)) highest = std::max<int64_t>(highest, HighestFieldId(*nested));
    }
  }
  return static_cast<int32_t>(highest);
}

Json AssignFreshIds(const Json& schema, int32_t* last_id) {
  std::map<int64_t, int64_t> renamed;
  Json fresh = FreshType(schema, last_id, &renamed);
  if (Json* ids = fresh.Find("identifier-field-ids"); ids != nullptr && ids->is_array()) {
    for (Json& id : ids->array()) {
      if (id.is_int() && renamed.contains(id.as_int())) id = Json(renamed[id.as_int()]);
    }
  }
  return fresh;
}

}  // namespace fjord
