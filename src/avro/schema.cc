#include "avro/schema.h"

#include <limits>

#include "absl/container/flat_hash_map.h"
#include "base/json.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr size_t kNodesMax = 200'000;
constexpr int kDepthMax = 100;
constexpr size_t kFixedBytesMax = 1 << 20;

std::optional<AvroType> PrimitiveType(std::string_view name) {
  if (name == "null") return AvroType::kNull;
  if (name == "boolean") return AvroType::kBoolean;
  if (name == "int") return AvroType::kInt;
  if (name == "long") return AvroType::kLong;
  if (name == "float") return AvroType::kFloat;
  if (name == "double") return AvroType::kDouble;
  if (name == "bytes") return AvroType::kBytes;
  if (name == "string") return AvroType::kString;
  return std::nullopt;
}

std::optional<int32_t> IntAttribute(const Json& json, std::string_view name) {
  const Json* value = json.Find(name);
  if (value == nullptr || !value->is_int()) return std::nullopt;
  if (value->as_int() < std::numeric_limits<int32_t>::min() ||
      value->as_int() > std::numeric_limits<int32_t>::max()) {
    return std::nullopt;
  }
  return static_cast<int32_t>(value->as_int());
}

absl::Status Wrong(std::string_view what) {
  return absl::DataLossError(StrCat("the Avro schema is wrong: ", what));
}

}  // namespace

// Walks the JSON once. Named types are known from their name on, so that they
// may refer to themselves.
class AvroSchemaParser {
 public:
  explicit AvroSchemaParser(AvroSchemaTree& tree) : tree_(tree) {}

  absl::StatusOr<const AvroSchema*> Parse(const Json& json, std::string_view space, int depth) {
    if (depth > kDepthMax) return Wrong(StrCat("it nests deeper than ", kDepthMax));
    if (json.is_string()) return ParseName(json.as_string(), space);
    if (json.is_array()) return ParseUnion(json, space, depth);
    if (json.is_object()) return ParseObject(json, space, depth);
    return Wrong("a type is neither text, array nor object");
  }

 private:
  absl::StatusOr<AvroSchema*> NewNode(AvroType type) {
    if (tree_.nodes_.size() >= kNodesMax) return Wrong(StrCat("more than ", kNodesMax, " types"));
    tree_.nodes_.push_back(std::make_unique<AvroSchema>());
    tree_.nodes_.back()->type = type;
    return tree_.nodes_.back().get();
  }

  absl::StatusOr<const AvroSchema*> ParseName(const std::string& name, std::string_view space) {
    if (const auto primitive = PrimitiveType(name)) return NewNode(*primitive);
    if (!space.empty() && name.find('.') == std::string::npos) {
      const auto found = named_.find(StrCat(space, ".", name));
      if (found != named_.end()) return found->second;
    }
    const auto found = named_.find(name);
    if (found == named_.end()) return Wrong(StrCat("no type is named ", JsonQuote(name)));
    return found->second;
  }

  absl::StatusOr<const AvroSchema*> ParseUnion(const Json& json, std::string_view space,
                                               int depth) {
    ASSIGN_OR_RETURN(AvroSchema * node, NewNode(AvroType::kUnion));
    for (const Json& branch : json.array()) {
      ASSIGN_OR_RETURN(const AvroSchema* parsed, Parse(branch, space, depth + 1));
      if (parsed->type == AvroType::kUnion) return Wrong("a union is directly inside a union");
      node->branches.push_back(parsed);
    }
    if (node->branches.empty()) return Wrong("a union without branches");
    return node;
  }

  absl::StatusOr<const AvroSchema*> ParseObject(const Json& json, std::string_view space,
                                                int depth) {
    const Json* type = json.Find("type");
    if (type == nullptr) return Wrong("a type without \"type\"");
    if (!type->is_string()) return Parse(*type, space, depth + 1);
    const std::string& name = type->as_string();
    if (name == "record" || name == "error") return ParseRecord(json, space, depth);
    if (name == "array") return ParseArray(json, space, depth);
    if (name == "map") return ParseMap(json, space, depth);
    if (name == "enum") return ParseEnum(json, space);
    if (name == "fixed") return ParseFixed(json, space);
    const auto primitive = PrimitiveType(name);
    if (!primitive) return ParseName(name, space);
    ASSIGN_OR_RETURN(AvroSchema * node, NewNode(*primitive));
    ReadLogicalType(json, *node);
    return node;
  }

  absl::StatusOr<const AvroSchema*> ParseRecord(const Json& json, std::string_view space,
                                                int depth) {
    ASSIGN_OR_RETURN(AvroSchema * node, NewNode(AvroType::kRecord));
    RETURN_IF_ERROR(Name(json, space, *node));
    const std::string inner(node->name.substr(0, node->name.rfind('.') + 1));
    const std::string_view inner_space =
        inner.empty() ? std::string_view() : std::string_view(inner).substr(0, inner.size() - 1);
    const Json* fields = json.Find("fields");
    if (fields == nullptr || !fields->is_array()) {
      return Wrong(StrCat("record ", JsonQuote(node->name), " has no array \"fields\""));
    }
    for (const Json& field : fields->array()) {
      const Json* name = field.Find("name");
      const Json* type = field.Find("type");
      if (name == nullptr || !name->is_string() || type == nullptr) {
        return Wrong(StrCat("a field of ", JsonQuote(node->name), " lacks a name or a type"));
      }
      ASSIGN_OR_RETURN(const AvroSchema* parsed, Parse(*type, inner_space, depth + 1));
      node->fields.push_back({name->as_string(), IntAttribute(field, "field-id"), parsed});
    }
    return node;
  }

  absl::StatusOr<const AvroSchema*> ParseArray(const Json& json, std::string_view space,
                                               int depth) {
    ASSIGN_OR_RETURN(AvroSchema * node, NewNode(AvroType::kArray));
    const Json* items = json.Find("items");
    if (items == nullptr) return Wrong("an array without \"items\"");
    ASSIGN_OR_RETURN(node->items, Parse(*items, space, depth + 1));
    node->element_id = IntAttribute(json, "element-id");
    ReadLogicalType(json, *node);
    return node;
  }

  absl::StatusOr<const AvroSchema*> ParseMap(const Json& json, std::string_view space, int depth) {
    ASSIGN_OR_RETURN(AvroSchema * node, NewNode(AvroType::kMap));
    const Json* values = json.Find("values");
    if (values == nullptr) return Wrong("a map without \"values\"");
    ASSIGN_OR_RETURN(node->items, Parse(*values, space, depth + 1));
    node->key_id = IntAttribute(json, "key-id");
    node->value_id = IntAttribute(json, "value-id");
    return node;
  }

  absl::StatusOr<const AvroSchema*> ParseEnum(const Json& json, std::string_view space) {
    ASSIGN_OR_RETURN(AvroSchema * node, NewNode(AvroType::kEnum));
    RETURN_IF_ERROR(Name(json, space, *node));
    const Json* symbols = json.Find("symbols");
    if (symbols == nullptr || !symbols->is_array()) return Wrong("an enum without \"symbols\"");
    for (const Json& symbol : symbols->array()) {
      if (!symbol.is_string()) return Wrong("a symbol of an enum is no text");
      node->symbols.push_back(symbol.as_string());
    }
    return node;
  }

  absl::StatusOr<const AvroSchema*> ParseFixed(const Json& json, std::string_view space) {
    ASSIGN_OR_RETURN(AvroSchema * node, NewNode(AvroType::kFixed));
    RETURN_IF_ERROR(Name(json, space, *node));
    const Json* size = json.Find("size");
    if (size == nullptr || !size->is_int() || size->as_int() < 0 ||
        static_cast<uint64_t>(size->as_int()) > kFixedBytesMax) {
      return Wrong(StrCat("fixed ", JsonQuote(node->name), " has no size up to ", kFixedBytesMax));
    }
    node->fixed_size = static_cast<size_t>(size->as_int());
    ReadLogicalType(json, *node);
    return node;
  }

  // Sets the full name and makes the type known by it.
  absl::Status Name(const Json& json, std::string_view space, AvroSchema& node) {
    const Json* name = json.Find("name");
    if (name == nullptr || !name->is_string() || name->as_string().empty()) {
      return Wrong("a record, enum or fixed has no name");
    }
    const Json* own_space = json.Find("namespace");
    if (own_space != nullptr && own_space->is_string()) space = own_space->as_string();
    const bool is_full = name->as_string().find('.') != std::string::npos;
    node.name =
        is_full || space.empty() ? name->as_string() : StrCat(space, ".", name->as_string());
    if (!named_.emplace(node.name, &node).second) {
      return Wrong(StrCat("two types are named ", JsonQuote(node.name)));
    }
    return absl::OkStatus();
  }

  static void ReadLogicalType(const Json& json, AvroSchema& node) {
    const Json* logical = json.Find("logicalType");
    if (logical != nullptr && logical->is_string()) node.logical_type = logical->as_string();
    node.precision = IntAttribute(json, "precision").value_or(0);
    node.scale = IntAttribute(json, "scale").value_or(0);
    const Json* adjust = json.Find("adjust-to-utc");
    if (adjust != nullptr && adjust->is_bool()) node.adjust_to_utc = adjust->as_bool();
  }

  AvroSchemaTree& tree_;
  absl::flat_hash_map<std::string, const AvroSchema*> named_;
};

absl::StatusOr<AvroSchemaTree> AvroSchemaTree::Parse(std::string_view json) {
  const absl::StatusOr<Json> parsed = Json::Parse(json);
  if (!parsed.ok()) return Wrong(Message(parsed.status()));
  AvroSchemaTree tree;
  ASSIGN_OR_RETURN(tree.root_, AvroSchemaParser(tree).Parse(*parsed, "", 0));
  return tree;
}

}  // namespace fjord
