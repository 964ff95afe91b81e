// YAML as a plain tree with positions. Aliases are expanded, tags are dropped; JSON is YAML.
//
// Scalars keep their text; what a plain one means (number, boolean, null) follows YAML
// 1.2's core schema, so `yes` and `on` are text. Duplicate keys stay in the tree, and
// the checker refuses them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/config.h"
#include "spec/problem.h"

namespace fjord {

enum class YamlKind { kNull, kBoolean, kInteger, kNumber, kText, kList, kMap };

struct YamlMember;

struct YamlNode {
  YamlKind kind = YamlKind::kNull;
  SourcePosition at;
  std::string text;                 // scalars, as written without quotes
  std::vector<YamlNode> items;      // lists
  std::vector<YamlMember> members;  // maps, in the order of the file

  // The first member of that name, or null when there is none or this is no map.
  const YamlNode* Find(std::string_view name) const;
};

struct YamlMember {
  std::string key;
  SourcePosition at;
  YamlNode value;
};

// The one document of `text`. On failure there is one problem in `problems` and the tree is what
// could be kept.
struct YamlDocument {
  YamlNode root;
  Problems problems;
};
YamlDocument ParseYaml(std::string_view text);

// "a list", "a boolean": for messages.
std::string_view KindName(YamlKind kind);

}  // namespace fjord
