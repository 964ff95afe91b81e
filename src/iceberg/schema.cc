#include "iceberg/schema.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

// Higher ids are reserved for metadata columns (specification, "Reserved Field IDs").
constexpr int64_t kFieldIdMax = 2147483447;

const std::map<std::string, TypeKind, std::less<>>& SimpleTypes() {
  static const auto* types =
      new std::map<std::string, TypeKind, std::less<>>{{"boolean", TypeKind::kBoolean},
                                                       {"int", TypeKind::kInt},
                                                       {"long", TypeKind::kLong},
                                                       {"float", TypeKind::kFloat},
                                                       {"double", TypeKind::kDouble},
                                                       {"date", TypeKind::kDate},
                                                       {"time", TypeKind::kTime},
                                                       {"timestamp", TypeKind::kTimestamp},
                                                       {"timestamptz", TypeKind::kTimestampTz},
                                                       {"string", TypeKind::kString},
                                                       {"uuid", TypeKind::kUuid},
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
  if (type == nullptr)
    return absl::InvalidArgumentError(StrCat("field ", field.name, " has no type"));
  field.type = *type;
  if (type->is_string()) field.primitive = ParseTypeName(type->as_string());
  for (const auto& [name, value] : json.object()) {
    if (name != "id" && name != "name" && name != "required" && name != "type")
      field.other.Set(name, value);
  }
  return field;
}

constexpr const char* kIdMembers[] = {"id", "element-id", "key-id", "value-id"};

void FreshenType(Json& type, FreshSchema& fresh);

// Ids of one level first, then what is nested in it.
void FreshenFields(Json& fields, FreshSchema& fresh) {
  for (Json& field : fields.array()) {
    if (!field.is_object()) continue;
    const int64_t id = ++fresh.last_id;
    if (const Json* old = field.Find("id"); old != nullptr && old->is_int()) {
      fresh.new_ids[old->as_int()] = id;
    }
    field.Set("id", id);
  }
  for (Json& field : fields.array()) {
    if (Json* type = field.Find("type")) FreshenType(*type, fresh);
  }
}

void FreshenType(Json& type, FreshSchema& fresh) {
  if (!type.is_object()) return;
  if (Json* fields = type.Find("fields"); fields != nullptr && fields->is_array()) {
    FreshenFields(*fields, fresh);
  }
  for (const char* member : {"element-id", "key-id", "value-id"}) {
    if (type.Find(member) != nullptr) type.Set(member, int64_t{++fresh.last_id});
  }
  for (const char* member : {"element", "key", "value"}) {
    if (Json* nested = type.Find(member)) FreshenType(*nested, fresh);
  }
}

// Walks a schema and finds what the specification does not allow.
class SchemaChecker {
 public:
  explicit SchemaChecker(int format_version) : format_version_(format_version) {}

  absl::Status Struct(const Json& type, bool may_identify) {
    ASSIGN_OR_RETURN(const Json* fields, type.GetArray("fields"));
    std::set<std::string> names;
    for (const Json& field : fields->array()) {
      ASSIGN_OR_RETURN(const std::string name, field.GetString("name"));
      if (name.empty()) return absl::InvalidArgumentError("a column has no name");
      if (!names.insert(name).second) {
        return absl::InvalidArgumentError(StrCat("two columns are named ", name));
      }
      RETURN_IF_ERROR(Field(field, name, may_identify));
    }
    return absl::OkStatus();
  }

  absl::Status Identifiers(const Json& schema) const {
    const Json* ids = schema.Find("identifier-field-ids");
    if (ids == nullptr || !ids->is_array()) return absl::OkStatus();
    for (const Json& id : ids->array()) {
      if (id.is_int() && identifiable_.contains(id.as_int())) continue;
      return absl::InvalidArgumentError(
          StrCat("identifier field ", id.Dump(),
                 " is not a required column of a comparable primitive type"));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Id(const Json& owner, std::string_view member) {
    ASSIGN_OR_RETURN(const int64_t id, owner.GetInt(member));
    if (id < 1 || id > kFieldIdMax) {
      return absl::InvalidArgumentError(StrCat("field id ", id, " is out of range"));
    }
    if (ids_.insert(id).second) return absl::OkStatus();
    return absl::InvalidArgumentError(StrCat("field id ", id, " is used twice"));
  }

  absl::Status Field(const Json& field, std::string_view name, bool may_identify) {
    RETURN_IF_ERROR(Id(field, "id"));
    ASSIGN_OR_RETURN(const bool required, field.GetBool("required"));
    const Json* type = field.Find("type");
    if (type == nullptr) return absl::InvalidArgumentError(StrCat("column ", name, " has no type"));
    for (const char* member : {"initial-default", "write-default"}) {
      const Json* value = field.Find(member);
      if (format_version_ < 3 && value != nullptr && !value->is_null()) {
        return absl::InvalidArgumentError(
            StrCat("column ", name, " has a default, which needs format version 3"));
      }
    }
    if (may_identify && required && type->is_string() && type->as_string() != "float" &&
        type->as_string() != "double") {
      identifiable_.insert(*field.GetInt("id"));
    }
    return Annotate(Type(*type, may_identify && required), StrCat("column ", name));
  }

  absl::Status Type(const Json& type, bool may_identify) {
    if (type.is_string()) return Primitive(type.as_string());
    ASSIGN_OR_RETURN(const std::string kind, type.GetString("type"));
    if (kind == "struct") return Struct(type, may_identify);
    if (kind == "list") return Nested(type, {"element"});
    if (kind == "map") return Nested(type, {"key", "value"});
    return absl::InvalidArgumentError(StrCat("type ", kind, " is not known"));
  }

  absl::Status Nested(const Json& type, std::initializer_list<const char*> members) {
    for (const char* member : members) {
      RETURN_IF_ERROR(Id(type, StrCat(member, "-id")));
      const Json* nested = type.Find(member);
      if (nested == nullptr) return absl::InvalidArgumentError(StrCat(member, " has no type"));
      RETURN_IF_ERROR(Type(*nested, false));
    }
    return absl::OkStatus();
  }

  absl::Status Primitive(std::string_view name) const {
    if (const std::optional<ColumnType> known = ParseTypeName(name)) {
      if (known->kind != TypeKind::kDecimal) return absl::OkStatus();
      const bool fits = known->precision >= 1 && known->precision <= 38 && known->scale >= 0 &&
                        known->scale <= known->precision;
      return fits ? absl::OkStatus() : absl::InvalidArgumentError(StrCat("no such type: ", name));
    }
    if (name.starts_with("fixed[") && name.ends_with("]")) return absl::OkStatus();
    for (const std::string_view later :
         {"timestamp_ns", "timestamptz_ns", "unknown", "variant", "geometry", "geography"}) {
      if (!name.starts_with(later)) continue;
      if (format_version_ >= 3) return absl::OkStatus();
      return absl::InvalidArgumentError(StrCat("type ", name, " needs format version 3"));
    }
    return absl::InvalidArgumentError(StrCat("type ", name, " is not known"));
  }

  const int format_version_;
  std::set<int64_t> ids_;
  std::set<int64_t> identifiable_;
};

}  // namespace

std::optional<ColumnType> ParseTypeName(std::string_view name) {
  if (const auto it = SimpleTypes().find(name); it != SimpleTypes().end())
    return ColumnType{.kind = it->second};
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
      if (item.is_int())
        schema.identifier_fields.push_back(FieldId(static_cast<int32_t>(item.as_int())));
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
    for (const Json& item : schema.array())
      highest = std::max<int64_t>(highest, HighestFieldId(item));
  } else if (schema.is_object()) {
    for (const char* member : kIdMembers) {
      if (const Json* id = schema.Find(member); id != nullptr && id->is_int())
        highest = std::max(highest, id->as_int());
    }
    for (const char* member : {"fields", "type", "element", "key", "value"}) {
      if (const Json* nested = schema.Find(member))
        highest = std::max<int64_t>(highest, HighestFieldId(*nested));
    }
  }
  return static_cast<int32_t>(highest);
}

FreshSchema AssignFreshIds(const Json& schema) {
  FreshSchema fresh{.schema = schema};
  FreshenType(fresh.schema, fresh);
  if (Json* ids = fresh.schema.Find("identifier-field-ids"); ids != nullptr && ids->is_array()) {
    for (Json& id : ids->array()) {
      const auto it = id.is_int() ? fresh.new_ids.find(id.as_int()) : fresh.new_ids.end();
      if (it != fresh.new_ids.end()) id = Json(it->second);
    }
  }
  return fresh;
}

absl::Status CheckSchema(const Json& schema, int format_version) {
  SchemaChecker checker(format_version);
  RETURN_IF_ERROR(checker.Struct(schema, true));
  return checker.Identifiers(schema);
}

}  // namespace fjord
