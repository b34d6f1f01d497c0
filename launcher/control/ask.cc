// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/control/ask.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <tuple>

#include "runtime/base/patience.h"
#include "runtime/base/text.h"

namespace lamina::launcher::control {
namespace {

constexpr std::string_view kPrefix = "lamina.";
constexpr std::string_view kListening = "00010000";  // __SO_ACCEPTCON

class Socket {
 public:
  Socket() : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::string NameOf(uid_t user, pid_t process) { return Format("lamina.%u.%d", user, process); }

Address AddressOf(std::string_view name) {
  Address address;
  address.name.sun_family = AF_UNIX;
  name = name.substr(0, sizeof address.name.sun_path - 1);
  std::memcpy(address.name.sun_path + 1, name.data(), name.size());
  address.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

// The columns are Num: RefCount Protocol Flags Type St Inode Path. An abstract name begins with
// '@'.
std::vector<Launcher> LaunchersIn(std::string_view table) {
  std::vector<Launcher> found;
  for (const std::string_view line : Split(table, '\n')) {
    const std::size_t at = line.find('@');
    if (at == std::string_view::npos) continue;
    const std::string_view name = line.substr(at + 1);
    if (!name.starts_with(kPrefix) || line.substr(0, at).find(kListening) == line.npos) continue;
    const auto parts = Split(name.substr(kPrefix.size()), '.');
    if (parts.size() != 2) continue;
    const auto user = ParseInteger(parts[0]);
    const auto process = ParseInteger(parts[1]);
    if (!user || !process || *user < 0 || *user > UINT32_MAX || *process <= 0 ||
        *process > INT32_MAX)
      continue;
    found.push_back({static_cast<uid_t>(*user), static_cast<pid_t>(*process)});
  }
  std::sort(found.begin(), found.end(), [](const Launcher& one, const Launcher& other) {
    return std::tie(one.process, one.user) < std::tie(other.process, other.user);
  });
  return found;
}

std::vector<Launcher> Launchers() {
  std::ifstream file("/proc/net/unix", std::ios::binary);
  return LaunchersIn(std::string(std::istreambuf_iterator<char>(file), {}));
}

// A stranger may take a name with any process in it, which must not hide the user's own.
Result<Launcher> FindLauncher(pid_t process) {
  std::vector<Launcher> found;
  for (const Launcher& launcher : Launchers()) {
    const bool own = launcher.user == geteuid();
    if (process == launcher.process && (own || geteuid() == 0)) return launcher;
    if (process == 0 && own) found.push_back(launcher);
  }
  if (found.size() == 1) return found.front();
  if (process != 0) return Error(Code::kNotFound, "no mpiexec runs here as process %d", process);
  if (found.empty()) return Error(Code::kNotFound, "no job runs here");
  std::string processes;
  for (const Launcher& launcher : found)
    processes += (processes.empty() ? "" : ", ") + std::to_string(launcher.process);
  return Error(Code::kNotFound, "several jobs run here: say the number of one's mpiexec (%s)",
               processes.c_str());
}

Result<std::string> Ask(const Launcher& launcher, std::string_view question, int timeout_ms) {
  const Socket socket;
  const Address address = AddressOf(NameOf(launcher.user, launcher.process));
  if (socket.fd() < 0) return SystemError(Code::kResource, errno, "cannot make a socket");
  if (connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address.name), address.bytes) != 0)
    return SystemError(Code::kPeerLost, errno, "cannot reach mpiexec %d", launcher.process);
  // The answer may come from a stranger, because anybody may take any abstract name.
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (getsockopt(socket.fd(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 ||
      peer.uid != launcher.user)
    return Error(Code::kDenied, "what answers as mpiexec %d belongs to user %u, not %u",
                 launcher.process, peer.uid, launcher.user);
  const std::string line = std::string(question) + "\n";
  if (send(socket.fd(), line.data(), line.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(line.size()))
    return SystemError(Code::kPeerLost, errno, "cannot ask mpiexec %d", launcher.process);
  Patience patience(static_cast<std::uint64_t>(timeout_ms));
  std::string answer;
  for (;;) {
    pollfd ready{socket.fd(), POLLIN, 0};
    const int wait_ms = patience.NextMs();
    if (wait_ms == 0)
      return Error(Code::kTimeout, "mpiexec %d did not answer within %g s", launcher.process,
                   timeout_ms / 1000.0);
    if (poll(&ready, 1, wait_ms) <= 0) continue;
    char piece[16384];
    const ssize_t got = read(socket.fd(), piece, sizeof piece);
    if (got > 0) answer.append(piece, static_cast<std::size_t>(got));
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) continue;
    if (got == 0 && !answer.empty()) return answer;
    return Error(launcher.user == geteuid() ? Code::kPeerLost : Code::kDenied,
                 "mpiexec %d gave no answer", launcher.process);
  }
}

}  // namespace lamina::launcher::control
