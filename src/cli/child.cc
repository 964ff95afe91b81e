#include "cli/child.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "absl/time/clock.h"
#include "base/strings.h"

namespace fjord {

absl::StatusOr<pid_t> StartChild(const ChildOptions& options) {
  const passwd* user = nullptr;
  if (!options.user.empty()) {
    user = ::getpwnam(options.user.c_str());
    if (user == nullptr)
      return absl::FailedPreconditionError(StrCat("no such user: ", options.user));
  }
  std::vector<char*> arguments;
  for (const std::string& argument : options.command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0)
    return absl::UnavailableError(
        StrCat("cannot start ", options.command[0], ": ", std::strerror(errno)));
  if (pid > 0) return pid;
  // In the child: only calls that are safe after a fork.
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (!options.output_file.empty()) {
    const int fd = ::open(options.output_file.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0644);
    if (fd >= 0) {
      ::dup2(fd, STDOUT_FILENO);
      ::dup2(fd, STDERR_FILENO);
    }
  }
  if (user != nullptr && (::setgroups(0, nullptr) != 0 || ::setgid(user->pw_gid) != 0 ||
                          ::setuid(user->pw_uid) != 0)) {
    ::_exit(126);
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

absl::Status WaitChild(pid_t pid, const std::string& name) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  return absl::InternalError(StrCat(
      name, " failed", WIFEXITED(status) ? StrCat(" with exit status ", WEXITSTATUS(status)) : ""));
}

void EndChild(pid_t pid, int signal) {
  ::kill(pid, signal);
  for (int i = 0; i < 200; ++i) {
    if (::waitpid(pid, nullptr, WNOHANG) != 0) return;
    absl::SleepFor(absl::Milliseconds(50));
  }
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

}  // namespace fjord
