// For tests: a source table, its lake table in memory, and the worker between them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/digest.h"
#include "replicate/change_test_support.h"
#include "replicate/table_worker.h"

namespace fjord {

inline const std::string& LargeText() {
  static const std::string text(TestSource::kLargeBytes, 'L');
  return text;
}

// Each block is a part of its own.
inline constexpr EpochLimits kManyParts{.part_bytes_max = 1};
inline constexpr EpochLimits kOnePart{};

inline TestRows SomeRows() {
  TestRows rows;
  for (int32_t id = 0; id < 12; ++id)
    rows[id] = {StrCat("base ", id), id % 2 == 0 ? LargeText() + StrCat(id) : StrCat(id)};
  return rows;
}

class WorkerTest : public testing::Test {
 protected:
  explicit WorkerTest(TableShape shape = TestShape()) : shape_(std::move(shape)) {
    spec_.key = shape_.key;
    if (spec_.key.empty()) spec_.columns[0].required = shape_.columns[0].required;
  }
  ~WorkerTest() override { std::filesystem::remove_all(spool_folder_); }

  void Start(const TestRows& base) {
    source_.Fill(base);
    Use(lake_.OpenWithBase(base, spec_));
  }
  void Use(std::unique_ptr<LakeTable> table) {
    shape_.seed = table->key_seed();
    routed_.watermark_lsn = table->watermark()->lsn.value;
    worker_ = std::make_unique<TableWorker>(&routed_, &shape_, TimelineId(1), limits_, policy_,
                                            &counters_);
    worker_->SetLake(std::move(table));
  }
  // As the runner does after an error that passes.
  void Reopen() {
    routed_.feed.Clear();
    worker_.reset();
    auto table = lake_.Open(spec_);
    ASSERT_TRUE(table.ok()) << table.status();
    Use(*std::move(table));
  }
  void Commit() { transactions_.push_back(source_.Commit()); }
  // Transactions that the table does not have yet.
  void DeliverAll() {
    for (const TestTransaction& transaction : transactions_) {
      if (transaction.mark.end_lsn > worker_->lake()->watermark()->lsn)
        Deliver(transaction, routed_.feed);
    }
  }
  absl::Status RunAll() {
    while (!routed_.feed.empty()) RETURN_IF_ERROR(worker_->RunEpoch());
    return absl::OkStatus();
  }
  absl::Status Publish() {
    Commit();
    DeliverAll();
    return RunAll();
  }
  void ExpectPublished() {
    ASSERT_EQ(lake_.Read(), AsRead(source_.rows()));
    ASSERT_EQ(routed_.watermark_lsn, transactions_.back().mark.end_lsn.value);
    ASSERT_NO_FATAL_FAILURE(ExpectIndexFits(*worker_->lake(), source_.rows(), 300));
    transactions_.clear();
  }

  const std::string spool_folder_ = testing::TempDir() + "/worker-" + RandomUuid();
  const std::unique_ptr<Spool> spool_ = *Spool::Create(spool_folder_, {});
  WindowAccount account_{1 << 30};
  TestLake lake_;
  LakeTableSpec spec_ = TestSpec();
  TableShape shape_;
  RoutedTable routed_{&account_, spool_.get()};
  TableCounters counters_;
  EpochLimits limits_;
  EpochPolicy policy_;
  TestSource source_{OldTuple::kKey};
  std::vector<TestTransaction> transactions_;  // not yet known to be in the lake
  std::unique_ptr<TableWorker> worker_;
};

}  // namespace fjord
