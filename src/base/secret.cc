#include "base/secret.h"

#include <cstdlib>
#include <fstream>

#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

absl::StatusOr<std::string> ReadSecretFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return absl::FailedPreconditionError(
        StrCat("cannot read the secret file ", path, ": it does not exist or is not readable"));
  }
  std::string text(SecretSource::kBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > SecretSource::kBytesMax) {
    return absl::FailedPreconditionError(
        StrCat("the secret file ", path, " is longer than 64 KiB"));
  }
  // Editors and `echo` end a file with a line break that is not part of the password.
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

bool EndsAuthority(char c) {
  return c == '/' || c == '?' || c == '#' || c == '"' || c == '\'' || c == ' ' || c == '\n';
}

// Replaces the password in every "scheme://user:password@".
std::string RedactUrls(std::string_view text) {
  std::string out;
  size_t done = 0;
  while (true) {
    const size_t scheme = text.find("://", done);
    if (scheme == std::string_view::npos) break;
    const size_t start = scheme + 3;
    size_t end = start;
    while (end < text.size() && !EndsAuthority(text[end])) ++end;
    const std::string_view authority = text.substr(start, end - start);
    const size_t at = authority.rfind('@');
    const size_t colon = authority.find(':');
    out.append(text.substr(done, start - done));
    if (at != std::string_view::npos && colon < at) {
      StrAppend(&out, authority.substr(0, colon), ":***", authority.substr(at));
    } else {
      out.append(authority);
    }
    done = end;
  }
  out.append(text.substr(done));
  return out;
}

// The end of a keyword value that starts at `start`: quoted with ' (and \ escapes), or up to a
// blank or &.
size_t EndOfSetting(std::string_view text, size_t start) {
  const bool quoted = start < text.size() && text[start] == '\'';
  size_t end = quoted ? start + 1 : start;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (c == '\\') {
      ++end;
    } else if (quoted && c == '\'') {
      return end + 1;
    } else if (!quoted && (c == ' ' || c == '\n' || c == '&' || c == '"')) {
      return end;
    }
  }
  return text.size();
}

// Skips blanks, so that "password = secret" is seen too.
size_t SkipBlanks(std::string_view text, size_t at) {
  while (at < text.size() && text[at] == ' ') ++at;
  return at;
}

std::string RedactSettings(std::string_view text) {
  constexpr std::string_view kWord = "password";
  std::string out;
  size_t done = 0;
  while (true) {
    const size_t word = text.find(kWord, done);
    if (word == std::string_view::npos) break;
    const size_t equals = SkipBlanks(text, word + kWord.size());
    if (equals >= text.size() || text[equals] != '=') {
      out.append(text.substr(done, word + kWord.size() - done));
      done = word + kWord.size();
      continue;
    }
    const size_t value = SkipBlanks(text, equals + 1);
    StrAppend(&out, text.substr(done, value - done), "***");
    done = EndOfSetting(text, value);
  }
  out.append(text.substr(done));
  return out;
}

}  // namespace

SecretSource SecretSource::Environment(std::string variable) {
  return SecretSource(Kind::kEnvironment, std::move(variable), Secret());
}

SecretSource SecretSource::File(std::string path) {
  return SecretSource(Kind::kFile, std::move(path), Secret());
}

SecretSource SecretSource::Value(Secret value) {
  return SecretSource(Kind::kValue, "", std::move(value));
}

absl::StatusOr<Secret> SecretSource::Read() const {
  std::string text;
  switch (kind_) {
    case Kind::kValue: return value_;
    case Kind::kEnvironment: {
      const char* value = std::getenv(place_.c_str());
      if (value == nullptr) {
        return absl::FailedPreconditionError(
            StrCat("the environment variable ", place_, " is not set: export ", place_, "=…"));
      }
      text = value;
      break;
    }
    case Kind::kFile: {
      ASSIGN_OR_RETURN(text, ReadSecretFile(place_));
      break;
    }
  }
  if (text.empty()) return absl::FailedPreconditionError(StrCat("the ", Describe(), " is empty"));
  return Secret(std::move(text));
}

std::string SecretSource::Describe() const {
  switch (kind_) {
    case Kind::kValue: return "given value";
    case Kind::kEnvironment: return StrCat("environment variable ", place_);
    case Kind::kFile: return StrCat("secret file ", place_);
  }
  return "";
}

std::string RedactPasswords(std::string_view text) { return RedactSettings(RedactUrls(text)); }

}  // namespace fjord
