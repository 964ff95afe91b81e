#include "doc/format.h"

#include <gtest/gtest.h>

#include <vector>

#include "doc/pattern.h"
#include "doc/schema.h"
#include "doc/test_support.h"
#include "doc/uri.h"
#include "doc/validator.h"

namespace fjord::doc {
namespace {

struct FormatCase {
  const char* format;
  std::vector<const char*> valid;
  std::vector<const char*> invalid;
};

TEST(Format, TextIsTakenOrNot) {
  const FormatCase cases[] = {
      {"date",
       {"2024-02-29", "0001-12-31"},
       {"2023-02-29", "2024-13-01", "2024-1-1", "2024-01-01T", "2024-00-10", "24-01-01", ""}},
      {"time",
       {"08:30:06Z", "08:30:06.283185+00:20", "23:59:60Z", "01:29:60+01:30", "15:59:60-08:00"},
       {"08:30:06", "24:00:00Z", "08:60:06Z", "08:30:61Z", "22:59:60Z", "08:30:06.Z", "8:30:06Z",
        "08:30Z", "08:30:06+25:00"}},
      {"date-time",
       {"2024-01-01T00:00:00Z", "2024-01-01t00:00:00.1z"},
       {"2024-01-01 00:00:00Z", "2024-01-01", "2024-02-30T00:00:00Z", "2024-01-01T"}},
      {"duration",
       {"P4DT12H30M5S", "P1Y", "PT0S", "P2W", "P1M", "PT1M", "P1Y2M3D"},
       {"P", "PT", "P1D2H", "4D", "P1", "P1DT", "P1H", "P2D1Y", "P1Y2W", "PT1D", "P1YT1Y"}},
      {"email",
       {"joe@example.test", "te~st@x.test", "a.b@x.test", "\"a b\"@x.test", "a@[127.0.0.1]",
        "a@[IPv6:::1]"},
       {"2962", ".a@x.test", "a..b@x.test", "a@", "@x.test", "a@x_y"}},
      {"hostname",
       {"www.example.test", "a", "xn--4gbwdl.xn--wgbh1c", "1host"},
       {"-a", "a-", "a_b", "", "a..b", ".a", "a."}},
      {"ipv4",
       {"192.168.0.1", "0.0.0.0"},
       {"256.1.1.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.a", " 1.2.3.4", "1.2.3.4000"}},
      {"ipv6",
       {"::1", "::", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "1::", "1:2:3:4:5:6:1.2.3.4", "fe80::a"},
       {"1:2:3:4:5:6:7", "12345::", "::1::", "1:2:3:4:5:6:7:8:9", "1.2.3.4::", ":1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7::8", "::1%eth0", "::g", ""}},
      {"uri",
       {"http://x.test/a?b#c", "urn:isbn:1", "mailto:a@x.test", "http://[::1]/"},
       {"/a", "a b:c", "http://x test", "http://x/%zz", "//x", ":a", "http://x/\\a",
        "http://x/[a]"}},
      {"uri-reference", {"/a", "", "#frag", "../b?c", "http://x.test/"}, {"\\a", "#a\\b", "a b"}},
      {"uuid",
       {"2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2EB8AA08-AA98-11EA-B4AA-73B441D16380"},
       {"2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638",
        "geb8aa08-aa98-11ea-b4aa-73b441d16380"}},
      {"json-pointer", {"", "/a/~0~1"}, {"a", "/~", "/~2", "#"}},
      {"relative-json-pointer", {"0", "1/a", "0#", "10/b"}, {"", "/a", "-1", "01", "0##", "1a"}},
      {"regex", {"^a[b-c]+$"}, {"^(abc]", "("}},
      {"integer", {"0", "-12", "+7", "99999999999999999999999"}, {"", "1.5", "a", "-", "1e3"}},
      {"number", {"0", "-12.5", "1e3", "99999999999999999999.99"}, {"", "a", "-", "NaN", "1,5"}},
  };
  for (const FormatCase& c : cases) {
    const FormatCheck check = FindFormat(c.format);
    ASSERT_NE(check, nullptr) << c.format;
    for (const char* text : c.valid) EXPECT_TRUE(check(text)) << c.format << " " << text;
    for (const char* text : c.invalid) EXPECT_FALSE(check(text)) << c.format << " " << text;
  }
  EXPECT_EQ(FindFormat("colour"), nullptr);
}

TEST(Format, AssertedOnlyOfStringsAndOnlyWhenAskedTo) {
  const Value text = J(R"({"format":"date"})");
  const absl::StatusOr<Schema> asserted = Schema::Compile(text, "", {});
  const absl::StatusOr<Schema> annotated =
      Schema::Compile(text, "", {.format = FormatUse::kAnnotateOnly});
  EXPECT_TRUE(Validator(*asserted, kNoAnnotations).Validate(J("12")));
  EXPECT_FALSE(Validator(*asserted, kNoAnnotations).Validate(J("\"12\"")));
  EXPECT_TRUE(Validator(*annotated, kNoAnnotations).Validate(J("\"12\"")));
}

TEST(Pattern, TheSyntaxIsThatOfEcmaScript) {
  struct PatternCase {
    const char* pattern;
    std::vector<const char*> matches;
    std::vector<const char*> others;
  };
  const PatternCase cases[] = {
      {"^\\u00e4$", {"ä"}, {"a"}},
      {"^\\u{1F600}$", {"😀"}, {"a"}},
      {"^\\cC$", {"\x03"}, {"c"}},
      {"^a\\/b$", {"a/b"}, {"a\\/b"}},
      {"^[^]$", {"a", "\n"}, {""}},
      {"[]", {}, {"", "a"}},
      {"^\\s$", {" ", "\v", "\xc2\xa0", "\xef\xbb\xbf"}, {"a", ""}},
      {"^[a\\s]$", {" ", "\v", "a"}, {"b"}},
      {"^\\S$", {"a"}, {" ", "\v"}},
      {"^(?<year>\\d{4})$", {"2024"}, {"٠٠٠٠"}},
      {"^\\p{Letter}+$", {"aä"}, {"1"}},
      {"^\\p{Script=Greek}$", {"α"}, {"a"}},
      {"^[[:a]+$", {"[:a"}, {"b"}},
      {"^\\-$", {"-"}, {"\\-"}},
      {"\\.", {"a.b"}, {"ab"}},
  };
  for (const PatternCase& c : cases) {
    const absl::StatusOr<Pattern> pattern = Pattern::Compile(c.pattern);
    ASSERT_TRUE(pattern.ok()) << pattern.status();
    for (const char* text : c.matches) EXPECT_TRUE(pattern->Matches(text)) << c.pattern << text;
    for (const char* text : c.others) EXPECT_FALSE(pattern->Matches(text)) << c.pattern << text;
  }
}

TEST(Uri, ReferencesAreResolvedAsTheRfcShows) {
  // RFC 3986, section 5.4.
  const std::pair<const char*, const char*> cases[] = {{"g:h", "g:h"},
                                                       {"g", "http://a/b/c/g"},
                                                       {"./g", "http://a/b/c/g"},
                                                       {"g/", "http://a/b/c/g/"},
                                                       {"/g", "http://a/g"},
                                                       {"//g", "http://g"},
                                                       {"?y", "http://a/b/c/d;p?y"},
                                                       {"g?y", "http://a/b/c/g?y"},
                                                       {"#s", "http://a/b/c/d;p?q#s"},
                                                       {"g#s", "http://a/b/c/g#s"},
                                                       {"", "http://a/b/c/d;p?q"},
                                                       {".", "http://a/b/c/"},
                                                       {"..", "http://a/b/"},
                                                       {"../g", "http://a/b/g"},
                                                       {"../..", "http://a/"},
                                                       {"../../g", "http://a/g"},
                                                       {"../../../g", "http://a/g"},
                                                       {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
                                                       {"g;x=1/../y", "http://a/b/c/y"}};
  for (const auto& [reference, expected] : cases) {
    EXPECT_EQ(ResolveUri("http://a/b/c/d;p?q", reference), expected) << reference;
  }
  EXPECT_EQ(ResolveUri("", "#/a"), "#/a");
  EXPECT_EQ(ResolveUri("urn:x:y", "#a"), "urn:x:y#a");
  EXPECT_EQ(ResolveUri("a/b.yaml", "c.yaml#/d"), "a/c.yaml#/d");
}

}  // namespace
}  // namespace fjord::doc
