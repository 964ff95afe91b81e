#include "spec/shape.h"

namespace fjord {

const Key* Shape::FindKey(std::string_view name) const {
  for (const Key& key : keys) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

}  // namespace fjord
