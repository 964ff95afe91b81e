// Answers as S3 servers send them, and texts that are none.
#include "io/s3_xml.h"

#include <gtest/gtest.h>

#include "absl/status/status.h"

namespace fjord {
namespace {

TEST(S3Xml, ErrorAnswer) {
  const auto root = ParseXml(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<Error><Code>NoSuchKey</Code><Message>gone &amp; lost "
      "&#x41;&#228;</Message><Empty/></Error>\n");
  ASSERT_TRUE(root.ok()) << root.status();
  EXPECT_EQ(root->name, "Error");
  EXPECT_EQ(root->TextOf("Code"), "NoSuchKey");
  EXPECT_EQ(root->TextOf("Message"), "gone & lost Aä");
  EXPECT_EQ(root->TextOf("Empty"), "");
  EXPECT_EQ(root->Find("Nothing"), nullptr);
}

TEST(S3Xml, ListingWithNamespacesAttributesAndComments) {
  const auto root = ParseXml(
      "\xEF\xBB\xBF<ns:List xmlns:ns=\"a>b\"><!-- <x> --><ns:Contents "
      "a='1'><Key>a&lt;b&gt;</Key></ns:Contents>"
      "<Contents><Key><![CDATA[c&d]]></Key></Contents></ns:List>");
  ASSERT_TRUE(root.ok()) << root.status();
  ASSERT_EQ(root->children.size(), 2u);
  EXPECT_EQ(root->children[0].TextOf("Key"), "a<b>");
  EXPECT_EQ(root->children[1].TextOf("Key"), "c&d");
}

TEST(S3Xml, WhatIsNotWellFormedIsRefused) {
  for (const char* text : {"", "x", "<a>", "<a></b>", "<a>&unknown;</a>", "<a>&amp</a>", "<a/><b/>",
                           "<>", "<a", "<a><!--", "<!DOCTYPE a><a/>", "<a>&#0;</a>",
                           "<a>&#xD800;</a>", "<a><![CDATA[x</a>", "<?xml"}) {
    EXPECT_EQ(ParseXml(text).status().code(), absl::StatusCode::kDataLoss) << text;
  }
}

TEST(S3Xml, DeepNestingIsRefused) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "<a>";
  EXPECT_EQ(ParseXml(text).status().code(), absl::StatusCode::kDataLoss);
}

TEST(S3Xml, EscapedTextComesBack) {
  const std::string text = "a<b>&\"'";
  const auto root = ParseXml("<a>" + XmlEscape(text) + "</a>");
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(root->text, text);
}

}  // namespace
}  // namespace fjord
