// A thin wrapper of SQLite: open, statements, transactions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct sqlite3;
struct sqlite3_stmt;

namespace fjord {

// A prepared statement. Parameters and columns count from 0.
class SqliteStatement {
 public:
  SqliteStatement(SqliteStatement&& other) noexcept;
  SqliteStatement& operator=(SqliteStatement&& other) noexcept;
  ~SqliteStatement();

  void Bind(int parameter, std::string_view text);
  void BindInt(int parameter, int64_t value);
  void BindNull(int parameter);
  // True: a row is there; false: done.
  absl::StatusOr<bool> Step();
  // Nothing when NULL. Lives until the next Step.
  std::optional<std::string> Text(int column) const;
  int64_t Int(int column) const;
  void Reset();

 private:
  friend class SqliteDatabase;
  explicit SqliteStatement(sqlite3_stmt* statement) : statement_(statement) {}
  sqlite3_stmt* statement_ = nullptr;
};

// One connection; confined to one thread at a time. A busy database is waited for, up to
// 30 s; then kUnavailable.
class SqliteDatabase {
 public:
  static absl::StatusOr<std::unique_ptr<SqliteDatabase>> Open(const std::string& path);
  ~SqliteDatabase();
  absl::Status Exec(const std::string& sql);
  absl::StatusOr<SqliteStatement> Prepare(std::string_view sql);
  // Rows that the last statement changed.
  int64_t changes() const;

 private:
  explicit SqliteDatabase(sqlite3* db) : db_(db) {}
  sqlite3* db_;
};

}  // namespace fjord
