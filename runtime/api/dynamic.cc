// SPDX-License-Identifier: BSD-3-Clause
// This is how jobs start others, meet and part (MPI-5.0, sections 11.7 to 11.10).
//
// Arguments that count at the root alone are checked there, and what the root finds is told to all
// members of the communicator, so that each of them raises the same error.
#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/api/arguments.h"
#include "runtime/api/collective_arguments.h"
#include "runtime/base/text.h"
#include "runtime/dynamic/await.h"
#include "runtime/dynamic/door.h"
#include "runtime/dynamic/names.h"
#include "runtime/dynamic/params.h"
#include "runtime/dynamic/port.h"
#include "runtime/dynamic/port_name.h"
#include "runtime/dynamic/spawn.h"
#include "runtime/dynamic/tie.h"
#include "runtime/p2p/other_jobs.h"

using lamina::Call;
using lamina::Result;
using lamina::Status;
using lamina::api::CollectiveArguments;
using lamina::api::Entry;
using lamina::core::Comm;
using lamina::core::FindComm;
using lamina::core::Info;

namespace core = lamina::core;
namespace dynamic = lamina::dynamic;

namespace {

dynamic::Arrangement Refusal(int error_class, std::string why) {
  dynamic::Arrangement arrangement;
  arrangement.error_class = error_class;
  arrangement.why = std::move(why);
  return arrangement;
}
dynamic::Arrangement Refusal(int error_class, const Status& status) {
  return Refusal(error_class, std::string(status.message()));
}

// False: `handle` is no info and not MPI_INFO_NULL. `info` is null for that.
bool Find(MPI_Info handle, const Info** info) {
  *info = handle == MPI_INFO_NULL ? nullptr : core::FindInfo(handle);
  return *info != nullptr || handle == MPI_INFO_NULL;
}

int RequireWorld(const Entry& entry, Comm* comm = nullptr) {
  REQUIRE(core::world != nullptr, comm, MPI_ERR_OTHER,
          "a process that has only sessions cannot do this; it needs MPI_Init");
  return MPI_SUCCESS;
}

// These calls need the world model, and a communicator of it. Where there is no world, there may be
// a communicator of a session all the same, whose error handler then hears of it.
int CheckComm(const Entry& entry, MPI_Comm handle, int root, Comm** comm) {
  *comm = FindComm(handle);
  if (const int error = RequireWorld(entry, *comm); error != MPI_SUCCESS) return error;
  if (*comm == nullptr) return BadComm(entry, handle);
  REQUIRE(!(*comm)->is_inter(), *comm, MPI_ERR_COMM, "the communicator is an intercommunicator");
  REQUIRE((*comm)->group->session == nullptr, *comm, MPI_ERR_COMM,
          "the communicator belongs to a session; this needs one of the world model");
  REQUIRE(root >= 0 && root < (*comm)->size, *comm, MPI_ERR_ROOT, "root is %d, must be 0..%d", root,
          (*comm)->size - 1);
  return MPI_SUCCESS;
}

// Gives out what the meeting has made, or raises its error.
int Conclude(const Entry& entry, Comm* comm, const dynamic::Encounter& encounter,
             MPI_Comm* newcomm) {
  if (encounter.error_class != MPI_SUCCESS)
    return core::Raise(comm, encounter.error_class, entry.name(), "%s", encounter.why.c_str());
  if (encounter.made != nullptr) core::NoteUnsaved();
  *newcomm = encounter.made != nullptr ? encounter.made->handle : MPI_COMM_NULL;
  return MPI_SUCCESS;
}

dynamic::Wish Refuse(int error_class, std::string why) { return {{}, error_class, std::move(why)}; }

// Reads what the root was given. Everything may be rubbish at other ranks, and is not looked at.
dynamic::Wish ReadWish(int count, char* const commands[], char** const argvs[],
                       const int maxprocs[], const MPI_Info infos[]) {
  dynamic::Wish wish;
  if (count < 1) return Refuse(MPI_ERR_ARG, lamina::Format("count is %d, must be positive", count));
  if (commands == nullptr || maxprocs == nullptr || infos == nullptr)
    return Refuse(MPI_ERR_ARG, "an array is a null pointer");
  int processes = 0;
  for (int i = 0; i < count; ++i) {
    if (commands[i] == nullptr || *commands[i] == '\0')
      return Refuse(MPI_ERR_ARG, "the command is empty or a null pointer");
    if (maxprocs[i] < 0)
      return Refuse(MPI_ERR_ARG,
                    lamina::Format("maxprocs is %d, must not be negative", maxprocs[i]));
    dynamic::Program program;
    if (!Find(infos[i], &program.info))
      return Refuse(MPI_ERR_INFO, "the info is not a valid handle or has been freed");
    program.command = commands[i];
    program.processes = maxprocs[i];
    processes += maxprocs[i];
    if (argvs != nullptr && argvs[i] != nullptr)
      for (char** word = argvs[i]; *word != nullptr; ++word) program.arguments.emplace_back(*word);
    if (maxprocs[i] > 0) wish.programs.push_back(std::move(program));
  }
  if (processes == 0) return Refuse(MPI_ERR_ARG, "maxprocs is 0, so there is nothing to start");
  return wish;
}

// Returns the milliseconds that an info or the parameter allows; 0: for ever.
std::uint64_t TimeoutMs(const Info* info, std::uint32_t otherwise_s) {
  const std::string* const text = info != nullptr ? info->Find("timeout") : nullptr;
  const auto seconds = text != nullptr ? lamina::ParseInteger(*text) : std::nullopt;
  return static_cast<std::uint64_t>(seconds && *seconds >= 0 ? *seconds : otherwise_s) * 1000;
}

dynamic::Params Parameters() {
  dynamic::Params params;
  static_cast<void>(lamina::param::Load(core::process->settings, dynamic::kFields, &params));
  return params;
}

dynamic::Arrangement Accept(const char* port_name, MPI_Info handle) {
  const Info* info;
  if (!Find(handle, &info)) return Refusal(MPI_ERR_INFO, "the info is not a valid handle");
  if (port_name == nullptr) return Refusal(MPI_ERR_ARG, "port_name is a null pointer");
  const std::shared_ptr<dynamic::Port> port = dynamic::FindPort(port_name);
  if (port == nullptr)
    return Refusal(MPI_ERR_PORT, "this process has no such port, or has closed it");
  Result<dynamic::Stream> stream = port->Accept(dynamic::MomentIn(TimeoutMs(info, 0)), -1);
  if (!stream.ok()) return Refusal(MPI_ERR_PORT, stream.status());
  dynamic::Arrangement arrangement;
  arrangement.stream = *std::move(stream);
  return arrangement;
}

dynamic::Arrangement Connect(const char* port_name, MPI_Info handle) {
  const Info* info;
  if (!Find(handle, &info)) return Refusal(MPI_ERR_INFO, "the info is not a valid handle");
  if (port_name == nullptr) return Refusal(MPI_ERR_ARG, "port_name is a null pointer");
  Result<dynamic::PortName> port =
      dynamic::ReadPortName({port_name, strnlen(port_name, MPI_MAX_PORT_NAME)});
  if (!port.ok()) return Refusal(MPI_ERR_PORT, port.status());
  Result<dynamic::Stream> stream =
      dynamic::KnockAt(*port, dynamic::MomentIn(TimeoutMs(info, Parameters().timeout_s)));
  if (!stream.ok()) return Refusal(MPI_ERR_PORT, stream.status());
  dynamic::Arrangement arrangement;
  arrangement.stream = *std::move(stream);
  return arrangement;
}

// The addresses at which a port listens, from the info, the parameter or the shape of the job.
std::string ListenAt(const Info* info) {
  for (const char* key : {"lamina_listen", "ip_address"})
    if (const std::string* text = info != nullptr ? info->Find(key) : nullptr; text != nullptr)
      return *text;
  std::string listen = Parameters().listen;
  if (listen != "auto") return listen;
  // Names in a file are for jobs on other machines.
  return dynamic::IsRunHere() && Parameters().names_file.empty() ? "loopback" : "all";
}

// What MPI_Comm_accept and MPI_Comm_connect have in common.
int MeetOthers(const Entry& entry, MPI_Comm comm, int root, MPI_Comm* newcomm,
               const std::function<dynamic::Arrangement()>& arrange) {
  REQUIRE_INITIALIZED(entry);
  Comm* found;
  if (const int error = CheckComm(entry, comm, root, &found); error != MPI_SUCCESS) return error;
  REQUIRE_POINTER(found, newcomm);
  return Conclude(entry, found, dynamic::Meet(found, root, MPI_ERR_PORT, arrange), newcomm);
}

// The members of the group that may lead to other jobs, if this communicator alone holds it.
std::span<const lamina::PeerId> MembersHeldBy(const Comm& comm) {
  const core::Group& group = comm.is_inter() ? *comm.remote : *comm.group;
  if (group.references > 1) return {};
  return group.peers;
}

bool SpansJobs(const Comm& comm) {
  const auto is_other = [](lamina::PeerId peer) { return lamina::p2p::IsOfOtherJob(peer); };
  return std::any_of(comm.peers, comm.peers + comm.destinations, is_other);
}

}  // namespace

int PMPI_Comm_spawn_multiple(int count, char* array_of_commands[], char** array_of_argv[],
                             const int array_of_maxprocs[], const MPI_Info array_of_info[],
                             int root, MPI_Comm comm, MPI_Comm* intercomm,
                             int array_of_errcodes[]) {
  Entry entry(Call::MPI_Comm_spawn_multiple);
  REQUIRE_INITIALIZED(entry);
  Comm* found;
  if (const int error = CheckComm(entry, comm, root, &found); error != MPI_SUCCESS) return error;
  REQUIRE_POINTER(found, intercomm);
  dynamic::Wish wish;
  if (found->rank == root)
    wish = ReadWish(count, array_of_commands,
                    array_of_argv == MPI_ARGVS_NULL ? nullptr : array_of_argv, array_of_maxprocs,
                    array_of_info);
  const dynamic::Encounter encounter = dynamic::Spawn(found, root, wish);
  if (array_of_errcodes != MPI_ERRCODES_IGNORE)
    std::copy(encounter.codes.begin(), encounter.codes.end(), array_of_errcodes);
  return Conclude(entry, found, encounter, intercomm);
}
PROFILED(MPI_Comm_spawn_multiple);

int PMPI_Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root,
                    MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
  Entry entry(Call::MPI_Comm_spawn);
  REQUIRE_INITIALIZED(entry);
  Comm* found;
  if (const int error = CheckComm(entry, comm, root, &found); error != MPI_SUCCESS) return error;
  REQUIRE_POINTER(found, intercomm);
  dynamic::Wish wish;
  char* const commands[] = {const_cast<char*>(command)};
  char** const argvs[] = {argv};
  if (found->rank == root) wish = ReadWish(1, commands, argvs, &maxprocs, &info);
  const dynamic::Encounter encounter = dynamic::Spawn(found, root, wish);
  if (array_of_errcodes != MPI_ERRCODES_IGNORE)
    std::copy(encounter.codes.begin(), encounter.codes.end(), array_of_errcodes);
  return Conclude(entry, found, encounter, intercomm);
}
PROFILED(MPI_Comm_spawn);

int PMPI_Comm_get_parent(MPI_Comm* parent) {
  Entry entry(Call::MPI_Comm_get_parent);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, parent);
  *parent = core::parent != nullptr ? core::parent->handle : MPI_COMM_NULL;
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_get_parent);

int PMPI_Open_port(MPI_Info info, char* port_name) {
  Entry entry(Call::MPI_Open_port);
  REQUIRE_INITIALIZED(entry);
  if (const int error = RequireWorld(entry); error != MPI_SUCCESS) return error;
  const Info* found;
  if (!Find(info, &found)) return BadInfo(entry, info, nullptr);
  REQUIRE_POINTER(nullptr, port_name);
  const std::string* const asked = found != nullptr ? found->Find("ip_port") : nullptr;
  const auto number = asked != nullptr ? lamina::ParseInteger(*asked) : 0;
  REQUIRE(number && *number >= 0 && *number <= UINT16_MAX, nullptr, MPI_ERR_INFO,
          "the info key ip_port is \"%s\", must be the number of a TCP port", asked->c_str());
  Result<dynamic::PortRange> range = dynamic::ReadPortRange(Parameters().range);
  REQUIRE(range.ok(), nullptr, MPI_ERR_PORT, "%s", std::string(range.status().message()).c_str());
  const auto port = static_cast<std::uint16_t>(*number);
  if (port != 0) *range = {port, port};
  Result<std::string> name = dynamic::OpenPort(ListenAt(found), *range);
  REQUIRE(name.ok(), nullptr, MPI_ERR_PORT, "%s", std::string(name.status().message()).c_str());
  std::memcpy(port_name, name->c_str(), name->size() + 1);
  return MPI_SUCCESS;
}
PROFILED(MPI_Open_port);

int PMPI_Close_port(const char* port_name) {
  Entry entry(Call::MPI_Close_port);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, port_name);
  REQUIRE(dynamic::ClosePort(port_name), nullptr, MPI_ERR_PORT,
          "this process has no such port, or has closed it");
  return MPI_SUCCESS;
}
PROFILED(MPI_Close_port);

int PMPI_Comm_accept(const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                     MPI_Comm* newcomm) {
  Entry entry(Call::MPI_Comm_accept);
  return MeetOthers(entry, comm, root, newcomm, [&] { return Accept(port_name, info); });
}
PROFILED(MPI_Comm_accept);

int PMPI_Comm_connect(const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                      MPI_Comm* newcomm) {
  Entry entry(Call::MPI_Comm_connect);
  return MeetOthers(entry, comm, root, newcomm, [&] { return Connect(port_name, info); });
}
PROFILED(MPI_Comm_connect);

int PMPI_Comm_join(int fd, MPI_Comm* intercomm) {
  Entry entry(Call::MPI_Comm_join);
  REQUIRE_INITIALIZED(entry);
  if (const int error = RequireWorld(entry); error != MPI_SUCCESS) return error;
  REQUIRE_POINTER(nullptr, intercomm);
  const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  REQUIRE(copy >= 0, nullptr, MPI_ERR_ARG, "fd is %d, which is no open descriptor", fd);
  const auto arrange = [copy] {
    Result<dynamic::Stream> stream =
        dynamic::StreamOver(copy, dynamic::MomentIn(std::uint64_t{Parameters().timeout_s} * 1000));
    if (!stream.ok())
      return Refusal(stream.status().code() == lamina::Code::kInvalid ? MPI_ERR_ARG : MPI_ERR_OTHER,
                     stream.status());
    dynamic::Arrangement arrangement;
    arrangement.stream = *std::move(stream);
    return arrangement;
  };
  return Conclude(entry, core::self_comm, dynamic::Meet(core::self_comm, 0, MPI_ERR_OTHER, arrange),
                  intercomm);
}
PROFILED(MPI_Comm_join);

// The barrier makes sure that everything that was sent has been taken. Programs may rely on the
// call being collective also within one job.
int PMPI_Comm_disconnect(MPI_Comm* comm) {
  bool spans_jobs = false;
  {
    Entry entry(Call::MPI_Comm_disconnect);
    REQUIRE_INITIALIZED(entry);
    REQUIRE_POINTER(nullptr, comm);
    Comm* found = FindComm(*comm);
    if (found == nullptr) return BadComm(entry, *comm);
    REQUIRE(found != core::world && found != core::self_comm, found, MPI_ERR_COMM,
            "the communicator is %s, which cannot be disconnected", found->name.c_str());
    const auto meet = [&] {
      return CollectiveArguments(entry, lamina::collective::Operation::kBarrier, *comm);
    };
    const int error = meet().Run();
    spans_jobs = SpansJobs(*found);
    if (spans_jobs) {
      // One who has heard of a loss takes part in what follows too, because others may not have.
      // Whoever has left this barrier knows that all have left the one whose errors are raised, so
      // whoever is lost from now on takes nobody along.
      const int left = meet().RunUnraised();
      if (error == MPI_SUCCESS && left == MPI_SUCCESS) dynamic::LoosenTies(MembersHeldBy(*found));
      // Nobody goes on before the jobs share no fate any more, lest a later death ends the others.
      static_cast<void>(meet().RunUnraised());
    }
    if (error != MPI_SUCCESS) return error;
  }
  if (const int error = PMPI_Comm_free(comm); error != MPI_SUCCESS || !spans_jobs) return error;
  Entry entry(Call::MPI_Comm_disconnect);
  lamina::p2p::Part();
  dynamic::LoosenTies({});
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_disconnect);

namespace {

int CheckName(const Entry& entry, const char* text, const char* what) {
  REQUIRE(text != nullptr && *text != '\0', nullptr, MPI_ERR_ARG, "%s is %s", what,
          text == nullptr ? "a null pointer" : "empty");
  REQUIRE(strnlen(text, MPI_MAX_PORT_NAME) < MPI_MAX_PORT_NAME, nullptr, MPI_ERR_ARG,
          "%s has more than %d characters", what, MPI_MAX_PORT_NAME - 1);
  return MPI_SUCCESS;
}

// What the three calls about names check alike.
int CheckService(const Entry& entry, const char* service, MPI_Info info) {
  if (const int error = RequireWorld(entry); error != MPI_SUCCESS) return error;
  const Info* found;
  if (!Find(info, &found)) return BadInfo(entry, info, nullptr);
  return CheckName(entry, service, "service_name");
}

}  // namespace

namespace {

int ReadScope(const Entry& entry, MPI_Info handle, dynamic::NameScope* scope) {
  const Info* info;
  Find(handle, &info);
  const std::string* const text = info != nullptr ? info->Find("lamina_scope") : nullptr;
  *scope = text != nullptr && *text == "run" ? dynamic::NameScope::kRun : dynamic::NameScope::kUser;
  REQUIRE(text == nullptr || *text == "run" || *text == "user", nullptr, MPI_ERR_INFO,
          "the info key lamina_scope is \"%s\", must be run or user", text->c_str());
  return MPI_SUCCESS;
}

}  // namespace

int PMPI_Publish_name(const char* service_name, MPI_Info info, const char* port_name) {
  Entry entry(Call::MPI_Publish_name);
  REQUIRE_INITIALIZED(entry);
  if (const int error = CheckService(entry, service_name, info); error != MPI_SUCCESS) return error;
  if (const int error = CheckName(entry, port_name, "port_name"); error != MPI_SUCCESS)
    return error;
  std::string why;
  dynamic::NameScope scope;
  if (const int error = ReadScope(entry, info, &scope); error != MPI_SUCCESS) return error;
  REQUIRE(dynamic::PublishName(service_name, port_name, scope, &why) == MPI_SUCCESS, nullptr,
          MPI_ERR_SERVICE, "%s", why.c_str());
  return MPI_SUCCESS;
}
PROFILED(MPI_Publish_name);

int PMPI_Unpublish_name(const char* service_name, MPI_Info info, const char* port_name) {
  Entry entry(Call::MPI_Unpublish_name);
  REQUIRE_INITIALIZED(entry);
  if (const int error = CheckService(entry, service_name, info); error != MPI_SUCCESS) return error;
  if (const int error = CheckName(entry, port_name, "port_name"); error != MPI_SUCCESS)
    return error;
  std::string why;
  REQUIRE(dynamic::UnpublishName(service_name, &why) == MPI_SUCCESS, nullptr, MPI_ERR_SERVICE, "%s",
          why.c_str());
  return MPI_SUCCESS;
}
PROFILED(MPI_Unpublish_name);

int PMPI_Lookup_name(const char* service_name, MPI_Info info, char* port_name) {
  Entry entry(Call::MPI_Lookup_name);
  REQUIRE_INITIALIZED(entry);
  if (const int error = CheckService(entry, service_name, info); error != MPI_SUCCESS) return error;
  REQUIRE_POINTER(nullptr, port_name);
  std::string port, why;
  dynamic::NameScope scope;
  if (const int error = ReadScope(entry, info, &scope); error != MPI_SUCCESS) return error;
  REQUIRE(dynamic::LookupName(service_name, scope, &port, &why) == MPI_SUCCESS, nullptr,
          MPI_ERR_NAME, "%s", why.c_str());
  std::memcpy(port_name, port.c_str(), std::min(port.size() + 1, std::size_t{MPI_MAX_PORT_NAME}));
  port_name[MPI_MAX_PORT_NAME - 1] = '\0';
  return MPI_SUCCESS;
}
PROFILED(MPI_Lookup_name);
