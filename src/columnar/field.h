// A column of a data file.
#pragma once

#include <string>

#include "base/column.h"
#include "base/ids.h"

namespace fjord {

struct FileField {
  FieldId id;
  std::string name;
  ColumnType type;
  bool required = false;
};

}  // namespace fjord
