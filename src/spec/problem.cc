#include "spec/problem.h"

#include <algorithm>
#include <tuple>

#include "base/strings.h"

namespace fjord {

std::string FormatPosition(const std::string& file, SourcePosition at) {
  if (at.line == 0) return file;
  return StrCat(file, ":", at.line, ":", at.column);
}

absl::Status ToStatus(Problems problems, const std::string& file) {
  if (problems.empty()) return absl::OkStatus();
  std::stable_sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.at.line, a.at.column) < std::tie(b.at.line, b.at.column);
  });
  std::vector<std::string> lines;
  for (const Problem& problem : problems) {
    const std::string path = problem.path.empty() ? "" : StrCat(problem.path, ": ");
    lines.push_back(StrCat(FormatPosition(file, problem.at), ": ", path, problem.what));
  }
  return absl::InvalidArgumentError(Join(lines, "\n"));
}

}  // namespace fjord
