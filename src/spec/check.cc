#include "spec/check.h"

#include <map>
#include <optional>
#include <regex>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "base/strings.h"
#include "spec/units.h"

namespace fjord {
namespace {

// "partition_by", "PartitionBy" and "partition-by" are near "partitionBy".
std::string Fold(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c != '_' && c != '-') out += absl::ascii_tolower(static_cast<unsigned char>(c));
  }
  return out;
}

std::vector<std::string> KeyNames(const Shape& object) {
  std::vector<std::string> names;
  for (const Key& key : object.keys) {
    if (key.use != KeyUse::kNotYet) names.push_back(key.name);
  }
  return names;
}

// Where else in the grammar a key of that name is: "source.postgres". Nothing when there is none.
std::optional<std::string> FindElsewhere(const Shape& shape, std::string_view name,
                                         const std::string& path) {
  if (shape.item != nullptr) {
    const std::string step = shape.kind == ShapeKind::kMap ? ".<name>" : "[]";
    return FindElsewhere(*shape.item, name, path + step);
  }
  if (shape.object != nullptr) return FindElsewhere(*shape.object, name, path);
  for (const Key& key : shape.keys) {
    if (key.use == KeyUse::kNotYet) continue;
    std::string deeper = path.empty() ? key.name : StrCat(path, ".", key.name);
    if (key.name == name) return deeper;
    if (auto found = FindElsewhere(*key.shape, name, deeper); found.has_value()) return found;
  }
  return std::nullopt;
}

class Checker {
 public:
  explicit Checker(const Shape& root) : root_(root) {}

  void Check(const Shape& shape, const YamlNode& node, const std::string& path) {
    switch (shape.kind) {
      case ShapeKind::kText: return CheckText(shape, node, path);
      case ShapeKind::kEnum: return CheckEnum(shape, node, path);
      case ShapeKind::kInteger: return CheckInteger(shape, node, path);
      case ShapeKind::kBoolean:
        if (node.kind != YamlKind::kBoolean) WrongKind(shape, node, path);
        return;
      case ShapeKind::kDuration: return CheckDuration(shape, node, path);
      case ShapeKind::kSize: return CheckSize(shape, node, path);
      case ShapeKind::kObject: return CheckObject(shape, node, path);
      case ShapeKind::kMap: return CheckMap(shape, node, path);
      case ShapeKind::kList: return CheckList(shape, node, path);
      case ShapeKind::kTextOrObject: return CheckTextOrObject(shape, node, path);
    }
  }

  Problems TakeProblems() { return std::move(problems_); }

 private:
  void Add(SourcePosition at, const std::string& path, std::string what) {
    problems_.push_back({at, path, std::move(what)});
  }

  void WrongKind(const Shape& shape, const YamlNode& node, const std::string& path) {
    std::string hint;
    const bool wants_text = shape.kind == ShapeKind::kText || shape.kind == ShapeKind::kEnum;
    if (wants_text && !node.text.empty())
      hint = StrCat("; write it in quotes: \"", node.text, "\"");
    if (shape.kind == ShapeKind::kBoolean && node.kind == YamlKind::kText)
      hint = "; without quotes";
    Add(node.at, path, StrCat("expected ", Expected(shape), ", found ", KindName(node.kind), hint));
  }

  static std::string Expected(const Shape& shape) {
    if (!shape.example.empty()) return shape.example;
    if (shape.kind == ShapeKind::kEnum) return Join(shape.values, " or ");
    if (shape.kind == ShapeKind::kObject) {
      return StrCat("a mapping with the keys ", Join(KeyNames(shape), ", "));
    }
    return "another kind of value";
  }

  void CheckText(const Shape& shape, const YamlNode& node, const std::string& path) {
    if (node.kind != YamlKind::kText) return WrongKind(shape, node, path);
    const bool fits =
        shape.pattern.empty() ? !node.text.empty() : HasForm(node.text, shape.pattern);
    if (!fits)
      Add(node.at, path,
          StrCat("expected ", shape.example, ", found \"", RedactPasswords(node.text), "\""));
  }

  void CheckEnum(const Shape& shape, const YamlNode& node, const std::string& path) {
    // A plain `null` is a value of some enums, and YAML's own null.
    const bool scalar =
        node.kind != YamlKind::kList && node.kind != YamlKind::kMap && !node.text.empty();
    if (!scalar) return WrongKind(shape, node, path);
    CheckMember(shape, node, path);
  }

  // The text is one of the shape's values.
  void CheckMember(const Shape& shape, const YamlNode& node, const std::string& path) {
    for (const std::string& value : shape.values) {
      if (value == node.text) return;
    }
    for (const std::string& value : shape.later_values) {
      if (value == node.text) return NotYet(node.at, path, StrCat("the value ", value));
    }
    std::string hint = StrCat("; it is ", Join(shape.values, ", "));
    if (auto near = Nearest(node.text, shape.values); near.has_value())
      hint = StrCat("; did you mean ", *near, "?");
    Add(node.at, path, StrCat("unknown value \"", node.text, "\"", hint));
  }

  void CheckInteger(const Shape& shape, const YamlNode& node, const std::string& path) {
    if (node.kind != YamlKind::kInteger) return WrongKind(shape, node, path);
    if (!shape.values.empty()) return CheckMember(shape, node, path);
    const std::optional<int64_t> value = ParseInt<int64_t>(node.text);
    if (!value.has_value()) return Add(node.at, path, "expected an integer in decimal digits");
    if (*value < shape.least || *value > shape.most) {
      Add(node.at, path, StrCat(*value, " is out of range: ", shape.least, " to ", shape.most));
    }
  }

  void CheckDuration(const Shape& shape, const YamlNode& node, const std::string& path) {
    const std::optional<absl::Duration> value = ParseDuration(node.text);
    if (!value.has_value()) return WrongForm(shape, node, path);
    const absl::Duration least = absl::Milliseconds(shape.least);
    const absl::Duration most = absl::Milliseconds(shape.most);
    if (*value < least || *value > most) {
      Add(node.at, path,
          StrCat(node.text, " is out of range: ", absl::FormatDuration(least), " to ",
                 absl::FormatDuration(most)));
    }
  }

  void CheckSize(const Shape& shape, const YamlNode& node, const std::string& path) {
    const std::optional<int64_t> value = ParseSize(node.text);
    if (!value.has_value()) return WrongForm(shape, node, path);
    if (*value < shape.least || *value > shape.most) {
      Add(node.at, path,
          StrCat(node.text, " is out of range: ", FormatSize(shape.least), " to ",
                 FormatSize(shape.most)));
    }
  }

  // A duration or size in another form, or no scalar at all.
  void WrongForm(const Shape& shape, const YamlNode& node, const std::string& path) {
    if (node.text.empty()) return WrongKind(shape, node, path);
    Add(node.at, path, StrCat("expected ", shape.example, ", found \"", node.text, "\""));
  }

  void CheckObject(const Shape& shape, const YamlNode& node, const std::string& path) {
    if (node.kind != YamlKind::kMap) return WrongKind(shape, node, path);
    absl::flat_hash_set<std::string> seen;
    for (const YamlMember& member : node.members) {
      if (!seen.insert(member.key).second) {
        Add(member.at, path, StrCat("the key \"", member.key, "\" is there twice"));
        continue;
      }
      CheckMemberOfObject(shape, member, path);
    }
    CheckPresence(shape, node, path);
  }

  void CheckMemberOfObject(const Shape& shape, const YamlMember& member, const std::string& path) {
    const Key* key = shape.FindKey(member.key);
    if (key == nullptr) return UnknownKey(shape, member, path);
    if (key->use == KeyUse::kNotYet) {
      return NotYet(member.at, path, StrCat("the key \"", member.key, "\""));
    }
    Check(*key->shape, member.value, Step(path, member.key));
  }

  void CheckPresence(const Shape& shape, const YamlNode& node, const std::string& path) {
    for (const Key& key : shape.keys) {
      if (key.use == KeyUse::kRequired && node.Find(key.name) == nullptr) {
        Add(node.at, path, StrCat("the key \"", key.name, "\" is missing"));
      }
    }
    if (!shape.exactly_one_of.empty()) {
      size_t found = 0;
      for (const std::string& name : shape.exactly_one_of)
        found += node.Find(name) != nullptr ? 1 : 0;
      if (found != 1)
        Add(node.at, path,
            StrCat("exactly one of ", Join(shape.exactly_one_of, ", "), " has to be there"));
    }
    for (const auto& [one, other] : shape.exclusions) {
      if (node.Find(one) == nullptr || node.Find(other) == nullptr) continue;
      Add(node.Find(other)->at, path,
          StrCat("\"", one, "\" and \"", other, "\" exclude each other"));
    }
    for (const auto& [one, other] : shape.needs) {
      if (node.Find(one) == nullptr || node.Find(other) != nullptr) continue;
      Add(node.Find(one)->at, path, StrCat("\"", one, "\" does nothing without \"", other, "\""));
    }
  }

  void CheckMap(const Shape& shape, const YamlNode& node, const std::string& path) {
    if (node.kind != YamlKind::kMap) return WrongKind(shape, node, path);
    if (static_cast<int64_t>(node.members.size()) < shape.least) Add(node.at, path, "it is empty");
    absl::flat_hash_set<std::string> seen;
    for (const YamlMember& member : node.members) {
      if (!seen.insert(member.key).second) {
        Add(member.at, path, StrCat("the name \"", member.key, "\" is there twice"));
        continue;
      }
      if (!HasForm(member.key, shape.name_pattern)) {
        Add(member.at, path,
            StrCat("the name \"", member.key, "\" is not possible: ", shape.name_rule));
      }
      Check(*shape.item, member.value, Step(path, member.key));
    }
  }

  void CheckList(const Shape& shape, const YamlNode& node, const std::string& path) {
    if (node.kind != YamlKind::kList) return WrongKind(shape, node, path);
    if (static_cast<int64_t>(node.items.size()) < shape.least)
      Add(node.at, path, "the list is empty");
    for (size_t i = 0; i < node.items.size(); ++i) {
      Check(*shape.item, node.items[i], StrCat(path, "[", i, "]"));
    }
  }

  void CheckTextOrObject(const Shape& shape, const YamlNode& node, const std::string& path) {
    if (node.kind == YamlKind::kMap) return Check(*shape.object, node, path);
    if (node.kind == YamlKind::kText) return Check(*shape.text, node, path);
    WrongKind(shape, node, path);
  }

  void NotYet(SourcePosition at, const std::string& path, std::string_view what) {
    Add(at, path, StrCat("not yet: ", what, " is known, but this version of fjord cannot do it"));
  }

  void UnknownKey(const Shape& shape, const YamlMember& member, const std::string& path) {
    std::string what = StrCat("unknown key \"", member.key, "\"");
    for (const Key& key : shape.keys) {
      if (Fold(key.name) != Fold(member.key)) continue;
      return Add(member.at, path, StrCat(what, "; did you mean \"", key.name, "\"?"));
    }
    const std::vector<std::string> names = KeyNames(shape);
    if (auto near = Nearest(member.key, names); near.has_value()) {
      StrAppend(&what, "; did you mean \"", *near, "\"?");
    } else if (auto place = FindElsewhere(root_, member.key, ""); place.has_value()) {
      StrAppend(&what, "; its place is ", *place);
    } else {
      StrAppend(&what, "; the keys here are ", Join(names, ", "));
    }
    Add(member.at, path, std::move(what));
  }

  static std::string Step(const std::string& path, const std::string& key) {
    return path.empty() ? key : StrCat(path, ".", key);
  }

  const Shape& root_;
  Problems problems_;
};

}  // namespace

bool HasForm(std::string_view text, const std::string& pattern) {
  // std::regex recurses once a character; a longer text could use up the stack.
  constexpr size_t kBytesMax = 4096;
  if (text.size() > kBytesMax) return false;
  static thread_local std::map<std::string, std::regex> compiled;
  const auto [entry, added] = compiled.try_emplace(pattern);
  if (added) entry->second.assign(pattern);
  return std::regex_match(text.begin(), text.end(), entry->second);
}

Problems CheckAgainst(const Shape& shape, const YamlNode& node) {
  Checker checker(shape);
  checker.Check(shape, node, "");
  return checker.TakeProblems();
}

}  // namespace fjord
