// SPDX-License-Identifier: BSD-3-Clause
// A stand-in for libbproc.so.4 with the documented behaviour of the few functions a launcher calls.
// Its nodes are this machine: 0 and 3 are up, 1 is down, 2 is a hole in the numbering. Or, where
// BPROC_DOUBLE_HOSTS names some, these hosts are nodes 0, 1, … and all up; BPROC_DOUBLE_AGENT is a
// program that runs what follows on the host that it is given.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kInvalidNode = 300;
constexpr int kNodeDown = 301;

struct Io {
  int fd;
  short type, flags;
  union {
    char address[16];
    struct {
      int flags, mode;
      long offset;
      char name[256];
    } file;
  } d;
};

// Reads a variable of the process that has loaded this, as it was started with.
std::string Variable(const std::string& name) {
  std::ifstream file("/proc/self/environ", std::ios::binary);
  for (std::string assignment; std::getline(file, assignment, '\0');)
    if (assignment.compare(0, name.size() + 1, name + "=") == 0)
      return assignment.substr(name.size() + 1);
  return {};
}

std::vector<std::string> Hosts() {
  std::vector<std::string> hosts;
  std::istringstream words(Variable("BPROC_DOUBLE_HOSTS"));
  for (std::string name; words >> name;) hosts.push_back(name);
  return hosts;
}

const char* StatusOf(int node) {
  if (const auto hosts = Hosts(); !hosts.empty())
    return node >= 0 && static_cast<size_t>(node) < hosts.size() ? "up" : nullptr;
  if (node == 0 || node == 3) return "up";
  return node == 1 ? "down" : nullptr;
}

[[noreturn]] void Execute(int position, int node, const Io* io, int io_count, const char* command,
                          char* const* argv, char* const* environment) {
  for (int i = 0; i < io_count; ++i) {
    const int fd = open(io[i].d.file.name, io[i].d.file.flags, io[i].d.file.mode);
    if (fd >= 0 && fd != io[i].fd) {
      dup2(fd, io[i].fd);
      close(fd);
    }
  }
  char rank[32];
  snprintf(rank, sizeof rank, "BPROC_RANK=%07d", position);
  std::vector<char*> own;
  for (; *environment != nullptr; ++environment)
    own.push_back(strcmp(*environment, "BPROC_RANK=XXXXXXX") == 0 ? rank : *environment);
  own.push_back(nullptr);
  if (const auto hosts = Hosts(); !hosts.empty()) {
    std::string agent = Variable("BPROC_DOUBLE_AGENT");
    std::string host = hosts[static_cast<size_t>(node)];
    std::vector<char*> words = {agent.data(), host.data(), const_cast<char*>(command)};
    for (++argv; *argv != nullptr; ++argv) words.push_back(*argv);
    words.push_back(nullptr);
    execve(agent.c_str(), words.data(), own.data());
  }
  execve(command, argv, own.data());
  _exit(errno);
}

}  // namespace

extern "C" {

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int bproc_version(void*) { return 0; }
EXPORTED int bproc_currnode() { return -1; }
EXPORTED int bproc_numnodes() {
  const auto hosts = Hosts();
  return hosts.empty() ? 3 : static_cast<int>(hosts.size());
}

EXPORTED int bproc_nodestatus(int node, char* status, int bytes) {
  const char* text = StatusOf(node);
  if (text == nullptr) {
    errno = kInvalidNode;
    return -1;
  }
  strncpy(status, text, static_cast<size_t>(bytes));
  return static_cast<int>(strlen(text));
}

EXPORTED int bproc_access(int node, int) {
  if (StatusOf(node) != nullptr) return 0;
  errno = kInvalidNode;
  return -1;
}

EXPORTED const char* bproc_strerror(int error) {
  if (error < 0) error = -error;
  if (error == kInvalidNode) return "Invalid node number";
  return error == kNodeDown ? "Node is down" : strerror(error);
}

EXPORTED int bproc_vexecmove_io(int count, int* nodes, int* pids, Io* io, int io_count,
                                const char* command, char* const argv[],
                                char* const environment[]) {
  if (access(command, X_OK) != 0) return -1;
  for (int i = 0; i < count; ++i) {
    const char* status = StatusOf(nodes[i]);
    if (status == nullptr || strcmp(status, "up") != 0) {
      pids[i] = status == nullptr ? -kInvalidNode : -kNodeDown;
      continue;
    }
    pids[i] = fork();
    if (pids[i] == 0) Execute(i, nodes[i], io, io_count, command, argv, environment);
    if (pids[i] < 0) pids[i] = -errno;
  }
  return count;
}

}  // extern "C"
