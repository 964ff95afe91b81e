#include "cli/check_command.h"

#include <iostream>

#include "base/json.h"
#include "base/status.h"
#include "base/strings.h"
#include "cli/assemble.h"

namespace fjord {
namespace {

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kError: return "error";
    case Severity::kWarning: return "warning";
    case Severity::kInfo: return "info";
  }
  return "error";
}

std::vector<Finding> CheckSource(const Replication& replication) {
  const absl::StatusOr<ConnectionOptions> connection = SourceConnection(replication);
  if (!connection.ok())
    return {{Severity::kError, "source", std::string(Message(connection.status())), ""}};
  const SourceCheckOptions options = CheckOptionsFor(replication, *connection);
  const absl::StatusOr<SourceFacts> facts = GatherSourceFacts(options);
  if (!facts.ok()) return {{Severity::kError, "source", std::string(Message(facts.status())), ""}};
  return JudgeSource(options, *facts);
}

// Opens the catalog where there is one; makes nothing.
void CheckLake(const Replication& replication, std::vector<Finding>& findings) {
  absl::StatusOr<LakeHandle> lake = OpenLakeForReading(replication);
  absl::Status status = lake.status();
  if (status.ok() && lake->catalog != nullptr) status = lake->catalog->ListNamespaces({}).status();
  if (!status.ok())
    findings.push_back({Severity::kError, "lake", std::string(Message(status)), ""});
}

Json FindingToJson(const Finding& finding) {
  Json json = Json::MakeObject();
  json.Set("severity", SeverityName(finding.severity));
  json.Set("subject", finding.subject);
  json.Set("what", finding.what);
  if (!finding.statement.empty()) json.Set("statement", finding.statement);
  return json;
}

}  // namespace

ExitCode RunCheck(const Config& config, const CheckOptions& options) {
  Json replications = Json::MakeArray();
  bool clean = true;
  for (const auto& [name, replication] : config.replications) {
    std::vector<Finding> findings = CheckSource(replication);
    CheckLake(replication, findings);
    Json list = Json::MakeArray();
    for (const Finding& finding : findings) {
      clean &= finding.severity != Severity::kError;
      list.Push(FindingToJson(finding));
      if (options.output == Output::kJson) continue;
      std::cout << name << ": " << SeverityName(finding.severity) << ": " << finding.subject << ": "
                << RedactPasswords(finding.what) << "\n";
      if (!finding.statement.empty()) std::cout << "    " << finding.statement << "\n";
    }
    if (options.output == Output::kText && findings.empty()) std::cout << name << ": ready\n";
    Json item = Json::MakeObject();
    item.Set("replication", name);
    item.Set("findings", std::move(list));
    replications.Push(std::move(item));
  }
  if (options.output == Output::kJson) {
    Json json = Json::MakeObject();
    json.Set("clean", clean);
    json.Set("replications", std::move(replications));
    std::cout << json.DumpPretty() << "\n";
  }
  return clean ? ExitCode::kClean : ExitCode::kFailure;
}

}  // namespace fjord
