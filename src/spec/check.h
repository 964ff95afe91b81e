// Checks a YAML tree against the grammar.
#pragma once

#include <string>
#include <string_view>

#include "spec/problem.h"
#include "spec/shape.h"
#include "spec/yaml.h"

namespace fjord {

// Every place where the tree does not fit the shape. Conditions between distant keys are
// not the grammar's (build.cc).
Problems CheckAgainst(const Shape& shape, const YamlNode& node);

// The whole of `text` has the form. ECMAScript; texts longer than 4 KiB never have it.
bool HasForm(std::string_view text, const std::string& pattern);

}  // namespace fjord
