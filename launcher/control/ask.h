// SPDX-License-Identifier: BSD-3-Clause
// Finds the launchers that run on this machine, and asks them.
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

// Returns those that `table`, in the form of /proc/net/unix, shows to be listening, ascending by
// process, then by user.
std::vector<Launcher> LaunchersIn(std::string_view table);
// Returns those of all users on this machine, or rather in this network namespace.
std::vector<Launcher> Launchers();

// Returns this user's launcher (root: anybody's) of the process `process` or, if that is 0, the
// only one of this user. kNotFound: there is none, or there are several.
Result<Launcher> FindLauncher(pid_t process);

// Returns the whole answer. kDenied means that the launcher belongs to somebody else or that a
// stranger has taken its name, kPeerLost that it has gone, and kTimeout that it does not answer.
Result<std::string> Ask(const Launcher& launcher, std::string_view question, int timeout_ms);

}  // namespace lamina::launcher::control
