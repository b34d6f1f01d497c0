// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/survey/abilities.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

bool MakesMemfds() {
  const int fd = memfd_create("lamina-check", MFD_CLOEXEC);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

// Ranks read each other's memory as this process reads that of its child, unless Yama knows their
// parents; then they allow it to each other.
bool ReadsPeers() {
  static char there = 'x';
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  if (child < 0) return true;  // not known
  char here = 0;
  iovec local{&here, 1};
  iovec remote{&there, 1};
  const bool read = process_vm_readv(child, &local, 1, &remote, 1, 0) == 1;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return read;
}

bool HasEntries(const char* folder) {
  DIR* directory = opendir(folder);
  if (directory == nullptr) return false;
  bool any = false;
  while (const dirent* entry = readdir(directory)) any = any || entry->d_name[0] != '.';
  closedir(directory);
  return any;
}

// Returns the number in a small file of the kernel's; -1 if there is none.
std::int64_t NumberIn(const char* path) {
  char text[32] = {};
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  const ssize_t bytes = read(fd, text, sizeof text - 1);
  close(fd);
  return bytes > 0 ? ParseInteger(Trim(Split(text, '\n').front())).value_or(-1) : -1;
}

bool HasUserNamespaces() {
  return access("/proc/self/ns/user", F_OK) == 0 &&
         NumberIn("/proc/sys/user/max_user_namespaces") != 0 &&
         NumberIn("/proc/sys/kernel/unprivileged_userns_clone") != 0;
}

}  // namespace

Abilities AbilitiesHere() {
  Abilities abilities;
  abilities.makes_memfds = MakesMemfds();
  abilities.reads_peers = ReadsPeers();
  abilities.has_rdma = HasEntries("/sys/class/infiniband");
  rlimit locked{};
  getrlimit(RLIMIT_MEMLOCK, &locked);
  abilities.locked_bytes = locked.rlim_cur == RLIM_INFINITY ? UINT64_MAX : locked.rlim_cur;
  abilities.has_user_namespaces = HasUserNamespaces();
  // The first process is another user's wherever this matters.
  abilities.sees_processes = access("/proc/1/stat", R_OK) == 0;
  return abilities;
}

std::vector<std::string> Remarks(const Abilities& abilities) {
  std::vector<std::string> remarks;
  if (!abilities.makes_memfds)
    remarks.emplace_back(
        "memfd_create is forbidden (seccomp), so files in /dev/shm or /tmp take its place; allow "
        "it in the container's profile");
  if (!abilities.reads_peers)
    remarks.emplace_back(
        "processes may not read each other's memory (process_vm_readv), so long messages are "
        "copied twice; allow it (seccomp profile, --cap-add SYS_PTRACE, kernel.yama.ptrace_scope)");
  if (abilities.has_rdma && abilities.locked_bytes != UINT64_MAX)
    remarks.push_back(
        Format("only %llu KiB may be locked, which is too little for RDMA; raise memlock to "
               "unlimited (/etc/security/limits.conf, LimitMEMLOCK= of sshd or slurmd)",
               static_cast<unsigned long long>(abilities.locked_bytes >> 10)));
  if (!abilities.has_user_namespaces)
    remarks.emplace_back(
        "user namespaces are forbidden, so containers without privileges (Apptainer, Podman) do "
        "not start; allow them (sysctl user.max_user_namespaces, "
        "kernel.unprivileged_userns_clone)");
  if (!abilities.sees_processes)
    remarks.emplace_back(
        "/proc hides the processes of others (hidepid), so lamina clean does not see leftovers "
        "that run as another user; mount it without hidepid to change that");
  return remarks;
}

}  // namespace lamina::launcher
