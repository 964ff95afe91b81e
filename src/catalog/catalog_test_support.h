// For tests of the catalogs: small tables, commits, folders, and a store that
// fails when it is told to.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/strings.h"
#include "catalog/catalog.h"
#include "io/local_store.h"

namespace fjord {

// A folder that is removed at the end.
class TestFolder {
 public:
  TestFolder()
      : path_(StrCat(std::filesystem::temp_directory_path().string(), "/fjord-catalog-",
                     RandomUuid())) {
    std::filesystem::create_directories(path_);
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline Json JsonForTest(std::string_view text) {
  const auto json = Json::Parse(text);
  EXPECT_TRUE(json.ok()) << text;
  return *json;
}

inline Json SchemaForTest() {
  return JsonForTest(R"({"type":"struct","schema-id":0,"identifier-field-ids":[1],"fields":[
      {"id":1,"name":"id","required":true,"type":"long"},
      {"id":2,"name":"name","required":false,"type":"string"}]})");
}

// A commit of one snapshot without data on top of `base`, with the
// requirements that a writer sends.
inline CommitRequest SnapshotCommit(const TableMetadata& base, SnapshotId id) {
  Snapshot snapshot{.id = id,
                    .parent_snapshot_id = base.current_snapshot_id,
                    .sequence_number = SequenceNumber(base.last_sequence_number.value + 1),
                    .timestamp_ms = base.last_updated_ms + 1,
                    .manifest_list = StrCat(base.location, "/metadata/snap-", id.value, ".avro"),
                    .summary = {{"operation", "append"}},
                    .schema_id = base.current_schema_id};
  CommitRequest request;
  request.requirements.Push(AssertTableUuid(base.table_uuid));
  request.requirements.Push(AssertRefSnapshotId(kMainBranch, base.current_snapshot_id));
  request.updates.Push(AddSnapshotUpdate(snapshot));
  request.updates.Push(SetMainUpdate(id));
  return request;
}

inline CommitRequest PropertyCommit(const std::string& name, const std::string& value) {
  CommitRequest request;
  request.updates.Push(SetPropertiesUpdate({{name, value}}));
  return request;
}

// The local store, which answers the n-th Put from now with a status. Thread-safe.
class FailingStore : public ObjectStore {
 public:
  void FailPut(int nth, absl::Status status) {
    status_ = std::move(status);
    puts_until_failure_ = nth;
  }
  int puts() const { return puts_; }

  absl::Status Put(std::string_view location, std::string_view bytes) override {
    ++puts_;
    if (puts_until_failure_ > 0 && --puts_until_failure_ == 0) return status_;
    return local_->Put(location, bytes);
  }
  absl::Status Replace(std::string_view location, std::string_view bytes) override {
    return local_->Replace(location, bytes);
  }
  absl::StatusOr<std::unique_ptr<WriteStream>> Create(std::string_view location) override {
    return local_->Create(location);
  }
  absl::StatusOr<std::string> Get(std::string_view location) override {
    ++gets_;
    return local_->Get(location);
  }
  int gets() const { return gets_; }
  absl::StatusOr<std::unique_ptr<ReadableObject>> Open(std::string_view location) override {
    return local_->Open(location);
  }
  absl::StatusOr<std::vector<ObjectInfo>> List(std::string_view prefix) override {
    return local_->List(prefix);
  }
  absl::Status Delete(std::string_view location) override { return local_->Delete(location); }

 private:
  const std::unique_ptr<ObjectStore> local_ = OpenLocalStore();
  absl::Status status_;
  std::atomic<int> puts_until_failure_ = 0;
  std::atomic<int> puts_ = 0;
  std::atomic<int> gets_ = 0;
};

}  // namespace fjord
