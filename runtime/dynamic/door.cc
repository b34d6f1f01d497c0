// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/dynamic/door.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "runtime/base/clock.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/read_file.h"
#include "runtime/base/roster.h"
#include "runtime/base/text.h"
#include "runtime/core/process.h"

namespace lamina::dynamic {
namespace {

constexpr std::uint64_t kAnswerMs = 1000;

std::string DoorsOfThisUser() { return Format("lamina.%u.", geteuid()); }

}  // namespace

pid_t OwnLauncher(const Environment& environment) {
  const std::string roster = environment.Get(kRosterVariable).value_or("");
  return static_cast<pid_t>(ParseInteger(roster.substr(0, roster.find(':'))).value_or(0));
}

// The kernel lists abstract sockets with an @ in front; those that listen have the flag 00010000.
std::vector<pid_t> Launchers() {
  std::vector<pid_t> found;
  const std::string table = ReadFile("/proc/net/unix").value_or("");
  const std::string name = "@" + DoorsOfThisUser();
  for (const std::string_view line : Split(table, '\n')) {
    const std::size_t at = line.find(name);
    if (at == line.npos || line.find(" 00010000 ") == line.npos) continue;
    const auto process = ParseInteger(line.substr(at + name.size()));
    if (process && *process > 0) found.push_back(static_cast<pid_t>(*process));
  }
  return found;
}

Result<std::string> AskLauncher(pid_t launcher, const std::string& question) {
  const core::Unlocked unlocked;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = DoorsOfThisUser() + std::to_string(launcher);
  std::memcpy(address.sun_path + 1, name.data(),
              std::min(name.size(), sizeof address.sun_path - 1));
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const Descriptor door(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const std::string line = question + "\n";
  if (door.value() < 0 ||
      connect(door.value(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0 ||
      send(door.value(), line.data(), line.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(line.size()))
    return SystemError(Code::kPeerLost, errno, "cannot ask mpiexec %d", launcher);
  // The answer may come from a stranger, because anybody may take any abstract name.
  ucred peer{};
  socklen_t peer_bytes = sizeof peer;
  if (getsockopt(door.value(), SOL_SOCKET, SO_PEERCRED, &peer, &peer_bytes) != 0 ||
      peer.uid != geteuid())
    return Error(Code::kPeerLost, "what answers as mpiexec %d is somebody else's", launcher);
  const std::uint64_t until_ms = MonotonicMs() + kAnswerMs;
  std::string answer;
  while (answer.find('\n') == answer.npos) {
    pollfd ready{door.value(), POLLIN, 0};
    const std::uint64_t now_ms = MonotonicMs();
    char piece[1024];
    ssize_t got = 0;
    if (now_ms < until_ms && poll(&ready, 1, static_cast<int>(until_ms - now_ms)) > 0)
      got = recv(door.value(), piece, sizeof piece, MSG_DONTWAIT);
    if (got <= 0) return Error(Code::kPeerLost, "mpiexec %d gives no answer", launcher);
    answer.append(piece, static_cast<std::size_t>(got));
  }
  return answer.substr(0, answer.find('\n'));
}

}  // namespace lamina::dynamic
