// What is wrong in a configuration file: collected while it is read, shown all at once.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "spec/config.h"

namespace fjord {

struct Problem {
  SourcePosition at;
  std::string path;  // "replications.shop.tables[2].target"; empty: the whole file
  std::string what;  // without a full stop at its end
};
using Problems = std::vector<Problem>;

// "file:line:column"
std::string FormatPosition(const std::string& file, SourcePosition at);

// OK without problems; else kInvalidArgument with one line each, in the order of the file.
absl::Status ToStatus(Problems problems, const std::string& file);

}  // namespace fjord
