#include "replicate/table_watch.h"

#include <algorithm>

#include "base/log.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr absl::Duration kInterval = absl::Seconds(10);
constexpr absl::Duration kPause = absl::Seconds(1);

// The order of a key does not matter to what old rows carry.
bool IdentifiesByKey(const ReplicatedTable& entry, const FoundTable& found) {
  if (entry.shape.key.empty() || found.identity_is_full) return true;
  std::vector<int16_t> sorted;
  for (const int column : entry.shape.key)
    sorted.push_back(entry.shape.columns[static_cast<size_t>(column)].attnum);
  std::sort(sorted.begin(), sorted.end());
  return found.identity == FormatAttnums(sorted);
}

std::string PublicationVerdict(const ReplicatedTable& entry,
                               const std::vector<PublicationMember>& members) {
  const auto publication = std::find_if(members.begin(), members.end(), [&](const auto& member) {
    return member.publication.oid == entry.publication.oid;
  });
  if (publication == members.end()) return "its publication was dropped";
  if (!publication->inserts || (!publication->changes && !entry.shape.key.empty())) {
    return "its publication was altered and does not publish all changes any more";
  }
  const bool by_schema = entry.membership.oid == Oid();
  const bool unchanged =
      by_schema || std::any_of(members.begin(), members.end(), [&](const auto& member) {
        return member.publication.oid == entry.publication.oid &&
               member.relation == entry.routed.oid && member.membership == entry.membership;
      });
  return unchanged ? "" : "it was taken out of its publication, or its place there was altered";
}

}  // namespace

std::string WatchVerdict(const ReplicatedTable& entry, const FoundTable* found,
                         const std::vector<PublicationMember>& members) {
  if (found == nullptr) return "it was dropped at the source";
  const std::string name = DisplayName(found->schema, found->name);
  if (name != entry.source.name) return StrCat("it was renamed to ", name);
  TableDefinition now = found->definition;
  now.key = entry.definition.key;
  std::string difference = DefinitionDifference(entry.definition, now);
  if (!difference.empty()) return difference;
  if (!IdentifiesByKey(entry, *found)) return "its replica identity or primary key is another one";
  return PublicationVerdict(entry, members);
}

void TableWatch::Look(const std::vector<std::unique_ptr<ReplicatedTable>>& entries,
                      absl::Time now) {
  if (now < next_try_) return;
  const bool all = now >= next_all_;
  std::vector<ReplicatedTable*> due;
  for (const auto& entry : entries) {
    if (entry->phase == TablePhase::kLive && !entry->busy && (all || !Seen(*entry)))
      due.push_back(entry.get());
  }
  if (due.empty()) return;
  const absl::Status looked = LookAt(due);
  if (!looked.ok()) {
    LogWarning("the catalogue of the source could not be looked at", {{"reason", Message(looked)}});
    session_.reset();
    next_try_ = now + kPause;
    return;
  }
  if (all) next_all_ = now + kInterval;
}

absl::Status TableWatch::LookAt(const std::vector<ReplicatedTable*>& entries) {
  if (session_ == nullptr) {
    ASSIGN_OR_RETURN(session_, Connection::Open(connection_));
  }
  std::vector<WatchedTable> watched;
  std::vector<uint64_t> announcements;
  for (const ReplicatedTable* entry : entries) {
    watched.push_back({entry->routed.oid, entry->published_columns});
    announcements.push_back(entry->routed.announcements);
  }
  ASSIGN_OR_RETURN(const std::vector<FoundTable> found, FindTables(*session_, watched));
  std::vector<PublicationMember> members;
  for (const std::string& publication : publications_) {
    ASSIGN_OR_RETURN(const std::vector<PublicationMember> more,
                     FindMembers(*session_, publication));
    members.insert(members.end(), more.begin(), more.end());
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    ReplicatedTable& entry = *entries[i];
    const auto it =
        std::lower_bound(found.begin(), found.end(), entry.routed.oid,
                         [](const FoundTable& table, Oid oid) { return table.oid < oid; });
    const bool there = it != found.end() && it->oid == entry.routed.oid;
    const std::string verdict = WatchVerdict(entry, there ? &*it : nullptr, members);
    if (verdict.empty()) {
      const std::string key = entry.definition.key;
      entry.definition = it->definition;
      entry.definition.key = key;
      entry.seen = announcements[i];
      continue;
    }
    // Nothing that was received helps: its WAL need not be kept, and the next start copies it.
    entry.covered_since = 0;
    entry.known = false;
    entry.Block(StrCat(entry.source.name, ": ", verdict,
                       ". Start again to have it copied anew; where columns were added, dropped or "
                       "given another type, drop the lake table before."));
    entry.routed.feed.Clear();
    LogError("a table is set aside", {{"table", entry.source.name}, {"reason", entry.reason()}});
  }
  return absl::OkStatus();
}

}  // namespace fjord
