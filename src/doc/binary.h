// Values as bytes for files of this process (spilled runs). Not a durable layout.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "doc/arena.h"
#include "doc/value.h"

namespace fjord::doc {

void AppendBinary(const Value& value, std::string* out);

// The value, which borrows the text of its strings and names; nothing when the bytes are none.
std::optional<Value> ReadBinary(std::string_view bytes, Arena& arena);

}  // namespace fjord::doc
