#include "base/json.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr size_t kDepthMax = 200;

// Builds a Json from nlohmann's events, keeping 64-bit integers exact.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return Add(Json()); }
  bool boolean(bool v) override { return Add(Json(v)); }
  bool number_integer(number_integer_t v) override { return Add(Json(int64_t{v})); }
  bool number_unsigned(number_unsigned_t v) override {
    if (v > static_cast<uint64_t>(INT64_MAX)) return Add(Json(static_cast<double>(v)));
    return Add(Json(static_cast<int64_t>(v)));
  }
  bool number_float(number_float_t v, const string_t&) override { return Add(Json(v)); }
  bool string(string_t& v) override { return Add(Json(std::move(v))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return Open(Json::MakeObject()); }
  bool start_array(size_t) override { return Open(Json::MakeArray()); }
  bool key(string_t& v) override {
    keys_.back() = std::move(v);
    return true;
  }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    error_ = StrCat("not JSON, at byte ", position);
    return false;
  }

  Json result;
  std::string error_;

 private:
  bool Open(Json value) {
    if (stack_.size() >= kDepthMax) {
      error_ = StrCat("JSON nests deeper than ", kDepthMax);
      return false;
    }
    stack_.push_back(std::move(value));
    keys_.emplace_back();
    return true;
  }
  bool Close() {
    Json value = std::move(stack_.back());
    stack_.pop_back();
    keys_.pop_back();
    return Add(std::move(value));
  }
  bool Add(Json value) {
    if (stack_.empty()) {
      result = std::move(value);
    } else if (stack_.back().is_array()) {
      stack_.back().Push(std::move(value));
    } else {
      stack_.back().object().emplace_back(std::move(keys_.back()), std::move(value));
    }
    return true;
  }

  std::vector<Json> stack_;
  std::vector<std::string> keys_;
};

void Newline(std::string& out, int indent, int depth) {
  if (indent < 0) return;
  out.push_back('\n');
  out.append(static_cast<size_t>(indent * depth), ' ');
}

void DumpTo(const Json& value, std::string& out, int indent, int depth) {
  if (value.is_null()) {
    out += "null";
  } else if (value.is_bool()) {
    out += value.as_bool() ? "true" : "false";
  } else if (value.is_int()) {
    StrAppend(&out, value.as_int());
  } else if (value.is_double()) {
    out += nlohmann::json(value.as_double()).dump();
  } else if (value.is_string()) {
    out += JsonQuote(value.as_string());
  } else if (value.is_array()) {
    out.push_back('[');
    bool first = true;
    for (const Json& item : value.array()) {
      if (!first) out.push_back(',');
      first = false;
      Newline(out, indent, depth + 1);
      DumpTo(item, out, indent, depth + 1);
    }
    if (!first) Newline(out, indent, depth);
    out.push_back(']');
  } else {
    out.push_back('{');
    bool first = true;
    for (const auto& [name, item] : value.object()) {
      if (!first) out.push_back(',');
      first = false;
      Newline(out, indent, depth + 1);
      out += JsonQuote(name);
      out += indent < 0 ? ":" : ": ";
      DumpTo(item, out, indent, depth + 1);
    }
    if (!first) Newline(out, indent, depth);
    out.push_back('}');
  }
}

absl::Status Missing(std::string_view name, std::string_view kind) {
  return absl::InvalidArgumentError(StrCat("JSON member '", name, "' is not ", kind));
}

}  // namespace

absl::StatusOr<Json> Json::Parse(std::string_view text) {
  Builder builder;
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) {
    return absl::InvalidArgumentError(builder.error_.empty() ? "not JSON" : builder.error_);
  }
  return std::move(builder.result);
}

std::string Json::Dump() const {
  std::string out;
  DumpTo(*this, out, -1, 0);
  return out;
}

std::string Json::DumpPretty() const {
  std::string out;
  DumpTo(*this, out, 2, 0);
  return out;
}

const Json* Json::Find(std::string_view name) const {
  if (!is_object()) return nullptr;
  for (const auto& [key, value] : object()) {
    if (key == name) return &value;
  }
  return nullptr;
}

Json* Json::Find(std::string_view name) {
  return const_cast<Json*>(static_cast<const Json*>(this)->Find(name));
}

Json& Json::Set(std::string_view name, Json value) {
  if (Json* found = Find(name)) return *found = std::move(value);
  object().emplace_back(std::string(name), std::move(value));
  return object().back().second;
}

void Json::Erase(std::string_view name) {
  std::erase_if(object(), [&](const Member& member) { return member.first == name; });
}

absl::StatusOr<int64_t> Json::GetInt(std::string_view name) const {
  const Json* found = Find(name);
  if (found == nullptr || !found->is_int()) return Missing(name, "an integer");
  return found->as_int();
}

absl::StatusOr<std::string> Json::GetString(std::string_view name) const {
  const Json* found = Find(name);
  if (found == nullptr || !found->is_string()) return Missing(name, "a string");
  return found->as_string();
}

absl::StatusOr<bool> Json::GetBool(std::string_view name) const {
  const Json* found = Find(name);
  if (found == nullptr || !found->is_bool()) return Missing(name, "a boolean");
  return found->as_bool();
}

absl::StatusOr<const Json*> Json::GetArray(std::string_view name) const {
  const Json* found = Find(name);
  if (found == nullptr || !found->is_array()) return Missing(name, "an array");
  return found;
}

absl::StatusOr<const Json*> Json::GetObject(std::string_view name) const {
  const Json* found = Find(name);
  if (found == nullptr || !found->is_object()) return Missing(name, "an object");
  return found;
}

absl::StatusOr<int64_t> Json::GetInt(std::string_view name, int64_t absent) const {
  const Json* found = Find(name);
  if (found == nullptr || found->is_null()) return absent;
  return GetInt(name);
}

absl::StatusOr<std::string> Json::GetString(std::string_view name, std::string_view absent) const {
  const Json* found = Find(name);
  if (found == nullptr || found->is_null()) return std::string(absent);
  return GetString(name);
}

std::string JsonQuote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          absl::StrAppendFormat(&out, "\\u%04x", static_cast<unsigned>(c));
        } else {
          out.push_back(c);
        }
    }
  }
  out.push_back('"');
  return out;
}

}  // namespace fjord
