// Errors of the server as statuses: which code, and what a person should type. Pure.
//
// Codes of PostgreSQL: manual, appendix "PostgreSQL Error Codes".
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace fjord {

struct PgError {
  std::string sqlstate;
  std::string message;
  std::string detail;
  std::string hint;
};

absl::StatusCode CodeOfSqlState(std::string_view sqlstate);
// "message: detail (hint) [42501]; type: GRANT …"; SqlState() of it gives the code.
absl::Status ToStatus(const PgError& error, std::string_view user);
// The statement that gives the right whose lack the message reports, or "".
std::string RemedyForDenied(std::string_view message, std::string_view user);
// From the text of a failed connection attempt, written with libpq's verbose setting.
PgError ParseConnectError(std::string_view text);
// The status of a refused connection. A pooler that does not know our startup parameters is
// kFailedPrecondition, since waiting does not help.
absl::Status RefusalStatus(const PgError& error);

}  // namespace fjord
