// For tests: a catalog in memory whose answers to commits are planned.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/catalog.h"

namespace fjord {

// What becomes of one commit, and what the committer hears.
enum class CommitAnswer {
  kDone,
  kDoneButConflict,     // in; the answer is the one to a repetition: a conflict
  kDoneButUnknown,      // in; the answer was lost
  kDoneThenForeign,     // in; the answer was lost, and somebody has committed on top
  kDoneThenRolledBack,  // in; the answer was lost, and somebody has set main back
  kForeignFirst,        // somebody else's commit came before it
  kConflict,            // not in, and nothing else either
  kUnknown,             // not in
  kLate,                // unknown; comes in at LandLateCommits
  kUnavailable,         // not in
  kDenied,              // not in, and never will be
};

// Confined to one thread.
class ScriptedCatalog : public Catalog {
 public:
  // One answer for each commit from now; those after them are done.
  void PlanCommits(std::vector<CommitAnswer> answers) {
    answers_.assign(answers.begin(), answers.end());
  }
  // The next loads fail.
  void FailLoads(int times, absl::Status status) {
    failing_loads_ = times;
    load_failure_ = std::move(status);
  }
  // The next creations fail.
  void FailCreations(int times, absl::Status status) {
    failing_creations_ = times;
    creation_failure_ = std::move(status);
  }
  // The requests that were on their way all the time arrive.
  void LandLateCommits() {
    for (const TableCommit& commit : std::exchange(late_, {}))
      late_outcomes_.push_back(Apply(commit.ident, commit.request).status());
  }
  const std::vector<absl::Status>& late_outcomes() const { return late_outcomes_; }
  int commits() const { return commits_; }
  int loads() const { return loads_; }
  TableMetadata& metadata(const TableIdent& ident) { return tables_.at(ident.ToString()).metadata; }

  // Another engine's snapshot with the files of the head, or with those of `manifest_list`.
  absl::Status CommitForeign(const TableIdent& ident, std::string manifest_list = "") {
    const TableMetadata& base = metadata(ident);
    if (manifest_list.empty())
      manifest_list = base.FindSnapshot(*base.current_snapshot_id)->manifest_list;
    const Snapshot snapshot{.id = NewSnapshotId(base),
                            .parent_snapshot_id = base.current_snapshot_id,
                            .sequence_number = SequenceNumber(base.last_sequence_number.value + 1),
                            .timestamp_ms = base.last_updated_ms,
                            .manifest_list = std::move(manifest_list),
                            .summary = {{"operation", "replace"}},
                            .schema_id = base.current_schema_id};
    CommitRequest request;
    request.updates.Push(AddSnapshotUpdate(snapshot));
    request.updates.Push(SetMainUpdate(snapshot.id));
    return Apply(ident, request).status();
  }
  absl::Status SetMain(const TableIdent& ident, SnapshotId snapshot) {
    CommitRequest request;
    request.updates.Push(SetMainUpdate(snapshot));
    return Apply(ident, request).status();
  }

  absl::StatusOr<std::vector<Namespace>> ListNamespaces(const Namespace&) override {
    return absl::UnimplementedError("not scripted");
  }
  absl::Status CreateNamespace(const Namespace&) override { return absl::OkStatus(); }
  absl::StatusOr<std::vector<TableIdent>> ListTables(const Namespace&) override {
    return absl::UnimplementedError("not scripted");
  }
  absl::StatusOr<LoadedTable> LoadTable(const TableIdent& ident) override {
    ++loads_;
    if (failing_loads_ > 0) {
      --failing_loads_;
      return load_failure_;
    }
    const auto it = tables_.find(ident.ToString());
    if (it == tables_.end()) return absl::NotFoundError(StrCat("no table ", ident.ToString()));
    return it->second;
  }
  absl::StatusOr<LoadedTable> CreateTable(const TableIdent& ident,
                                          const TableCreation& creation) override {
    if (failing_creations_ > 0) {
      --failing_creations_;
      return creation_failure_;
    }
    LoadedTable table;
    ASSIGN_OR_RETURN(table.metadata, MakeTable({.schema = creation.schema,
                                                .location = StrCat("memory://", ident.ToString()),
                                                .properties = creation.properties},
                                               0));
    return tables_.emplace(ident.ToString(), table).first->second;
  }
  absl::StatusOr<LoadedTable> CommitTable(const TableIdent& ident,
                                          const CommitRequest& request) override {
    ++commits_;
    CommitAnswer answer = CommitAnswer::kDone;
    if (!answers_.empty()) {
      answer = answers_.front();
      answers_.pop_front();
    }
    return Answer(answer, ident, request);
  }
  absl::Status DropTable(const TableIdent& ident) override {
    tables_.erase(ident.ToString());
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<LoadedTable> Answer(CommitAnswer answer, const TableIdent& ident,
                                     const CommitRequest& request) {
    const absl::Status lost = absl::UnknownError("the answer was lost");
    const std::optional<SnapshotId> head = metadata(ident).current_snapshot_id;
    switch (answer) {
      case CommitAnswer::kDone: return Apply(ident, request);
      case CommitAnswer::kDoneButConflict:
        RETURN_IF_ERROR(Apply(ident, request).status());
        return absl::AbortedError("requirement failed: main");
      case CommitAnswer::kDoneButUnknown:
        RETURN_IF_ERROR(Apply(ident, request).status());
        return lost;
      case CommitAnswer::kDoneThenForeign:
        RETURN_IF_ERROR(Apply(ident, request).status());
        RETURN_IF_ERROR(CommitForeign(ident));
        return lost;
      case CommitAnswer::kDoneThenRolledBack:
        RETURN_IF_ERROR(Apply(ident, request).status());
        RETURN_IF_ERROR(SetMain(ident, *head));
        return lost;
      case CommitAnswer::kForeignFirst:
        RETURN_IF_ERROR(CommitForeign(ident));
        return Apply(ident, request);
      case CommitAnswer::kConflict: return absl::AbortedError("requirement failed: main");
      case CommitAnswer::kUnknown: return lost;
      case CommitAnswer::kLate: late_.push_back({ident, request}); return lost;
      case CommitAnswer::kUnavailable: return absl::UnavailableError("the catalog is away");
      case CommitAnswer::kDenied: return absl::PermissionDeniedError("not allowed to commit");
    }
    return lost;
  }

  absl::StatusOr<LoadedTable> Apply(const TableIdent& ident, const CommitRequest& request) {
    LoadedTable& table = tables_.at(ident.ToString());
    RETURN_IF_ERROR(CheckRequirements(request.requirements, &table.metadata));
    ASSIGN_OR_RETURN(table.metadata, ApplyUpdates(table.metadata, request.updates,
                                                  table.metadata.last_updated_ms + 1));
    return table;
  }

  std::map<std::string, LoadedTable> tables_;  // by TableIdent::ToString
  std::deque<CommitAnswer> answers_;
  std::vector<TableCommit> late_;
  std::vector<absl::Status> late_outcomes_;
  int failing_loads_ = 0;
  absl::Status load_failure_;
  int failing_creations_ = 0;
  absl::Status creation_failure_;
  int commits_ = 0;
  int loads_ = 0;
};

}  // namespace fjord
