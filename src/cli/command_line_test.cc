#include "cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fjord {
namespace {

using ::testing::HasSubstr;

CommandLine Parsed(std::vector<std::string> arguments) {
  auto result = ParseCommandLine(std::move(arguments));
  const auto* line = std::get_if<CommandLine>(&result);
  if (line == nullptr) {
    ADD_FAILURE() << std::get<EndWithText>(result).text;
    return {};
  }
  return *line;
}

EndWithText Ended(std::vector<std::string> arguments) {
  auto result = ParseCommandLine(std::move(arguments));
  const auto* end = std::get_if<EndWithText>(&result);
  if (end == nullptr) {
    ADD_FAILURE() << "it was accepted";
    return {};
  }
  return *end;
}

TEST(CommandLine, CommonOptionsStandBeforeAndAfterTheCommand) {
  EXPECT_EQ(Parsed({"--config", "a.yaml", "run"}).common.config_file, "a.yaml");
  EXPECT_EQ(Parsed({"run", "--config", "a.yaml"}).common.config_file, "a.yaml");
  EXPECT_EQ(Parsed({"catalog", "serve", "--config", "a.yaml"}).common.config_file, "a.yaml");
  EXPECT_EQ(Parsed({"run"}).common.config_file, "fjord.yaml");
}

TEST(CommandLine, LogOptions) {
  const CommonOptions common = Parsed({"run", "--log-level", "debug", "--log-format=json"}).common;
  EXPECT_EQ(common.log_level, LogLevel::kDebug);
  EXPECT_EQ(common.log_format, LogFormat::kJson);
  EXPECT_EQ(Ended({"run", "--log-level", "loud"}).code, ExitCode::kUsage);
}

TEST(CommandLine, OptionsOfCommands) {
  EXPECT_EQ(std::get<StatusOptions>(Parsed({"status", "--json"}).command).output, Output::kJson);
  EXPECT_EQ(std::get<CheckOptions>(Parsed({"check"}).command).output, Output::kText);
  EXPECT_EQ(std::get<DemoOptions>(Parsed({"demo", "--keep"}).command).after, AfterDemo::kKeep);
  const auto serve = std::get<CatalogServeOptions>(
      Parsed({"catalog", "serve", "--listen", "127.0.0.1:0", "--replication", "shop"}).command);
  EXPECT_EQ(serve.listen, "127.0.0.1:0");
  EXPECT_EQ(serve.replication, "shop");
}

TEST(CommandLine, HelpIsNoError) {
  EXPECT_EQ(Ended({"--help"}).code, ExitCode::kClean);
  EXPECT_THAT(Ended({"--help"}).text, HasSubstr("discover"));
  EXPECT_THAT(Ended({"status", "--help"}).text, HasSubstr("--json"));
}

TEST(CommandLine, AMistypedCommandGetsTheNearestOne) {
  const EndWithText end = Ended({"chek"});
  EXPECT_EQ(end.code, ExitCode::kUsage);
  EXPECT_THAT(end.text, HasSubstr("did you mean `fjord check`?"));
}

TEST(CommandLine, WithoutACommand) { EXPECT_EQ(Ended({}).code, ExitCode::kUsage); }

TEST(CommandLine, UnknownOptionsAreRefused) {
  EXPECT_EQ(Ended({"run", "--fast"}).code, ExitCode::kUsage);
}

TEST(CommandLine, CommandsOfLaterVersionsSayNotYet) {
  for (const char* name : {"verify", "tables", "maintain", "source"}) {
    const EndWithText end = Ended({name, "add", "--fast", "x"});
    EXPECT_EQ(end.code, ExitCode::kUsage);
    EXPECT_THAT(end.text, HasSubstr("not yet"));
  }
}

}  // namespace
}  // namespace fjord
