#include "cli/app.h"

#include <unistd.h>

#include <iostream>

#include "base/log.h"
#include "base/status.h"
#include "cli/catalog_serve_command.h"
#include "cli/check_command.h"
#include "cli/command_line.h"
#include "cli/demo_command.h"
#include "cli/discover_command.h"
#include "cli/init_command.h"
#include "cli/run_command.h"
#include "cli/schema_command.h"
#include "cli/status_command.h"
#include "cli/version_command.h"
#include "spec/config.h"

namespace fjord {
namespace {

void StartLog(const CommonOptions& options) {
  bool json = options.log_format == LogFormat::kJson;
  if (options.log_format == LogFormat::kAuto) json = ::isatty(STDERR_FILENO) == 0;
  InitLog(options.log_level, json);
}

// Runs the command that the variant holds. Each overload says whether it needs the configuration.
class Dispatcher {
 public:
  explicit Dispatcher(const CommonOptions& common) : common_(common) {}

  ExitCode operator()(const CheckOptions& o) const {
    return WithConfig([&](const Config& config) { return RunCheck(config, o); });
  }
  ExitCode operator()(const DiscoverOptions& o) const {
    return With(LoadConfigForDiscovery(common_.config_file),
                [&](const Config& config) { return RunDiscover(config, o); });
  }
  ExitCode operator()(const InitOptions& o) const {
    return WithConfig([&](const Config& config) { return RunInit(config, o); });
  }
  ExitCode operator()(const RunOptions& o) const {
    return WithConfig([&](const Config& config) { return RunRun(config, o); });
  }
  ExitCode operator()(const StatusOptions& o) const {
    return WithConfig([&](const Config& config) { return RunStatus(config, o); });
  }
  ExitCode operator()(const CatalogServeOptions& o) const {
    return WithConfig([&](const Config& config) { return RunCatalogServe(config, o); });
  }
  ExitCode operator()(const DemoOptions& o) const { return RunDemo(o); }
  ExitCode operator()(const SchemaOptions&) const { return RunSchema(); }
  ExitCode operator()(const VersionOptions&) const { return RunVersion(); }

 private:
  template <class Body>
  ExitCode WithConfig(const Body& body) const {
    return With(LoadConfig(common_.config_file), body);
  }

  template <class Body>
  static ExitCode With(const absl::StatusOr<Config>& config, const Body& body) {
    if (config.ok()) return body(*config);
    // Plain lines and not the log: editors and people jump to file:line:column.
    std::cerr << Message(config.status()) << "\n";
    return ExitCode::kConfiguration;
  }

  const CommonOptions& common_;
};

}  // namespace

int Main(int argc, char** argv) {
  auto parsed = ParseCommandLine(std::vector<std::string>(argv + 1, argv + argc));
  if (const auto* end = std::get_if<EndWithText>(&parsed)) {
    (end->code == ExitCode::kClean ? std::cout : std::cerr) << end->text << "\n";
    return static_cast<int>(end->code);
  }
  const CommandLine& line = std::get<CommandLine>(parsed);
  StartLog(line.common);
  return static_cast<int>(std::visit(Dispatcher(line.common), line.command));
}

}  // namespace fjord
