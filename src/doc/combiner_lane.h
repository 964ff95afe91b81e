// Internal to the combiner: what it has for each binding.
#pragma once

#include <utility>

#include "doc/combiner.h"

namespace fjord::doc {

struct Combiner::Lane {
  explicit Lane(CombinerBinding made) : binding(std::move(made)), reducer(*binding.schema) {}

  CombinerBinding binding;
  Reducer reducer;
  KeyMap chains;  // by packed key
};

}  // namespace fjord::doc
