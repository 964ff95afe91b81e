#include "spec/yaml.h"

#include <yaml-cpp/yaml.h>

#include <regex>

#include "base/strings.h"

namespace fjord {
namespace {

// An alias costs its author one line and us a whole subtree, so the tree has a limit.
constexpr size_t kNodesMax = 100'000;
constexpr int kDepthMax = 64;

SourcePosition PositionOf(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

bool IsNull(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

bool IsBoolean(std::string_view text) {
  return text == "true" || text == "True" || text == "TRUE" || text == "false" || text == "False" ||
         text == "FALSE";
}

// What a plain scalar means: YAML 1.2, "Core Schema", "Tag Resolution".
YamlKind ResolvePlain(const std::string& text) {
  constexpr size_t kNumberLengthMax = 64;
  if (IsNull(text)) return YamlKind::kNull;
  if (IsBoolean(text)) return YamlKind::kBoolean;
  if (text.size() > kNumberLengthMax) return YamlKind::kText;
  static const std::regex integer("[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+");
  static const std::regex number(
      "[-+]?(\\.[0-9]+|[0-9]+(\\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\\.(inf|Inf|INF)|\\.(nan|NaN|"
      "NAN)");
  if (std::regex_match(text, integer)) return YamlKind::kInteger;
  if (std::regex_match(text, number)) return YamlKind::kNumber;
  return YamlKind::kText;
}

// Copies yaml-cpp's tree into ours.
class TreeCopier {
 public:
  TreeCopier(std::string_view text, Problems& problems) : text_(text), problems_(problems) {}

  YamlNode Copy(const YAML::Node& from, int depth) {
    YamlNode node;
    node.at = PositionOf(from.Mark());
    if (++nodes_ > kNodesMax || depth > kDepthMax) {
      if (problems_.empty()) {
        problems_.push_back({node.at, "", "the file has too many values or nests too deeply"});
      }
      return node;
    }
    switch (from.Type()) {
      case YAML::NodeType::Undefined: break;
      case YAML::NodeType::Null:
        if (IsWrittenNull(from.Mark())) node.text = "null";
        break;
      case YAML::NodeType::Scalar: CopyScalar(from, node); break;
      case YAML::NodeType::Sequence:
        node.kind = YamlKind::kList;
        for (const YAML::Node& item : from) node.items.push_back(Copy(item, depth + 1));
        break;
      case YAML::NodeType::Map: CopyMap(from, node, depth); break;
    }
    return node;
  }

 private:
  static void CopyScalar(const YAML::Node& from, YamlNode& node) {
    node.text = from.Scalar();
    // yaml-cpp marks plain scalars with the tag "?" and quoted ones with "!".
    const bool plain = from.Tag() == "?" || from.Tag().empty();
    node.kind = plain ? ResolvePlain(node.text) : YamlKind::kText;
  }

  // yaml-cpp drops the difference between `null` and nothing at all; for an enum it is one.
  bool IsWrittenNull(const YAML::Mark& mark) const {
    const auto at = static_cast<size_t>(mark.pos);
    return mark.pos >= 0 && at < text_.size() && text_.substr(at).starts_with("null");
  }

  void CopyMap(const YAML::Node& from, YamlNode& node, int depth) {
    node.kind = YamlKind::kMap;
    for (const auto& member : from) {
      const SourcePosition at = PositionOf(member.first.Mark());
      if (!member.first.IsScalar()) {
        problems_.push_back({at, "", "a key must be plain text"});
        continue;
      }
      YamlNode value = Copy(member.second, depth + 1);
      if (value.kind == YamlKind::kNull)
        value.at = at;  // "key:" with nothing after it has no place
      node.members.push_back({member.first.Scalar(), at, std::move(value)});
    }
  }

  std::string_view text_;
  Problems& problems_;
  size_t nodes_ = 0;
};

}  // namespace

const YamlNode* YamlNode::Find(std::string_view name) const {
  for (const YamlMember& member : members) {
    if (member.key == name) return &member.value;
  }
  return nullptr;
}

YamlDocument ParseYaml(std::string_view text) {
  YamlDocument document;
  try {
    const std::vector<YAML::Node> nodes = YAML::LoadAll(std::string(text));
    if (nodes.size() > 1) {
      document.problems.push_back(
          {PositionOf(nodes[1].Mark()), "", "a second document begins; a file holds one"});
      return document;
    }
    if (!nodes.empty()) document.root = TreeCopier(text, document.problems).Copy(nodes[0], 0);
  } catch (const YAML::Exception& error) {
    document.problems.push_back({PositionOf(error.mark), "", StrCat("not YAML: ", error.msg)});
  }
  return document;
}

std::string_view KindName(YamlKind kind) {
  switch (kind) {
    case YamlKind::kNull: return "nothing";
    case YamlKind::kBoolean: return "a boolean";
    case YamlKind::kInteger: return "an integer";
    case YamlKind::kNumber: return "a number";
    case YamlKind::kText: return "text";
    case YamlKind::kList: return "a list";
    case YamlKind::kMap: return "a mapping";
  }
  return "";
}

}  // namespace fjord
