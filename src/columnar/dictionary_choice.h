// Which columns of a file are worth a dictionary.
//
// Parquet's writer looks up every value and gives up only when the dictionary is full, which a
// small file never reaches: a key would be stored once in the dictionary and once more as numbers
// into it. So a sample decides before the file begins.
#pragma once

#include "base/column.h"

namespace fjord {

// True when the first values of the column repeat enough. True also when there are
// too few values to tell.
bool DictionaryPays(const Column& column);

}  // namespace fjord
