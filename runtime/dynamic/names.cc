// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/dynamic/names.h"

#include <mpi.h>

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/descriptor.h"
#include "runtime/base/name_file.h"
#include "runtime/base/text.h"
#include "runtime/core/process.h"
#include "runtime/dynamic/door.h"
#include "runtime/dynamic/params.h"

namespace lamina::dynamic {
namespace {

constexpr std::uint64_t kAnswerMs = 1000;
// The own launcher may be busy, or ask others, some of which are stopped.
constexpr std::uint64_t kSearchMs = 10'000;

// By service: the connection to the launcher over which the name was published, and whose end takes
// it back; none if the name stands in the file of names alone.
std::map<std::string, Descriptor>& Published() {
  static auto* const published = new std::map<std::string, Descriptor>;
  return *published;
}

// The file of names that this process was told of. Its launcher, if it has one, looks after that.
NameFile File() {
  Params params;
  static_cast<void>(param::Load(core::process->settings, kFields, &params));
  return NameFile(params.names_file);
}

std::string WordOf(NameScope scope) { return scope == NameScope::kRun ? " run" : ""; }

int PublishInFile(const std::string& service, const std::string& port, std::string* why) {
  const NameFile file = File();
  if (file.path().empty()) {
    *why =
        "no mpiexec looks after this process, so there is nobody to keep names; start it with "
        "mpiexec, or name a file of names (LAMINA_DYNAMIC_NAMES_FILE)";
    return MPI_ERR_SERVICE;
  }
  if (Status status = file.Publish(HexOf(service), HexOf(port)); !status.ok()) {
    *why = status.code() == Code::kExists ? "the name \"" + service + "\" is published already"
                                          : std::string(status.message());
    return MPI_ERR_SERVICE;
  }
  Published()[service] = Descriptor();
  return MPI_SUCCESS;
}

}  // namespace

// Names and ports may hold anything, and travel as hexadecimal digits.
int PublishName(const std::string& service, const std::string& port, NameScope scope,
                std::string* why) {
  const std::string door = OwnDoor(core::process->environment);
  if (door.empty()) return PublishInFile(service, port, why);
  std::string answer;
  Result<Descriptor> owner = Ask(
      door, "publish " + HexOf(service) + " " + HexOf(port) + WordOf(scope), kSearchMs, &answer);
  if (owner.ok() && answer == "done") {
    Published()[service] = *std::move(owner);
    return MPI_SUCCESS;
  }
  constexpr std::string_view kRefused = "refused ";
  if (!owner.ok())
    *why = owner.status().message();
  else if (answer.starts_with(kRefused))
    *why = answer.substr(kRefused.size());
  else
    *why = "the name \"" + service + "\" is published already";
  return MPI_ERR_SERVICE;
}

int UnpublishName(const std::string& service, std::string* why) {
  const auto found = Published().find(service);
  if (found != Published().end() && found->second.value() < 0) {
    Published().erase(found);
    const Status status = File().Unpublish(HexOf(service));
    *why = status.message();
    return status.ok() ? MPI_SUCCESS : MPI_ERR_SERVICE;
  }
  if (Published().erase(service) == 0) {
    *why = "this process has not published the name \"" + service + "\"";
    return MPI_ERR_SERVICE;
  }
  // The name has gone once the launcher has answered.
  std::string answer;
  static_cast<void>(
      Ask(OwnDoor(core::process->environment), "unpublish " + HexOf(service), kSearchMs, &answer)
          .ok());
  return MPI_SUCCESS;
}

void UnpublishAllNames() {
  for (const auto& [service, owner] : Published())
    if (owner.value() < 0) static_cast<void>(File().Unpublish(HexOf(service)).ok());
  Published().clear();
}

int LookupName(const std::string& service, NameScope scope, std::string* port, std::string* why) {
  constexpr std::string_view kFound = "name ";
  const std::string own = OwnDoor(core::process->environment);
  std::vector<std::string> doors = {own};
  if (own.empty()) doors = LauncherDoors();
  for (const std::string& door : doors) {
    std::string answer;
    // The own launcher asks the others of its machine.
    const std::string question =
        own.empty() ? "lookup " + HexOf(service) : "find " + HexOf(service) + WordOf(scope);
    if (!Ask(door, question, own.empty() ? kAnswerMs : kSearchMs, &answer).ok() ||
        !answer.starts_with(kFound))
      continue;
    *port = FromHex(std::string_view(answer).substr(kFound.size()));
    return MPI_SUCCESS;
  }
  const NameFile file = File();
  if (own.empty())
    if (const std::string filed = file.Find(HexOf(service)); !filed.empty()) {
      *port = FromHex(filed);
      return MPI_SUCCESS;
    }
  if (scope == NameScope::kRun) {
    *why = "nobody has published the name \"" + service + "\" in this run";
    return MPI_ERR_NAME;
  }
  *why = "nobody has published the name \"" + service +
         "\" in a job of this user whose mpiexec runs where that of this job does" +
         (file.path().empty() ? "; mpiexec --name-server FILE finds names on other machines"
                              : ", nor in " + file.path());
  return MPI_ERR_NAME;
}

}  // namespace lamina::dynamic
