// Sees at the source's catalogue what the stream does not say of a table
// (postgres/table_definition.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "postgres/connection.h"
#include "postgres/table_definition.h"
#include "replicate/replicated_table.h"

namespace fjord {

// Why a table's rows can no longer be those of its source; empty when they can. `found`: null when
// it is gone. `members`: of all publications. Pure.
std::string WatchVerdict(const ReplicatedTable& entry, const FoundTable* found,
                         const std::vector<PublicationMember>& members);

// Confined to the runner's thread.
class TableWatch {
 public:
  TableWatch(ConnectionOptions connection, std::vector<std::string> publications)
      : connection_(std::move(connection)), publications_(std::move(publications)) {}

  // Looks at the live tables that the stream has announced anew, and at all of them from time to
  // time. Sets those aside that have to be copied again. A source that does not answer is looked at
  // again later.
  void Look(const std::vector<std::unique_ptr<ReplicatedTable>>& entries, absl::Time now);

  // False: what was received may be of a table that changed, and is not published before Look() has
  // seen it.
  static bool Seen(const ReplicatedTable& entry) {
    return entry.seen == entry.routed.announcements;
  }

 private:
  absl::Status LookAt(const std::vector<ReplicatedTable*>& entries);

  const ConnectionOptions connection_;
  const std::vector<std::string> publications_;
  std::unique_ptr<Connection> session_;
  absl::Time next_all_ = absl::InfinitePast();
  absl::Time next_try_ = absl::InfinitePast();
};

}  // namespace fjord
