// Secrets: where one is kept, and its value while it is in use.
//
// A Secret has no operator<<, no AbslStringify and no conversion, so it cannot get into a log line,
// an error or a page by accident; the one place that needs the text says Reveal(). Sources are read
// when a secret is needed, not when the configuration is loaded: a file may be replaced while the
// program runs, and a command that does not connect does not need the password.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

namespace fjord {

// A value that must not be printed. Copyable, so that options structs can hold it.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}

  const std::string& Reveal() const { return text_; }
  bool empty() const { return text_.empty(); }
  friend bool operator==(const Secret&, const Secret&) = default;

 private:
  std::string text_;
};

// Where a secret is kept: `{env: NAME}` or `{file: PATH}` in the configuration. Immutable.
class SecretSource {
 public:
  static SecretSource Environment(std::string variable);
  // The whole file without one line break at its end; at most kBytesMax.
  static SecretSource File(std::string path);
  // A value that is known already (the demo's own server, tests).
  static SecretSource Value(Secret value);

  static constexpr size_t kBytesMax = size_t{64} << 10;

  // kFailedPrecondition, naming the variable or the file, when there is nothing
  // or only an empty text.
  absl::StatusOr<Secret> Read() const;
  // "environment variable SHOP_PASSWORD", "file /run/secrets/shop": for messages. Never the value.
  std::string Describe() const;

 private:
  enum class Kind { kEnvironment, kFile, kValue };
  SecretSource(Kind kind, std::string place, Secret value)
      : kind_(kind), place_(std::move(place)), value_(std::move(value)) {}

  Kind kind_;
  std::string place_;
  Secret value_;
};

// `text` with the passwords of all URLs ("scheme://user:PASSWORD@host") and of all `password=`
// settings replaced by "***".
std::string RedactPasswords(std::string_view text);

}  // namespace fjord
