#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <sstream>

#include "base/strings.h"

namespace fjord {
namespace {

constexpr std::string_view kAbout =
    "Keeps PostgreSQL tables current in Apache Iceberg. First steps: `fjord demo`, then "
    "docs/guide.md.";

// Commands of later versions.
struct LaterCommand {
  const char* name;
  const char* about;
};
constexpr std::array<LaterCommand, 4> kLater = {{
    {"verify", "not yet: prove that lake and source are equal"},
    {"tables", "not yet: add, remove or copy tables again"},
    {"maintain", "not yet: compact and clean tables"},
    {"source", "not yet: go on after a switch-over of the source"},
}};

const std::map<std::string, LogLevel> kLogLevels = {{"debug", LogLevel::kDebug},
                                                    {"info", LogLevel::kInfo},
                                                    {"warning", LogLevel::kWarning},
                                                    {"error", LogLevel::kError}};
const std::map<std::string, LogFormat> kLogFormats = {
    {"auto", LogFormat::kAuto}, {"text", LogFormat::kText}, {"json", LogFormat::kJson}};

// CLI11's classes around the structs of options.h. Used once.
class Parser {
 public:
  Parser() : app_(std::string(kAbout), "fjord") {
    app_.require_subcommand(1);
    app_.fallthrough();  // `fjord check --config x` and `fjord --config x check`
    AddCommonOptions();
    AddReplicationCommands();
    AddOtherCommands();
    for (const LaterCommand& later : kLater) {
      CLI::App* command = app_.add_subcommand(later.name, later.about);
      command->fallthrough(false)->allow_extras();
      command->callback([this, name = std::string(later.name)] { later_ = name; });
    }
  }

  std::variant<CommandLine, EndWithText> Parse(std::vector<std::string> arguments) {
    const std::vector<std::string> words = arguments;
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    try {
      app_.parse(std::move(arguments));
    } catch (const CLI::ParseError& error) {
      return End(error, words);
    }
    if (later_.has_value()) {
      return EndWithText{StrCat("fjord ", *later_, ": not yet: this version of fjord cannot do it"),
                         ExitCode::kUsage};
    }
    line_.command = *command_;
    return line_;
  }

 private:
  void AddCommonOptions() {
    app_.add_option("--config,-c", line_.common.config_file, "The configuration file")
        ->capture_default_str()
        ->type_name("FILE");
    app_.add_option("--log-level", line_.common.log_level, "debug, info, warning or error")
        ->transform(CLI::CheckedTransformer(kLogLevels).description(""))
        ->type_name("LEVEL");
    app_.add_option("--log-format", line_.common.log_format,
                    "auto, text or json; auto is text on a terminal")
        ->transform(CLI::CheckedTransformer(kLogFormats).description(""))
        ->type_name("FORMAT");
  }

  // A subcommand whose options struct, once its flags are read, is the command.
  template <class Options>
  CLI::App* AddCommand(CLI::App* parent, const char* name, const char* about,
                       const Options* options) {
    CLI::App* command = parent->add_subcommand(name, about);
    command->footer("--config, --log-level and --log-format: see fjord --help.");
    command->callback([this, options] { command_ = *options; });
    return command;
  }

  void AddReplicationCommands() {
    CLI::App* check = AddCommand(
        &app_, "check", "Look at source, catalog and storage, and say what is missing", &check_);
    AddJsonFlag(check, check_.output);
    CLI::App* discover = AddCommand(&app_, "discover", "Propose the tables section", &discover_);
    AddReplicationOption(discover, discover_.replication);
    AddCommand(&app_, "init", "Make the slot and copy the tables; may be stopped and started again",
               &init_);
    AddCommand(&app_, "run", "Copy what is not copied yet, then stream until stopped", &run_);
    CLI::App* status = AddCommand(&app_, "status", "Rows, lag and state of each table", &status_);
    AddJsonFlag(status, status_.output);
  }

  void AddOtherCommands() {
    CLI::App* demo = AddCommand(
        &app_, "demo", "Show everything on this machine, with a database of its own", &demo_);
    demo->add_flag_callback(
        "--keep", [this] { demo_.after = AfterDemo::kKeep; },
        "Leave everything in place at the end");
    CLI::App* catalog = app_.add_subcommand("catalog", "The embedded catalog");
    catalog->require_subcommand(1);
    CLI::App* serve =
        AddCommand(catalog, "serve", "Serve it over the Iceberg REST protocol", &serve_);
    serve->add_option("--listen", serve_.listen, "Address, host:port")
        ->capture_default_str()
        ->type_name("ADDRESS");
    AddReplicationOption(serve, serve_.replication);
    AddCommand(&app_, "schema", "Print the JSON Schema of the configuration file", &schema_);
    AddCommand(&app_, "version", "Print the version", &version_);
  }

  static void AddJsonFlag(CLI::App* command, Output& output) {
    command->add_flag_callback("--json", [&output] { output = Output::kJson; }, "Print JSON");
  }

  static void AddReplicationOption(CLI::App* command, std::string& replication) {
    command->add_option("--replication", replication, "Only this replication")->type_name("NAME");
  }

  // Help, or what is wrong with the command line.
  EndWithText End(const CLI::ParseError& error, const std::vector<std::string>& words) const {
    std::ostringstream out;
    std::ostringstream ignored;
    app_.exit(error, out, ignored);
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success))
      return {out.str(), ExitCode::kClean};
    return {StrCat("fjord: ", Explain(error, words), "\nSee fjord --help."), ExitCode::kUsage};
  }

  // CLI11 says of a mistyped command only that one is missing.
  std::string Explain(const CLI::ParseError& error, const std::vector<std::string>& words) const {
    if (words.empty() || words[0].starts_with("-")) return error.what();
    std::vector<std::string> names;
    for (const CLI::App* command : app_.get_subcommands({})) {
      if (command->get_name() == words[0]) return error.what();
      names.push_back(command->get_name());
    }
    std::string text = StrCat("there is no command \"", words[0], "\"");
    if (const std::optional<std::string> near = Nearest(words[0], names); near.has_value()) {
      StrAppend(&text, "; did you mean `fjord ", *near, "`?");
    }
    return text;
  }

  CLI::App app_;
  CommandLine line_;
  std::optional<Command> command_;
  std::optional<std::string> later_;
  CheckOptions check_;
  DiscoverOptions discover_;
  InitOptions init_;
  RunOptions run_;
  StatusOptions status_;
  DemoOptions demo_;
  CatalogServeOptions serve_;
  SchemaOptions schema_;
  VersionOptions version_;
};

}  // namespace

std::variant<CommandLine, EndWithText> ParseCommandLine(std::vector<std::string> arguments) {
  return Parser().Parse(std::move(arguments));
}

}  // namespace fjord
