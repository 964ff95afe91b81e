#include "base/sqlite.h"

#include <sqlite3.h>

#include <utility>

#include "base/strings.h"

namespace fjord {
namespace {

constexpr int kBusyTimeoutMs = 30'000;

absl::Status ErrorOf(sqlite3* db, std::string_view doing) {
  const std::string text = StrCat(doing, ": ", sqlite3_errmsg(db));
  switch (sqlite3_errcode(db) & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return absl::UnavailableError(text);
    case SQLITE_FULL: return absl::ResourceExhaustedError(text);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return absl::DataLossError(text);
    case SQLITE_CONSTRAINT: return absl::AlreadyExistsError(text);
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM: return absl::FailedPreconditionError(text);
    default: return absl::UnavailableError(text);
  }
}

}  // namespace

SqliteStatement::SqliteStatement(SqliteStatement&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)) {}
SqliteStatement& SqliteStatement::operator=(SqliteStatement&& other) noexcept {
  std::swap(statement_, other.statement_);
  return *this;
}
SqliteStatement::~SqliteStatement() { sqlite3_finalize(statement_); }

void SqliteStatement::Bind(int parameter, std::string_view text) {
  // A null pointer would bind NULL.
  const char* bytes = text.empty() ? "" : text.data();
  sqlite3_bind_text64(statement_, parameter + 1, bytes, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}
void SqliteStatement::BindInt(int parameter, int64_t value) {
  sqlite3_bind_int64(statement_, parameter + 1, value);
}
void SqliteStatement::BindNull(int parameter) { sqlite3_bind_null(statement_, parameter + 1); }

absl::StatusOr<bool> SqliteStatement::Step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return ErrorOf(sqlite3_db_handle(statement_), "SQLite");
}

std::optional<std::string> SqliteStatement::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (text == nullptr) return std::nullopt;
  return std::string(text, static_cast<size_t>(sqlite3_column_bytes(statement_, column)));
}
int64_t SqliteStatement::Int(int column) const { return sqlite3_column_int64(statement_, column); }
void SqliteStatement::Reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

absl::StatusOr<std::unique_ptr<SqliteDatabase>> SqliteDatabase::Open(const std::string& path) {
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(
      path.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  auto database = std::unique_ptr<SqliteDatabase>(new SqliteDatabase(db));
  if (code != SQLITE_OK) return ErrorOf(db, StrCat("cannot open ", path));
  sqlite3_busy_timeout(db, kBusyTimeoutMs);
  return database;
}

SqliteDatabase::~SqliteDatabase() { sqlite3_close_v2(db_); }

absl::Status SqliteDatabase::Exec(const std::string& sql) {
  if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return ErrorOf(db_, "SQLite");
  return absl::OkStatus();
}

absl::StatusOr<SqliteStatement> SqliteDatabase::Prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr) !=
      SQLITE_OK) {
    return ErrorOf(db_, "SQLite");
  }
  return SqliteStatement(statement);
}

int64_t SqliteDatabase::changes() const { return sqlite3_changes(db_); }

}  // namespace fjord
