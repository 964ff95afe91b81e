// Programs that the demo starts: they die with us.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace fjord {

struct ChildOptions {
  std::vector<std::string> command;
  std::string user;         // run as this user; empty: as ourselves
  std::string output_file;  // standard output and error; empty: ours
};

// Starts a program and returns its process id.
absl::StatusOr<pid_t> StartChild(const ChildOptions& options);
// Waits for its end; an error unless it ended with 0.
absl::Status WaitChild(pid_t pid, const std::string& name);
// Signals it, and again with SIGKILL after some seconds; returns when it is gone.
void EndChild(pid_t pid, int signal);

}  // namespace fjord
