#include <gtest/gtest.h>

#include "base/json.h"
#include "spec/check.h"
#include "spec/grammar.h"
#include "spec/units.h"

namespace fjord {
namespace {

// The property of that path in the schema; fails the test when it is not there.
const Json* Property(const Json& schema, const std::vector<std::string>& path) {
  const Json* at = &schema;
  for (const std::string& step : path) {
    const Json* properties = at->Find("properties");
    at = properties == nullptr ? at->Find("additionalProperties") : properties->Find(step);
    if (at == nullptr) {
      ADD_FAILURE() << "no " << step;
      return &schema;
    }
  }
  return at;
}

TEST(ConfigJsonSchema, IsJsonWithDescriptionsAndDefaults) {
  const absl::StatusOr<Json> schema = Json::Parse(ConfigJsonSchema());
  ASSERT_TRUE(schema.ok());
  EXPECT_EQ(*schema->GetString("$schema"), "https://json-schema.org/draft/2020-12/schema");
  const Json* every = Property(*schema, {"replications", "shop", "publish", "every"});
  EXPECT_EQ(*every->GetString("pattern"), kDurationPattern);
  EXPECT_EQ(*every->GetString("default"), "500ms");
  EXPECT_TRUE(every->GetString("description").ok());
}

TEST(ConfigJsonSchema, LeavesOutWhatIsNotYet) {
  const std::string text = ConfigJsonSchema();
  EXPECT_EQ(text.find("partitionBy"), std::string::npos);
  EXPECT_EQ(text.find("captures"), std::string::npos);
}

// Every default of the grammar fits its own shape; walks the whole grammar.
void ExpectDefaultsFit(const Shape& shape) {
  for (const Key& key : shape.keys) {
    if (key.use == KeyUse::kNotYet) continue;
    EXPECT_FALSE(key.description.empty()) << key.name;
    if (!key.default_text.empty()) {
      YamlDocument value = ParseYaml(key.default_text);
      EXPECT_TRUE(CheckAgainst(*key.shape, value.root).empty()) << key.name;
    }
    ExpectDefaultsFit(*key.shape);
  }
  for (const ShapePtr& inner : {shape.item, shape.object}) {
    if (inner != nullptr) ExpectDefaultsFit(*inner);
  }
}

TEST(ConfigGrammar, DefaultsFitTheirOwnForm) { ExpectDefaultsFit(ConfigGrammar()); }

TEST(Units, Durations) {
  EXPECT_EQ(ParseDuration("500ms"), absl::Milliseconds(500));
  EXPECT_EQ(ParseDuration("5m"), absl::Minutes(5));
  EXPECT_EQ(ParseDuration("7d"), absl::Hours(168));
  for (const char* text : {"", "5", "m", "5 m", "-5m", "1.5h", "5M", "1h30m", "9999999999s"}) {
    EXPECT_EQ(ParseDuration(text), std::nullopt) << text;
  }
}

TEST(Units, Sizes) {
  EXPECT_EQ(ParseSize("64MiB"), 64 << 20);
  EXPECT_EQ(ParseSize("1000B"), 1000);
  for (const char* text : {"", "64", "64MB", "64mib", "1.5GiB", "-1B"}) {
    EXPECT_EQ(ParseSize(text), std::nullopt) << text;
  }
  EXPECT_EQ(FormatSize(int64_t{64} << 20), "64MiB");
  EXPECT_EQ(FormatSize(1500), "1500B");
  EXPECT_EQ(FormatSize(0), "0B");
}

}  // namespace
}  // namespace fjord
