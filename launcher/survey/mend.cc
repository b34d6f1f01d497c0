// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/survey/mend.h"

namespace lamina::launcher {
namespace {

struct Mend {
  const char* sign;    // part of the problem
  const char* advice;  // {host} stands for the host
};

// The first sign that is there counts.
constexpr Mend kMends[] = {
    {"Lamina is not at", ""},  // it says itself what to do
    {"Exec format error",
     "Lamina there is for another machine: install one for it, and name it by prefix= in a host "
     "file"},
    {"cannot execute binary file",
     "Lamina there is for another machine: install one for it, and name it by prefix= in a host "
     "file"},
    {"error while loading shared libraries",
     "install there the packages that Lamina needs: third_party/install names them"},
    {"it is ", "a job has nodes of one architecture: leave this host out"},
    {"Host key verification failed",
     "look whether the host's key has changed; `ssh {host}` once, by hand, accepts it"},
    {"Permission denied",
     "let your key in with `ssh-copy-id {host}`; `ssh {host} true` must not ask for anything"},
    {"Too many authentication failures", "name the key to use: IdentityFile in ~/.ssh/config"},
    {"Could not resolve hostname",
     "look for its name in /etc/hosts and DNS, or write HostName into ~/.ssh/config"},
    {"Connection refused", "start sshd there, or say where it listens: port= in a host file"},
    {"during banner exchange",
     "something there accepts connections and says nothing: is that sshd, and is the host loaded?"},
    {"timed out", "look whether it is up and may be reached: ping {host}; firewall"},
    {"No route to host", "look whether it is up and may be reached: ping {host}; firewall"},
    {"no shepherd greeted within",
     "start its mpiexec by hand, `ssh {host} PREFIX/bin/mpiexec --version`, and see where it "
     "hangs"},
    {" is there, ",
     "install the same version on both, or name another one by prefix= in a host file"},
    {"no libmpi_abi.so.1 beside", "the installation there is not whole: install it again"},
    {"components only", "install the same components on all hosts"},
    {"no such program", "put the program at the same path there, or on a file system of all hosts"},
    {"its clock is", "set its clock (chrony, ntpd): traces and file times would not fit together"},
};

}  // namespace

std::string MendOf(std::string_view problem, std::string_view host) {
  for (const Mend& mend : kMends) {
    if (problem.find(mend.sign) == std::string_view::npos) continue;
    std::string advice = mend.advice;
    constexpr std::string_view kHole = "{host}";
    for (std::size_t at; (at = advice.find(kHole)) != std::string::npos;)
      advice.replace(at, kHole.size(), host);
    return advice;
  }
  return {};
}

}  // namespace lamina::launcher
