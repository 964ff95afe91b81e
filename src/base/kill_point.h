// Places where tests let the process die as if by SIGKILL.
//
// FJORD_TEST_KILL_AT=<step> kills at the first time that <step> is reached, <step>:<n> at the n-th.
// Unset, a kill point is one load and a branch.
#pragma once

#include <string_view>

namespace fjord {

void KillPoint(std::string_view step);

}  // namespace fjord
