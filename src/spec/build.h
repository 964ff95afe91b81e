// From a checked YAML tree to a Config.
#pragma once

#include <string>

#include "spec/config.h"
#include "spec/problem.h"
#include "spec/yaml.h"

namespace fjord {

struct BuildResult {
  Config config;
  Problems problems;  // conditions between keys that the grammar cannot say
};

// Takes what it can from a tree that does not fit the grammar too, so that all problems show at
// once; the config is only of use when CheckAgainst found none either.
BuildResult BuildConfig(const YamlNode& root, const std::string& file);

}  // namespace fjord
