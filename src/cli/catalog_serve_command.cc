#include "cli/catalog_serve_command.h"

#include <condition_variable>
#include <iostream>
#include <mutex>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/rest_server.h"
#include "cli/assemble.h"
#include "cli/stop_signal.h"

namespace fjord {
namespace {

struct Address {
  std::string host;
  int port = 0;
};

// "127.0.0.1:8181", "[::1]:8181".
absl::StatusOr<Address> ParseAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  const std::optional<int> port =
      colon == std::string_view::npos ? std::nullopt : ParseInt<int>(text.substr(colon + 1));
  if (!port || *port < 0 || *port > 65535 || colon == 0) {
    return absl::InvalidArgumentError(
        StrCat("--listen ", text, ": give a host and a port, like 127.0.0.1:8181"));
  }
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return Address{std::string(host), *port};
}

absl::StatusOr<const Replication*> ChosenReplication(const Config& config,
                                                     const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [each, replication] : config.replications) names.push_back(each);
  const std::string all = Join(names, ", ");
  if (name.empty() && names.size() == 1) return &config.replications.begin()->second;
  if (name.empty()) {
    return absl::InvalidArgumentError(
        StrCat(config.file, " has several replications: choose one with --replication: ", all));
  }
  const auto it = config.replications.find(name);
  if (it != config.replications.end()) return &it->second;
  return absl::InvalidArgumentError(
      StrCat(config.file, " has no replication ", name, "; it has: ", all));
}

// Ends with the first SIGINT or SIGTERM.
class StopWait {
 public:
  void Stop() {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopped_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;  // guarded by mutex_
};

absl::Status Serve(const Config& config, const CatalogServeOptions& options) {
  StopWait stop;
  const StopSignal signal([&stop] { stop.Stop(); });
  ASSIGN_OR_RETURN(const Address address, ParseAddress(options.listen));
  ASSIGN_OR_RETURN(const Replication* replication, ChosenReplication(config, options.replication));
  const auto* embedded = std::get_if<EmbeddedCatalogConfig>(&replication->lake.catalog);
  if (embedded == nullptr) {
    return absl::InvalidArgumentError(
        StrCat("replication ", replication->name,
               " keeps its tables in a REST catalog: readers attach to that one"));
  }
  ASSIGN_OR_RETURN(const LakeHandle lake, OpenLake(*replication));
  ASSIGN_OR_RETURN(const std::unique_ptr<CatalogServer> server,
                   CatalogServer::Start({.host = address.host,
                                         .port = address.port,
                                         .locations_under = WarehouseLocation(*embedded)},
                                        lake.catalog.get()));
  const bool is_ipv6 = address.host.find(':') != std::string::npos;
  std::cout << StrCat("The catalog is served on http://", is_ipv6 ? "[" : "", address.host,
                      is_ipv6 ? "]" : "", ":", server->port())
            << std::endl;
  stop.Wait();
  return absl::OkStatus();
}

}  // namespace

ExitCode RunCatalogServe(const Config& config, const CatalogServeOptions& options) {
  const absl::Status status = Serve(config, options);
  if (status.ok()) return ExitCode::kClean;
  std::cerr << "fjord catalog serve: " << Message(status) << "\n";
  return ExitCodeFor(status);
}

}  // namespace fjord
