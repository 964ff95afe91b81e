// The escapes of JSON strings.
#pragma once

namespace fjord::doc {

// Replaces the escapes in [begin, end) and returns the new end; null when one of them is none, or
// is half of a surrogate pair. What is behind an escape only ever moves forward, so it is done in
// place.
char* UnescapeInPlace(char* begin, char* end);

}  // namespace fjord::doc
