// SPDX-License-Identifier: BSD-3-Clause
// Finding the launchers that run on this machine, and asking them.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace lamina::launcher::control {

struct Address {
  sockaddr_un name{};
  socklen_t bytes = 0;
};

std::string NameOf(uid_t user, pid_t process);  // "lamina.UID.PID", without the leading zero byte
Address AddressOf(std::string_view name);

struct Launcher {
  uid_t user = 0;
  pid_t process = 0;
  friend bool operator==(const Launcher&, const Launcher&) = default;
};

// Those that `table`, in the form of /proc/net/unix, shows to be listening; ascending by process.
std::vector<Launcher> LaunchersIn(std::string_view table);
// Of this machine (this network namespace), all users.
std::vector<Launcher> Launchers();

// The whole answer. kDenied: it belongs to somebody else, or the name is worn by a stranger;
// kPeerLost: it has gone; kTimeout: it does not answer.
Result<std::string> Ask(const Launcher& launcher, std::string_view question, int timeout_ms);

}  // namespace lamina::launcher::control
