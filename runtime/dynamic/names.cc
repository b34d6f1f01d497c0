// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/dynamic/names.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "runtime/base/text.h"
#include "runtime/core/process.h"
#include "runtime/dynamic/door.h"

namespace lamina::dynamic {
namespace {

// Names and ports may hold anything, and travel as hexadecimal digits.
std::string Hex(std::string_view text) {
  std::string digits;
  for (const unsigned char letter : text) digits += Format("%02x", letter);
  return digits;
}

std::string FromHex(std::string_view digits) {
  std::string text;
  for (; digits.size() >= 2; digits.remove_prefix(2)) {
    unsigned letter = 0;
    std::from_chars(digits.data(), digits.data() + 2, letter, 16);
    text += static_cast<char>(letter);
  }
  return text;
}

// Asks the launcher that looks after this process; empty if that cannot be.
std::string AskOwn(const std::string& question, std::string* why) {
  const pid_t launcher = OwnLauncher(core::process->environment);
  if (launcher == 0) {
    *why =
        "no mpiexec on this machine looks after this process, so there is nobody to keep names; "
        "start it with mpiexec";
    return {};
  }
  Result<std::string> answer = AskLauncher(launcher, question);
  if (answer.ok()) return *std::move(answer);
  *why = std::string(answer.status().message());
  return {};
}

}  // namespace

int PublishName(const std::string& service, const std::string& port, std::string* why) {
  const std::string answer =
      AskOwn(Format("publish %d %s %s", getpid(), Hex(service).c_str(), Hex(port).c_str()), why);
  if (answer == "done") return MPI_SUCCESS;
  if (answer == "exists") *why = "the name \"" + service + "\" is published already";
  return MPI_ERR_SERVICE;
}

int UnpublishName(const std::string& service, std::string* why) {
  const std::string answer = AskOwn(Format("unpublish %d %s", getpid(), Hex(service).c_str()), why);
  if (answer == "done") return MPI_SUCCESS;
  if (!answer.empty()) *why = "this process has not published the name \"" + service + "\"";
  return MPI_ERR_SERVICE;
}

int LookupName(const std::string& service, std::string* port, std::string* why) {
  constexpr std::string_view kFound = "name ";
  std::vector<pid_t> launchers = Launchers();
  const pid_t own = OwnLauncher(core::process->environment);
  std::stable_partition(launchers.begin(), launchers.end(),
                        [own](pid_t launcher) { return launcher == own; });
  for (const pid_t launcher : launchers) {
    Result<std::string> answer = AskLauncher(launcher, "lookup " + Hex(service));
    if (!answer.ok() || !answer->starts_with(kFound)) continue;
    *port = FromHex(std::string_view(*answer).substr(kFound.size()));
    return MPI_SUCCESS;
  }
  *why = "nobody has published the name \"" + service + "\" in a job of this user on this machine";
  return MPI_ERR_NAME;
}

}  // namespace lamina::dynamic
