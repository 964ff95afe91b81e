// JSON values. Objects keep the order in which members were put, so that what we write is the same
// bytes each time.
//
// Integers are exact in 64 bits; other numbers are doubles. (The document engine of
// Flow has its own values.)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

namespace fjord {

class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  Json() = default;
  Json(std::nullptr_t) {}
  Json(bool v) : value_(v) {}
  Json(int v) : value_(int64_t{v}) {}
  Json(int64_t v) : value_(v) {}
  Json(double v) : value_(v) {}
  Json(const char* v) : value_(std::string(v)) {}
  Json(std::string v) : value_(std::move(v)) {}
  Json(std::string_view v) : value_(std::string(v)) {}
  Json(Array v) : value_(std::move(v)) {}
  Json(Object v) : value_(std::move(v)) {}

  static Json MakeObject() { return Json(Object{}); }
  static Json MakeArray() { return Json(Array{}); }

  // kInvalidArgument with the byte offset when the text is not JSON or nests deeper than 200.
  static absl::StatusOr<Json> Parse(std::string_view text);
  std::string Dump() const;        // compact
  std::string DumpPretty() const;  // two blanks a level

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_int() const { return std::holds_alternative<int64_t>(value_); }
  bool is_double() const { return std::holds_alternative<double>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }

  // Precondition: the value is of that kind.
  bool as_bool() const { return std::get<bool>(value_); }
  int64_t as_int() const { return std::get<int64_t>(value_); }
  double as_double() const {
    return is_int() ? static_cast<double>(as_int()) : std::get<double>(value_);
  }
  const std::string& as_string() const { return std::get<std::string>(value_); }
  const Array& array() const { return std::get<Array>(value_); }
  Array& array() { return std::get<Array>(value_); }
  const Object& object() const { return std::get<Object>(value_); }
  Object& object() { return std::get<Object>(value_); }

  // The member, or null when this is no object or has none of that name.
  const Json* Find(std::string_view name) const;
  Json* Find(std::string_view name);
  // Replaces or appends a member. Precondition: an object.
  Json& Set(std::string_view name, Json value);
  void Erase(std::string_view name);
  // Appends to an array. Precondition: an array.
  void Push(Json value) { array().push_back(std::move(value)); }

  // Member access for input that is not ours: kInvalidArgument names the member that is missing or
  // of another kind.
  absl::StatusOr<int64_t> GetInt(std::string_view name) const;
  absl::StatusOr<std::string> GetString(std::string_view name) const;
  absl::StatusOr<bool> GetBool(std::string_view name) const;
  absl::StatusOr<const Json*> GetArray(std::string_view name) const;
  absl::StatusOr<const Json*> GetObject(std::string_view name) const;
  // With a default when the member is absent or null.
  absl::StatusOr<int64_t> GetInt(std::string_view name, int64_t absent) const;
  absl::StatusOr<std::string> GetString(std::string_view name, std::string_view absent) const;

  friend bool operator==(const Json&, const Json&) = default;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> value_;
};

// A JSON string literal with its quotes.
std::string JsonQuote(std::string_view text);

}  // namespace fjord
