#include "base/sqlite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/digest.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

using std::string_literals::operator""s;
using testing::HasSubstr;

class SqliteTest : public testing::Test {
 protected:
  ~SqliteTest() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<SqliteDatabase> Open() {
    std::filesystem::create_directories(folder_);
    auto database = SqliteDatabase::Open(path_);
    EXPECT_TRUE(database.ok()) << database.status();
    EXPECT_TRUE(
        (*database)->Exec("CREATE TABLE IF NOT EXISTS t (k TEXT PRIMARY KEY, n INTEGER)").ok());
    return *std::move(database);
  }

  const std::string folder_ = StrCat(testing::TempDir(), "sqlite-", RandomUuid());
  const std::string path_ = StrCat(folder_, "/db");
};

TEST_F(SqliteTest, WhatIsBoundComesBack) {
  const auto db = Open();
  auto insert = *db->Prepare("INSERT INTO t VALUES (?, ?)");
  const auto put = [&](std::string_view text, int64_t number) {
    insert.Reset();
    insert.Bind(0, text);
    insert.BindInt(1, number);
    EXPECT_FALSE(*insert.Step());
    EXPECT_EQ(db->changes(), 1);
  };
  put("a\0b"s, INT64_MIN);
  put({}, INT64_MAX);
  auto select = *db->Prepare("SELECT k, n, NULL FROM t ORDER BY n");
  ASSERT_TRUE(*select.Step());
  EXPECT_EQ(select.Text(0), "a\0b"s);
  EXPECT_EQ(select.Int(1), INT64_MIN);
  EXPECT_EQ(select.Text(2), std::nullopt);
  ASSERT_TRUE(*select.Step());
  EXPECT_EQ(select.Text(0), "");  // an empty text, not NULL
  EXPECT_FALSE(*select.Step());
}

TEST_F(SqliteTest, ResetForgetsWhatWasBound) {
  const auto db = Open();
  auto select = *db->Prepare("SELECT ?");
  select.Bind(0, "x");
  ASSERT_TRUE(*select.Step());
  EXPECT_EQ(select.Text(0), "x");
  select.Reset();
  ASSERT_TRUE(*select.Step());
  EXPECT_EQ(select.Text(0), std::nullopt);
  SqliteStatement moved = std::move(select);
  moved.Reset();
  EXPECT_TRUE(*moved.Step());
}

TEST_F(SqliteTest, AViolatedKeyAlreadyExists) {
  const auto db = Open();
  ASSERT_TRUE(db->Exec("INSERT INTO t VALUES ('a', 1)").ok());
  EXPECT_TRUE(absl::IsAlreadyExists(db->Exec("INSERT INTO t VALUES ('a', 2)")));
}

TEST_F(SqliteTest, ARolledBackTransactionLeavesNothing) {
  const auto db = Open();
  ASSERT_TRUE(db->Exec("BEGIN IMMEDIATE").ok());
  ASSERT_TRUE(db->Exec("INSERT INTO t VALUES ('a', 1)").ok());
  ASSERT_TRUE(db->Exec("ROLLBACK").ok());
  auto count = *db->Prepare("SELECT count(*) FROM t");
  ASSERT_TRUE(*count.Step());
  EXPECT_EQ(count.Int(0), 0);
}

TEST_F(SqliteTest, AFileThatIsNoDatabaseIsDataLoss) {
  std::filesystem::create_directories(folder_);
  std::ofstream(path_) << std::string(4096, 'x');
  const auto db = SqliteDatabase::Open(path_);
  const absl::Status status = db.ok() ? (*db)->Exec("SELECT * FROM sqlite_master") : db.status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
}

TEST_F(SqliteTest, AFolderThatIsNotThereIsNamed) {
  const auto db = SqliteDatabase::Open(StrCat(folder_, "/absent/db"));
  EXPECT_TRUE(absl::IsFailedPrecondition(db.status())) << db.status();
  EXPECT_THAT(db.status().ToString(), HasSubstr(StrCat(folder_, "/absent/db")));
}

}  // namespace
}  // namespace fjord
