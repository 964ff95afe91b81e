// What the *_live_test.cc files share: a session with the server that FJORD_TEST_PG_URL names
// (tests/unit_py/test_postgres_live.py starts one). Without it those tests are skipped.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "postgres/catalog.h"
#include "postgres/connection.h"
#include "postgres/slot.h"

namespace fjord {

// Each test works in a schema of its own, named after it, which is dropped at
// the end with its slots.
class LiveTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* url = std::getenv("FJORD_TEST_PG_URL");
    if (url == nullptr) GTEST_SKIP() << "FJORD_TEST_PG_URL is not set";
    options_.url = url;
    auto session = Connection::Open(options_);
    ASSERT_TRUE(session.ok()) << session.status();
    session_ = *std::move(session);
    const std::string test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    schema_ = StrCat("live_", test.substr(0, 40));
    for (char& c : schema_) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    Exec(StrCat("DROP SCHEMA IF EXISTS ", schema_, " CASCADE; CREATE SCHEMA ", schema_));
  }

  void TearDown() override {
    if (session_ == nullptr) return;
    for (const std::string& slot : slots_)
      DropSlot(*session_, slot).IgnoreError();  // may be gone already
    for (const std::string& statement : at_end_) session_->Exec(statement).IgnoreError();
    Exec(StrCat("DROP SCHEMA IF EXISTS ", schema_, " CASCADE"));
  }

  void Exec(std::string_view sql) {
    const absl::Status status = session_->Exec(sql);
    ASSERT_TRUE(status.ok()) << status << "\n" << sql;
  }

  std::string Value(std::string_view sql) {
    const auto rows = session_->Query(sql);
    EXPECT_TRUE(rows.ok()) << rows.status() << "\n" << sql;
    return rows.ok() && rows->rows() > 0 ? std::string(rows->Text(0, 0)) : "";
  }

  std::unique_ptr<Connection> Open(SessionKind kind) {
    ConnectionOptions options = options_;
    options.kind = kind;
    auto session = Connection::Open(options);
    EXPECT_TRUE(session.ok()) << session.status();
    return session.ok() ? *std::move(session) : nullptr;
  }

  // A slot that is dropped at the end; its session must stay open while the snapshot is used.
  NewSlot MakeSlot(Connection& replication) {
    slots_.push_back(schema_);
    const auto slot = CreateSlot(replication, schema_, SlotLife::kPermanent, absl::Milliseconds(50),
                                 [] { return absl::OkStatus(); });
    EXPECT_TRUE(slot.ok()) << slot.status();
    return slot.ok() ? *slot : NewSlot{};
  }

  TableInfo Table(std::string_view name) {
    const auto tables = ReadTables(*session_, {{.schema = schema_, .name = std::string(name)}});
    EXPECT_TRUE(tables.ok()) << tables.status();
    EXPECT_EQ(tables.ok() ? tables->size() : 0, 1u) << name;
    return tables.ok() && tables->size() == 1 ? tables->front() : TableInfo{};
  }

  ConnectionOptions options_;
  std::unique_ptr<Connection> session_;
  std::string schema_;
  std::vector<std::string> slots_;
  std::vector<std::string> at_end_;  // statements
};

}  // namespace fjord
