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

#include "runtime/base/descriptor.h"
#include "runtime/base/dynamic_words.h"
#include "runtime/base/patience.h"
#include "runtime/base/read_file.h"
#include "runtime/base/text.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/core/process.h"

namespace lamina::dynamic {
namespace {

constexpr std::uint64_t kGrownMs = 1000;

std::string DoorsOfThisUser() { return Format("lamina.%u.", geteuid()); }

// A door is that of this user, because anybody may take any abstract name.
bool IsOfThisUser(int door) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  return getsockopt(door, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == geteuid();
}

}  // namespace

std::string OwnDoor(const Environment& environment) {
  return environment.Get(kDoorVariable).value_or("");
}

bool IsRunHere() {
  const bootstrap::Identity& identity = core::process->identity;
  const std::string door = OwnDoor(core::process->environment);
  return !door.empty() && !door.ends_with(kShepherdsDoor) &&
         identity.local_peers.size() == identity.job_ranks;
}

bool HasGrown() {
  std::string answer;
  const std::string door = OwnDoor(core::process->environment);
  return Ask(door, "grown", kGrownMs, &answer).ok() && answer == "yes";
}

// The kernel lists abstract sockets with an @ in front; those that listen have the flag 00010000.
std::vector<std::string> LauncherDoors() {
  std::vector<std::string> found;
  const std::string table = ReadFile("/proc/net/unix").value_or("");
  const std::string name = "@" + DoorsOfThisUser();
  for (const std::string_view line : Split(table, '\n')) {
    const std::size_t at = line.find(name);
    if (at == line.npos || line.find(" 00010000 ") == line.npos) continue;
    if (ParseInteger(line.substr(at + name.size()))) found.emplace_back(line.substr(at + 1));
  }
  return found;
}

Result<Descriptor> Knock(const std::string& door, const std::string& question) {
  const core::Unlocked unlocked;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::min(door.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, door.data(), length);
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  Descriptor guest(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const std::string line = question + "\n";
  if (guest.value() < 0 ||
      connect(guest.value(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0)
    return SystemError(Code::kPeerLost, errno, "cannot reach mpiexec at @%s", door.c_str());
  if (!IsOfThisUser(guest.value()))
    return Error(Code::kPeerLost, "what answers at @%s is somebody else's", door.c_str());
  if (send(guest.value(), line.data(), line.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(line.size()))
    return SystemError(Code::kPeerLost, errno, "cannot ask mpiexec at @%s", door.c_str());
  return guest;
}

Result<Descriptor> Ask(const std::string& door, const std::string& question,
                       std::uint64_t timeout_ms, std::string* answer) {
  Result<Descriptor> guest = Knock(door, question);
  if (!guest.ok()) return guest;
  const core::Unlocked unlocked;
  Patience patience(timeout_ms);
  std::string heard;
  while (heard.find('\n') == heard.npos) {
    pollfd ready{guest->value(), POLLIN, 0};
    const int wait_ms = patience.NextMs();
    if (wait_ms > 0 && poll(&ready, 1, wait_ms) <= 0) continue;
    char piece[1024];
    const ssize_t got = wait_ms > 0 ? recv(guest->value(), piece, sizeof piece, MSG_DONTWAIT) : 0;
    if (got <= 0) return Error(Code::kPeerLost, "mpiexec at @%s gives no answer", door.c_str());
    heard.append(piece, static_cast<std::size_t>(got));
  }
  *answer = heard.substr(0, heard.find('\n'));
  return guest;
}

}  // namespace lamina::dynamic
