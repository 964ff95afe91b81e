#include "base/ids.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "base/status.h"

namespace fjord {
namespace {

TEST(StrongId, OneKindDoesNotBecomeAnother) {
  static_assert(!std::is_convertible_v<uint64_t, Lsn>);
  static_assert(!std::is_convertible_v<Lsn, uint64_t>);
  static_assert(!std::is_constructible_v<Xid, Oid>);
  static_assert(!std::is_assignable_v<SnapshotId&, SequenceNumber>);
  EXPECT_LT(Lsn(1), Lsn(2));
  EXPECT_EQ(Lsn(), Lsn(0));
}

TEST(Lsn, IsWrittenAsPostgresWritesIt) {
  EXPECT_EQ(FormatLsn(Lsn(0)), "0/0");
  EXPECT_EQ(FormatLsn(Lsn(0x16b374d848)), "16/B374D848");
  EXPECT_EQ(FormatLsn(Lsn(0x100000001)), "1/1");
  EXPECT_EQ(FormatLsn(Lsn(UINT64_MAX)), "FFFFFFFF/FFFFFFFF");
}

TEST(Lsn, IsReadInEitherCaseAndWithLeadingZeros) {
  EXPECT_EQ(*ParseLsn("16/b374d848"), Lsn(0x16b374d848));
  EXPECT_EQ(*ParseLsn("0/00ABCDEF"), Lsn(0xabcdef));
  EXPECT_EQ(*ParseLsn("FFFFFFFF/FFFFFFFF"), Lsn(UINT64_MAX));
}

TEST(Lsn, OtherTextsAreRefusedWithTheText) {
  for (const char* text : {"", "/", "1", "1/", "/1", "100000000/0", "0/100000000", "1/2/3", "g/0",
                           "-1/0", "1/ 2", "0x1/2"}) {
    const absl::Status status = ParseLsn(text).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text;
    EXPECT_NE(Message(status).find(text), std::string_view::npos) << text;
  }
}

}  // namespace
}  // namespace fjord
