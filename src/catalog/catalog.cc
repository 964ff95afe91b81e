#include "catalog/catalog.h"

#include "base/strings.h"

namespace fjord {

std::string TableIdent::ToString() const { return StrCat(Join(ns, "."), ".", name); }

}  // namespace fjord
