#include "replicate/copier.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/time/clock.h"
#include "base/kill_point.h"
#include "base/log.h"
#include "base/status.h"
#include "base/strings.h"
#include "lake/copy_writer.h"
#include "postgres/anchor.h"
#include "postgres/copy.h"

namespace fjord {
namespace {

constexpr int kTriesMax = 4;

struct Slice {
  size_t target;
  PageRange pages;
  int64_t page_count;
  int tries = 0;
};

// What is known of one table while its slices are read.
struct TableCopy {
  CopyTarget target;
  size_t slices_left = 0;
  std::vector<CopiedFile> files;
  bool answered = false;
};

class Copy {
 public:
  Copy(const CopyOptions& options, std::vector<CopyTarget> targets, const std::atomic<bool>& stop,
       const CopyDone& done)
      : options_(options), stop_(stop), done_(done) {
    for (CopyTarget& target : targets) AddTable(std::move(target));
  }

  void Run() {
    std::vector<std::thread> threads;
    const size_t count =
        std::min<size_t>(static_cast<size_t>(std::max(1, options_.workers)), slices_.size());
    for (size_t i = 0; i < count; ++i) threads.emplace_back([this] { Work(); });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  void AddTable(CopyTarget target) {
    const size_t index = tables_.size();
    const absl::Status begun = target.lake->BeginBase();
    const std::vector<PageRange> ranges =
        SliceTable(target.info.pages, options_.slice_bytes, std::max(1, options_.workers));
    target.progress->pages_total = target.info.pages;
    for (const PageRange& range : ranges) {
      const int64_t end =
          range.end ? int64_t{*range.end} : std::max<int64_t>(target.info.pages, range.first);
      slices_.push_back(
          {.target = index, .pages = range, .page_count = end - int64_t{range.first}});
    }
    tables_.push_back(std::make_unique<TableCopy>());
    tables_.back()->target = std::move(target);
    tables_.back()->slices_left = ranges.size();
    if (begun.ok()) return;
    tables_.back()->answered = true;
    done_(index, begun);
  }

  void Work() {
    std::unique_ptr<SnapshotSession> session;
    while (std::optional<Slice> slice = Next()) {
      absl::Status status;
      if (session == nullptr) {
        absl::StatusOr<std::unique_ptr<SnapshotSession>> opened =
            SnapshotSession::Open(options_.connection);
        status = opened.status();
        if (opened.ok()) session = *std::move(opened);
      }
      absl::StatusOr<CopiedFile> file;
      if (status.ok()) file = ReadSlice(*session, *slice);
      if (status.ok()) status = file.status();
      if (status.ok()) {
        Finished(*slice, *std::move(file));
      } else {
        session.reset();
        Failed(*slice, status);
      }
    }
  }

  std::optional<Slice> Next() {
    std::lock_guard lock(mutex_);
    while (!slices_.empty() && !stop_) {
      Slice slice = slices_.front();
      slices_.pop_front();
      if (!tables_[slice.target]->answered) return slice;
    }
    return std::nullopt;
  }

  absl::StatusOr<CopiedFile> ReadSlice(SnapshotSession& session, const Slice& slice) {
    const CopyTarget& target = tables_[slice.target]->target;
    RETURN_IF_ERROR(session.Begin(options_.snapshot_name, target.info));
    CopyQuery query{.schema = target.info.schema,
                    .name = target.info.name,
                    .row_filter = target.row_filter,
                    .pages = slice.pages};
    for (const PgColumn& column : target.shape->columns) query.columns.push_back(column.name);
    ASSIGN_OR_RETURN(const std::unique_ptr<CopyReader> reader,
                     CopyReader::Start(session.connection(), CopySql(query), query.columns.size()));
    const std::unique_ptr<CopyWriter> writer = target.lake->NewCopyWriter();
    CopyBatch rows;
    ColumnBatch batch = MakeBatch(target.shape->columns);
    while (true) {
      if (stop_) return absl::CancelledError("the copy was stopped");
      ASSIGN_OR_RETURN(const bool more, reader->Next({}, rows));
      if (!more) break;
      batch.Clear();
      const DecodeResult decoded =
          DecodeRows(target.shape->columns, rows.rows, target.unrepresentable, batch);
      if (decoded.problem) return decoded.problem->ToStatus(target.shape->name);
      target.progress->nulled.fetch_add(decoded.nulled);
      RETURN_IF_ERROR(writer->Append(batch));
      target.progress->rows.fetch_add(static_cast<int64_t>(rows.rows.rows));
      target.progress->bytes.fetch_add(static_cast<int64_t>(rows.text_bytes));
      KillPoint("copy-half");
    }
    RETURN_IF_ERROR(session.End());
    return writer->Finish();
  }

  void Finished(const Slice& slice, CopiedFile file) {
    TableCopy& table = *tables_[slice.target];
    table.target.progress->pages_done.fetch_add(slice.page_count);
    {
      std::lock_guard lock(mutex_);
      if (table.answered) return;
      if (file.rows() > 0) table.files.push_back(std::move(file));
      if (--table.slices_left > 0) return;
      table.answered = true;
    }
    done_(slice.target,
          table.target.lake->PublishBase(std::move(table.files), options_.watermark).status());
  }

  // Lost connections are tried again: the anchor keeps the snapshot, so a slice reads the same
  // rows. Everything else is the table's answer.
  void Failed(Slice slice, const absl::Status& status) {
    TableCopy& table = *tables_[slice.target];
    bool again = false;
    {
      std::lock_guard lock(mutex_);
      if (table.answered) return;
      if (absl::IsUnavailable(status) && ++slice.tries < kTriesMax && !stop_) {
        slices_.push_back(slice);
        again = true;
      } else {
        table.answered = true;
      }
    }
    if (again) {
      LogWarning("a slice is read again",
                 {{"table", table.target.shape->name}, {"reason", Message(status)}});
      absl::SleepFor(absl::Milliseconds(500));
    } else if (!absl::IsCancelled(status)) {
      done_(slice.target, status);
    }
  }

  const CopyOptions& options_;
  const std::atomic<bool>& stop_;
  const CopyDone& done_;
  std::mutex mutex_;
  std::deque<Slice> slices_;
  std::vector<std::unique_ptr<TableCopy>> tables_;
};

}  // namespace

void RunCopy(const CopyOptions& options, std::vector<CopyTarget> targets,
             const std::atomic<bool>& stop, const CopyDone& done) {
  Copy(options, std::move(targets), stop, done).Run();
}

}  // namespace fjord
