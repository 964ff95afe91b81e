#include "base/secret.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <type_traits>

#include "base/status.h"

namespace fjord {
namespace {

template <class T>
concept Printable = requires(std::ostream& out, const T& value) { out << value; };

TEST(Secret, HasNoWayIntoAStream) {
  static_assert(!Printable<Secret>);
  static_assert(!Printable<SecretSource>);
  static_assert(!std::is_convertible_v<Secret, std::string>);
}

TEST(SecretSource, ReadsTheEnvironment) {
  ::setenv("FJORD_TEST_SECRET", "p w", 1);
  EXPECT_EQ(SecretSource::Environment("FJORD_TEST_SECRET").Read()->Reveal(), "p w");
}

TEST(SecretSource, NamesTheVariableThatIsMissing) {
  ::unsetenv("FJORD_TEST_ABSENT");
  const absl::Status status = SecretSource::Environment("FJORD_TEST_ABSENT").Read().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(Message(status).find("export FJORD_TEST_ABSENT"), std::string_view::npos);
}

TEST(SecretSource, AnEmptyVariableIsNoSecret) {
  ::setenv("FJORD_TEST_EMPTY", "", 1);
  EXPECT_FALSE(SecretSource::Environment("FJORD_TEST_EMPTY").Read().ok());
}

TEST(SecretSource, ReadsAFileWithoutItsLastLineBreak) {
  const std::string path = ::testing::TempDir() + "/fjord_secret";
  std::ofstream(path) << "one\ntwo\r\n";
  EXPECT_EQ(SecretSource::File(path).Read()->Reveal(), "one\ntwo");
}

TEST(SecretSource, RefusesAFileWithoutEnd) {
  EXPECT_FALSE(SecretSource::File("/dev/zero").Read().ok());
}

TEST(RedactPasswords, HidesPasswordsInUrlsAndSettings) {
  EXPECT_EQ(RedactPasswords("postgres://u:s3cret@h/db"), "postgres://u:***@h/db");
  EXPECT_EQ(RedactPasswords("to postgres://u:a@b@h:5432/db and http://x:y@z"),
            "to postgres://u:***@h:5432/db and http://x:***@z");
  EXPECT_EQ(RedactPasswords("postgres://h:5432/db"), "postgres://h:5432/db");
  EXPECT_EQ(RedactPasswords("host=h password=s3 user=u"), "host=h password=*** user=u");
  EXPECT_EQ(RedactPasswords("password = 'it\\'s' user=u"), "password = *** user=u");
  EXPECT_EQ(RedactPasswords("postgres://h/db?password=x&user=u"),
            "postgres://h/db?password=***&user=u");
  EXPECT_EQ(RedactPasswords("wrong password for user u"), "wrong password for user u");
}

}  // namespace
}  // namespace fjord
