// The grammar of the configuration file.
#pragma once

#include <string>

#include "spec/shape.h"

namespace fjord {

// The whole file.
const Shape& ConfigGrammar();

// The JSON Schema (2020-12) of the grammar, indented, for editors: `fjord schema`.
std::string ConfigJsonSchema();

}  // namespace fjord
