#include "spec/config.h"

#include <fstream>

#include "base/status.h"
#include "base/strings.h"
#include "spec/build.h"
#include "spec/check.h"
#include "spec/grammar.h"
#include "spec/yaml.h"

namespace fjord {
namespace {

constexpr size_t kFileBytesMax = size_t{4} << 20;

enum class WithoutTables { kIsWrong, kMeansAll };

absl::StatusOr<std::string> ReadText(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    return absl::NotFoundError(StrCat(
        file, ": there is no such file, or it is not readable; name one with --config FILE"));
  }
  std::string text(kFileBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > kFileBytesMax) {
    return absl::InvalidArgumentError(StrCat(file, ": longer than 4 MiB"));
  }
  return text;
}

// Puts `tables: ["*.*"]` into each replication that has none.
void AddAllTables(YamlNode& root) {
  for (YamlMember& section : root.members) {
    if (section.key != "replications") continue;
    for (YamlMember& replication : section.value.members) {
      if (replication.value.Find("tables") != nullptr) continue;
      const SourcePosition at = replication.value.at;
      YamlNode all{.kind = YamlKind::kText, .at = at, .text = "*.*"};
      YamlNode list{.kind = YamlKind::kList, .at = at, .items = {std::move(all)}};
      replication.value.members.push_back({"tables", at, std::move(list)});
    }
  }
}

absl::StatusOr<Config> Parse(std::string_view text, const std::string& file,
                             WithoutTables without_tables) {
  YamlDocument document = ParseYaml(text);
  if (!document.problems.empty()) return ToStatus(std::move(document.problems), file);
  if (document.root.kind == YamlKind::kNull) {
    return ToStatus({{{}, "", "the file is empty: it needs the key \"replications\""}}, file);
  }
  if (without_tables == WithoutTables::kMeansAll) AddAllTables(document.root);
  Problems problems = CheckAgainst(ConfigGrammar(), document.root);
  BuildResult result = BuildConfig(document.root, file);
  problems.insert(problems.end(), result.problems.begin(), result.problems.end());
  RETURN_IF_ERROR(ToStatus(std::move(problems), file));
  return std::move(result.config);
}

}  // namespace

absl::StatusOr<Config> ParseConfig(std::string_view text, const std::string& file) {
  return Parse(text, file, WithoutTables::kIsWrong);
}

absl::StatusOr<Config> LoadConfig(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadText(file));
  return Parse(text, file, WithoutTables::kIsWrong);
}

absl::StatusOr<Config> LoadConfigForDiscovery(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadText(file));
  return Parse(text, file, WithoutTables::kMeansAll);
}

}  // namespace fjord
