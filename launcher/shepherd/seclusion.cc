// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/shepherd/seclusion.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "runtime/base/descriptor.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

Status Write(const char* path, const std::string& text) {
  const Descriptor file(open(path, O_WRONLY | O_CLOEXEC));
  if (file.value() >= 0 &&
      write(file.value(), text.data(), text.size()) == static_cast<ssize_t>(text.size()))
    return {};
  return SystemError(Code::kUnsupported, errno, "cannot write %s", path);
}

// Ends as the secluded process does.
[[noreturn]] void StayBehind(pid_t secluded) {
  int status = 0;
  while (waitpid(secluded, &status, 0) < 0 && errno == EINTR) continue;
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

}  // namespace

Status Seclude() {
  const unsigned user = geteuid(), group = getegid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) != 0)
    return SystemError(Code::kUnsupported, errno,
                       "the processes of this user cannot be saved, because it may not make "
                       "namespaces here (the settings user.max_user_namespaces and "
                       "kernel.unprivileged_userns_clone allow that)");
  if (Status status = Write("/proc/self/setgroups", "deny"); !status.ok()) return status;
  if (Status status = Write("/proc/self/uid_map", Format("0 %u 1", user)); !status.ok())
    return status;
  if (Status status = Write("/proc/self/gid_map", Format("0 %u 1", group)); !status.ok())
    return status;
  const pid_t secluded = fork();
  if (secluded < 0) return SystemError(Code::kResource, errno, "cannot fork");
  if (secluded > 0) StayBehind(secluded);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0 ||
      mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    return SystemError(Code::kUnsupported, errno, "cannot mount /proc in a namespace of its own");
  return {};
}

}  // namespace lamina::launcher
