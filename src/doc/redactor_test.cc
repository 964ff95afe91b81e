#include "doc/redactor.h"

#include <gtest/gtest.h>

#include <string>

#include "base/digest.h"
#include "base/status.h"
#include "doc/serialize.h"
#include "doc/test_support.h"

namespace fjord::doc {
namespace {

using std::string_literals::operator""s;

std::string Redacted(const char* schema_text, const std::string& document) {
  const absl::StatusOr<Schema> schema = Schema::Compile(J(schema_text), "", {});
  if (!schema.ok()) return schema.status().ToString();
  Redactor redactor(*schema, "salt");
  const Value before = J(document);
  const absl::StatusOr<Value> after = redactor.Redact(before, TestArena());
  return after.ok() ? ToJson(*after) : "error: " + std::string(Message(after.status()));
}

TEST(Redactor, WhatIsBlockedGoesAway) {
  EXPECT_EQ(
      Redacted(
          R"({"properties":{"a":{"redact":{"strategy":"block"}},"l":{"items":{"properties":{"x":{"redact":{"strategy":"block"}}},"if":{"type":"null"},"then":{"redact":{"strategy":"block"}}}}}})",
          R"({"a":1,"b":2,"l":[{"x":1,"y":2},null,3]})"),
      R"({"b":2,"l":[{"y":2},3]})");
  EXPECT_EQ(Redacted(R"({"properties":{"a":{"redact":{"strategy":"block"}}}})", R"({"b":2})"),
            R"({"b":2})");
}

TEST(Redactor, ADigestIsThatOfTheSaltAndTheBytes) {
  const auto digest = [](const std::string& bytes) {
    return "[\"sha256:" + Hex(Sha256("salt" + bytes)) + "\"]";
  };
  const std::pair<const char*, std::string> cases[] = {
      {R"("käse")", "käse"},
      {"\"\"", ""},
      {"null", ""},
      {"true", "\1"},
      {"false", "\0"s},
      {"258", "\2\1\0\0\0\0\0\0"s},
      {"-1", "\xff\xff\xff\xff\xff\xff\xff\xff"},
      {"18446744073709551615", "\xff\xff\xff\xff\xff\xff\xff\xff"},
      {"258.0", "\2\1\0\0\0\0\0\0"s},
      {"-0.0", "\0\0\0\0\0\0\0\0"s},
      {"1.5", "\0\0\0\0\0\0\xf8\x3f"s},
      {"1e300", "\x9c\x75\x00\x88\x3c\xe4\x37\x7e"s},
      {"1e400", "1e400"},
      {R"({"b":1,"a":[2]})", R"({"a":[2],"b":1})"},
  };
  for (const auto& [json, bytes] : cases) {
    EXPECT_EQ(Redacted(R"({"items":{"redact":{"strategy":"sha256"}}})", "["s + json + "]"),
              digest(bytes))
        << json;
  }
}

TEST(Redactor, ADigestIsNotDigestedAgain) {
  const char* const schema = R"({"properties":{"a":{"redact":{"strategy":"sha256"}}}})";
  const std::string once = Redacted(schema, R"({"a":"x"})");
  EXPECT_EQ(Redacted(schema, once), once);
  EXPECT_NE(Redacted(schema, R"({"a":"sha256:abc"})"), R"({"a":"sha256:abc"})");
}

TEST(Redactor, MistakesAreErrors) {
  EXPECT_EQ(Redacted(R"({"redact":{"strategy":"block"}})", "{}").substr(0, 37),
            "error: the schema blocks the whole do");
  EXPECT_NE(
      Redacted(R"({"allOf":[{"redact":{"strategy":"block"}},{"redact":{"strategy":"sha256"}}]})",
               "1")
          .find("conflicting"),
      std::string::npos);
  EXPECT_NE(Redacted(R"({"type":"object"})", "1").find("does not match"), std::string::npos);
}

}  // namespace
}  // namespace fjord::doc
