#include "postgres/tuple.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "postgres/text_value.h"

namespace fjord {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

PgColumn Make(DecodeKind decode, ColumnType lake) {
  return {.attnum = 1, .name = "c", .type_name = "some type", .lake = lake, .decode = decode};
}

struct Decoded {
  Column column;
  Arena arena;
  DecodeResult result;
};

Decoded Decode(const PgColumn& column, const std::vector<TextCell>& cells,
               UnrepresentablePolicy policy = UnrepresentablePolicy::kBlock) {
  Decoded decoded{Column(column.lake)};
  decoded.result =
      DecodeColumn(column, {cells.data(), cells.size(), 1}, policy, decoded.column, decoded.arena);
  return decoded;
}

std::vector<TextCell> Cells(std::initializer_list<std::string_view> texts) {
  std::vector<TextCell> cells;
  for (const std::string_view text : texts) cells.push_back(TextCell::Of(text));
  return cells;
}

TEST(DecodeColumn, IntegersAtTheirLimits) {
  const Decoded ints =
      Decode(Make(DecodeKind::kInt32, {TypeKind::kInt}), Cells({"-2147483648", "2147483647", "0"}));
  EXPECT_FALSE(ints.result.problem);
  EXPECT_THAT(ints.column.int32s, ElementsAre(std::numeric_limits<int32_t>::min(), 2147483647, 0));
  const Decoded longs = Decode(Make(DecodeKind::kInt64, {TypeKind::kLong}),
                               Cells({"-9223372036854775808", "9007199254740993"}));
  EXPECT_THAT(longs.column.int64s,
              ElementsAre(std::numeric_limits<int64_t>::min(), 9007199254740993));
}

TEST(DecodeColumn, NullAndUnchangedAreAbsentAndKeepTheirPlace) {
  const Decoded decoded =
      Decode(Make(DecodeKind::kInt32, {TypeKind::kInt}),
             {TextCell::Of("1"), TextCell::Null(), TextCell::Unchanged(), TextCell::Of("4")});
  EXPECT_THAT(decoded.column.valid, ElementsAre(1, 0, 0, 1));
  EXPECT_THAT(decoded.column.int32s, ElementsAre(1, 0, 0, 4));
}

TEST(DecodeColumn, ReadsOneColumnOfRowMajorCells) {
  TupleRows rows{.columns = 2};
  rows.Append(Cells({"1", "a"}));
  rows.Append(Cells({"2", "b"}));
  const std::vector<PgColumn> columns = {Make(DecodeKind::kInt32, {TypeKind::kInt}),
                                         Make(DecodeKind::kText, {TypeKind::kString})};
  ColumnBatch batch = MakeBatch(columns);
  EXPECT_FALSE(DecodeRows(columns, rows, UnrepresentablePolicy::kBlock, batch).problem);
  EXPECT_THAT(batch.columns[0].int32s, ElementsAre(1, 2));
  EXPECT_THAT(batch.columns[1].bytes, ElementsAre("a", "b"));
  EXPECT_EQ(batch.columns[1].bytes[0].data(), rows.cells[1].text.data()) << "text is not copied";
}

TEST(DecodeColumn, Floats) {
  const Decoded d =
      Decode(Make(DecodeKind::kDouble, {TypeKind::kDouble}),
             Cells({"NaN", "-Infinity", "-0", "5e-324", "1.7976931348623157e+308", "1e-05"}));
  ASSERT_FALSE(d.result.problem);
  EXPECT_TRUE(std::isnan(d.column.doubles[0]));
  EXPECT_EQ(d.column.doubles[1], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::signbit(d.column.doubles[2]));
  EXPECT_EQ(d.column.doubles[3], std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(d.column.doubles[4], std::numeric_limits<double>::max());
  const Decoded f = Decode(Make(DecodeKind::kFloat, {TypeKind::kFloat}),
                           Cells({"1e-45", "3.4028235e+38", "0.1"}));
  ASSERT_FALSE(f.result.problem);
  EXPECT_THAT(f.column.floats, ElementsAre(std::numeric_limits<float>::denorm_min(),
                                           std::numeric_limits<float>::max(), 0.1f));
}

TEST(ParseDecimal, Table) {
  struct Case {
    std::string_view text;
    int precision;
    int scale;
    std::string_view unscaled;  // empty: unrepresentable
  };
  const Case cases[] = {
      {"999.99", 5, 2, "99999"},
      {"-0.01", 5, 2, "-1"},
      {"0", 5, 2, "0"},
      {"1.5", 5, 2, "150"},
      {"1.500", 5, 2, "150"},
      {"1.501", 5, 2, ""},
      {"1000.00", 5, 2, ""},
      {"12300", 5, 0, "12300"},
      {"0.00099", 5, 5, "99"},
      {"0.01", 5, 5, "1000"},
      {"1", 5, 5, ""},
      {"99999999999999999999999999999999999999", 38, 0, "99999999999999999999999999999999999999"},
      {"-99999999999999999999999999999999999999", 38, 0, "-99999999999999999999999999999999999999"},
      {"100000000000000000000000000000000000000", 38, 0, ""},
      {"12345678901234567890.123456789012345678", 38, 18, "12345678901234567890123456789012345678"},
      {"0.00000000000000000000000000000000000001", 38, 38, "1"},
      {"NaN", 5, 2, ""},
      {"Infinity", 5, 2, ""},
      {"-Infinity", 5, 2, ""},
  };
  for (const Case& c : cases) {
    absl::int128 value = 0;
    const ValueFailure failure = ParseDecimal(c.text, c.precision, c.scale, value);
    EXPECT_EQ(!failure, !c.unscaled.empty()) << c.text;
    if (c.unscaled.empty()) {
      EXPECT_EQ(failure.kind, DecodeProblem::Kind::kUnrepresentable) << c.text;
      continue;
    }
    std::ostringstream printed;
    printed << value;
    EXPECT_EQ(printed.str(), c.unscaled) << c.text;
  }
}

TEST(ParseDate, Table) {
  const std::pair<std::string_view, int32_t> cases[] = {
      {"1970-01-01", 0},           {"1969-12-31", -1},
      {"2024-02-29", 19782},       {"1582-10-04", -141438},
      {"0001-01-01", -719162},     {"9999-12-31", 2932896},
      {"0001-12-31 BC", -719163},  {"0044-03-15 BC", -735160},
      {"4713-01-01 BC", -2440550}, {"5874897-12-31", 2145042905},
  };
  for (const auto& [text, days] : cases) {
    int32_t value = 0;
    EXPECT_FALSE(ParseDate(text, value)) << text;
    EXPECT_EQ(value, days) << text;
  }
}

TEST(ParseTimestamp, Table) {
  const std::pair<std::string_view, int64_t> cases[] = {
      {"1970-01-01 00:00:00", 0},
      {"1969-12-31 23:59:59.999999", -1},
      {"2024-01-02 03:04:05.678", 1704164645678000},
      {"0001-12-31 00:00:00 BC", -719163LL * 86'400'000'000},
      {"294247-01-10 04:00:54.775806", std::numeric_limits<int64_t>::max() - 1},
  };
  for (const auto& [text, micros] : cases) {
    int64_t value = 0;
    EXPECT_FALSE(ParseTimestamp(text, value)) << text;
    EXPECT_EQ(value, micros) << text;
  }
}

TEST(ParseTimestampTz, OffsetsCountEastOfUtc) {
  const std::pair<std::string_view, int64_t> cases[] = {
      {"1970-01-01 00:00:00+00", 0},
      {"1970-01-01 01:00:00+01", 0},
      {"1969-12-31 20:30:00-03:30", 0},
      {"1970-01-01 00:19:32.5+00:19:32", 500'000},
      {"0044-03-15 12:00:00+00 BC", (-735160LL * 86'400 + 43'200) * 1'000'000},
  };
  for (const auto& [text, micros] : cases) {
    int64_t value = 0;
    EXPECT_FALSE(ParseTimestampTz(text, value)) << text;
    EXPECT_EQ(value, micros) << text;
  }
}

TEST(DecodeColumn, ValuesWithoutAPlaceInTheLakeType) {
  struct Case {
    DecodeKind decode;
    ColumnType lake;
    std::string_view text;
  };
  const Case cases[] = {
      {DecodeKind::kDecimal, {TypeKind::kDecimal, 5, 2}, "NaN"},
      {DecodeKind::kDate, {TypeKind::kDate}, "infinity"},
      {DecodeKind::kTime, {TypeKind::kTime}, "24:00:00"},
      {DecodeKind::kTimestamp, {TypeKind::kTimestamp}, "-infinity"},
      {DecodeKind::kTimestamp, {TypeKind::kTimestamp}, "294276-12-31 23:59:59.999999"},
      {DecodeKind::kTimestamp, {TypeKind::kTimestamp}, "294247-01-10 04:00:54.775807"},
      {DecodeKind::kTimestampTz, {TypeKind::kTimestampTz}, "infinity"},
      {DecodeKind::kCheckedText, {TypeKind::kString}, "caf\xe9"},
  };
  for (const Case& c : cases) {
    const Decoded blocked = Decode(Make(c.decode, c.lake), Cells({c.text}));
    ASSERT_TRUE(blocked.result.problem) << c.text;
    EXPECT_EQ(blocked.result.problem->kind, DecodeProblem::Kind::kUnrepresentable) << c.text;
    EXPECT_EQ(blocked.column.size(), 0u);
    const Decoded nulled =
        Decode(Make(c.decode, c.lake), Cells({c.text}), UnrepresentablePolicy::kNull);
    EXPECT_FALSE(nulled.result.problem) << c.text;
    EXPECT_EQ(nulled.result.nulled, 1);
    EXPECT_THAT(nulled.column.valid, ElementsAre(0));
    PgColumn key = Make(c.decode, c.lake);
    key.is_key = true;
    EXPECT_TRUE(Decode(key, Cells({c.text}), UnrepresentablePolicy::kNull).result.problem)
        << c.text;
  }
}

TEST(DecodeColumn, TextThatIsNoValueOfTheTypeIsNeverNulled) {
  const std::tuple<DecodeKind, TypeKind, std::string_view> cases[] = {
      {DecodeKind::kBoolean, TypeKind::kBoolean, "true"},
      {DecodeKind::kInt32, TypeKind::kInt, "2147483648"},
      {DecodeKind::kInt64, TypeKind::kLong, "1 "},
      {DecodeKind::kDouble, TypeKind::kDouble, "1,5"},
      {DecodeKind::kDate, TypeKind::kDate, "01/02/2024"},
      {DecodeKind::kTime, TypeKind::kTime, "1:02:03"},
      {DecodeKind::kTimestamp, TypeKind::kTimestamp, "2024-01-02T03:04:05"},
      {DecodeKind::kTimestampTz, TypeKind::kTimestampTz, "2024-01-02 03:04:05"},
      {DecodeKind::kUuid, TypeKind::kUuid, "00112233445566778899aabbccddeeff"},
      {DecodeKind::kBytea, TypeKind::kBinary, "\\000"},
      {DecodeKind::kArray, TypeKind::kString, "{1"},
  };
  for (const auto& [decode, kind, text] : cases) {
    const Decoded decoded =
        Decode(Make(decode, {kind}), Cells({text}), UnrepresentablePolicy::kNull);
    ASSERT_TRUE(decoded.result.problem) << text;
    EXPECT_EQ(decoded.result.problem->kind, DecodeProblem::Kind::kMalformed) << text;
  }
}

TEST(DecodeColumn, ProblemNamesRowColumnAndValue) {
  const Decoded decoded =
      Decode(Make(DecodeKind::kDate, {TypeKind::kDate}), Cells({"2024-01-01", "infinity"}));
  ASSERT_TRUE(decoded.result.problem);
  EXPECT_EQ(decoded.result.problem->row, 1u);
  EXPECT_EQ(decoded.column.size(), 1u);
  const absl::Status status = decoded.result.problem->ToStatus("public.t");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.ToString(),
              HasSubstr("public.t: column \"c\" (some type) has the value \"infinity\""));
}

TEST(DecodeColumn, BytesOfEveryValue) {
  std::string hex = "\\x";
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[i / 16];
    hex += kDigits[i % 16];
    bytes += static_cast<char>(i);
  }
  const Decoded decoded =
      Decode(Make(DecodeKind::kBytea, {TypeKind::kBinary}), Cells({hex, "\\x"}));
  EXPECT_THAT(decoded.column.bytes, ElementsAre(bytes, ""));
  EXPECT_THAT(decoded.column.valid, ElementsAre(1, 1));
}

TEST(DecodeColumn, UuidInBigEndianBytes) {
  const Decoded decoded = Decode(Make(DecodeKind::kUuid, {TypeKind::kUuid}),
                                 Cells({"00112233-4455-6677-8899-aabbccddeeff"}));
  EXPECT_EQ(decoded.column.bytes[0],
            std::string("\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff", 16));
}

TEST(IsUtf8, Table) {
  for (const char* good :
       {"", "ascii", "\u00fc \u20ac \U0001d11e", "eight bytes and \u00e9", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(IsUtf8(good)) << good;
  }
  for (const char* bad : {"\x80", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xc3", "12345678\xff"}) {
    EXPECT_FALSE(IsUtf8(bad)) << bad;
  }
}

TEST(ArrayToJson, Table) {
  struct Case {
    std::string_view text;
    ArrayElement element;
    std::string_view json;
  };
  const Case cases[] = {
      {"{}", ArrayElement::kNumber, "[]"},
      {"{NULL}", ArrayElement::kNumber, "[null]"},
      {"{\"NULL\"}", ArrayElement::kString, R"(["NULL"])"},
      {"{1,NULL,-2147483648}", ArrayElement::kNumber, "[1,null,-2147483648]"},
      {"{1.50,123456789012345678901234567890.1}", ArrayElement::kNumber,
       "[1.50,123456789012345678901234567890.1]"},
      {"{NaN,-Infinity,1e+300,-0}", ArrayElement::kNumber, R"(["NaN","-Infinity",1e+300,-0])"},
      {"{t,f}", ArrayElement::kBoolean, "[true,false]"},
      {R"({a,"b c","d,e","{","\"","\\"})", ArrayElement::kString,
       R"(["a","b c","d,e","{","\"","\\"])"},
      {R"({""})", ArrayElement::kString, R"([""])"},
      {R"({"{\"a\": [1, \"x\"]}","null"})", ArrayElement::kJson, R"([{"a": [1, "x"]},null])"},
      {"{{1,2},{3,4}}", ArrayElement::kNumber, "[[1,2],[3,4]]"},
      {"{{{a}},{{NULL}}}", ArrayElement::kString, R"([[["a"]],[[null]]])"},
      {"[0:1]={1,2}", ArrayElement::kNumber, R"("[0:1]={1,2}")"},
  };
  std::string json;
  for (const Case& c : cases) {
    EXPECT_FALSE(ArrayToJson(c.text, c.element, ',', json)) << c.text;
    EXPECT_EQ(json, c.json);
  }
  EXPECT_FALSE(ArrayToJson("{(2,2),(1,1);(4,4),(3,3)}", ArrayElement::kString, ';', json));
  EXPECT_EQ(json, R"json(["(2,2),(1,1)","(4,4),(3,3)"])json");
  for (const std::string_view broken :
       {"", "1", "{", "{1", "{1,}", "{,1}", "{1}}", "{1}x", "{{1}", "{\"a}", "{a\\"}) {
    EXPECT_TRUE(ArrayToJson(broken, ArrayElement::kString, ',', json)) << broken;
  }
}

}  // namespace
}  // namespace fjord
