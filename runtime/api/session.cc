// SPDX-License-Identifier: BSD-3-Clause
// These are sessions (MPI-5.0, section "The Sessions Model"), and what is made without a parent
// communicator: groups from process sets, communicators from groups.
#include "runtime/core/session.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "collectives/select/table.h"
#include "runtime/agreement/across.h"
#include "runtime/agreement/channel.h"
#include "runtime/agreement/make.h"
#include "runtime/api/arguments.h"
#include "runtime/api/hints.h"
#include "runtime/api/process_sets.h"
#include "runtime/assembly/lifecycle.h"
#include "runtime/p2p/buffered.h"
#include "runtime/trace/profile.h"

using lamina::Call;
using lamina::ContextId;
using lamina::PeerId;
using lamina::Rank;
using lamina::api::CopyText;
using lamina::api::Entry;
using lamina::api::HandlerFits;
using lamina::api::PeersInSet;
using lamina::api::ProcessSet;
using lamina::api::ProcessSets;
using lamina::core::Comm;
using lamina::core::Errhandler;
using lamina::core::FindErrhandler;
using lamina::core::FindGroup;
using lamina::core::FindInfo;
using lamina::core::FindSession;
using lamina::core::Group;
using lamina::core::Info;
using lamina::core::Session;

namespace agreement = lamina::agreement;
namespace core = lamina::core;

// Does what REQUIRE does, on a session.
#define REQUIRE_ON(condition, session, error_class, ...)                               \
  do {                                                                                 \
    if (__builtin_expect(!(condition), 0))                                             \
      return ::lamina::core::RaiseOn(session, error_class, entry.name(), __VA_ARGS__); \
  } while (false)

namespace {

// Returns the level asked for, the highest if none was asked for, or -1 if there is no such level.
int ThreadLevelIn(const Info* hints) {
  const std::string* asked = hints != nullptr ? hints->Find("thread_level") : nullptr;
  return asked != nullptr ? core::ThreadLevelNamed(*asked) : static_cast<int>(MPI_THREAD_MULTIPLE);
}

Info* Honoured(const Info* hints, int level) {
  const std::string* kinds = hints != nullptr ? hints->Find("mpi_memory_alloc_kinds") : nullptr;
  Info* honoured = new Info;
  honoured->Set("thread_level", core::ThreadLevelName(level));
  honoured->Set("mpi_memory_alloc_kinds",
                core::SupportedMemoryKinds(kinds != nullptr ? *kinds : ""));
  return honoured;
}

// These are the checked arguments of MPI_Session_init. Handler and hints are held.
struct Wanted {
  Errhandler* handler = nullptr;
  Info* hints = nullptr;
  int level = MPI_THREAD_MULTIPLE;
};

// The library lock is not held when this returns, because initialisation has its own.
int CheckInit(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session, Wanted* wanted) {
  Entry entry(Call::MPI_Session_init);
  Errhandler* handler = FindErrhandler(errhandler);
  if (handler == nullptr || !HandlerFits(*handler, Errhandler::Target::kSession))
    return BadErrhandler(entry, errhandler);
  const Info* hints = FindInfo(info);
  if (hints == nullptr && info != MPI_INFO_NULL)
    return core::RaiseThrough(handler, MPI_ERR_INFO, entry.name(),
                              "info is %p, which is not an info object", static_cast<void*>(info));
  if (session == nullptr)
    return core::RaiseThrough(handler, MPI_ERR_ARG, entry.name(), "session is a null pointer");
  wanted->level = ThreadLevelIn(hints);
  if (wanted->level < 0)
    return core::RaiseThrough(handler, MPI_ERR_INFO_VALUE, entry.name(),
                              "thread_level is \"%s\", which is not a thread level",
                              hints->Find("thread_level")->c_str());
  wanted->hints = Honoured(hints, wanted->level);
  wanted->handler = handler;
  Retain(handler);
  return MPI_SUCCESS;
}

// A call that makes a communicator of a group has its errors handled by the handler it is given
// (MPI-5.0, section 7.4.2).
#define REQUIRE_THROUGH(handler, condition, error_class, ...)                               \
  do {                                                                                      \
    if (__builtin_expect(!(condition), 0))                                                  \
      return ::lamina::core::RaiseThrough(handler, error_class, entry.name(), __VA_ARGS__); \
  } while (false)

// All such calls are given these arguments.
struct Source {
  Errhandler* handler = nullptr;
  Group* members = nullptr;
  const Info* hints = nullptr;
};

int TakeSource(const Entry& entry, MPI_Group group, MPI_Info info, MPI_Errhandler errhandler,
               const void* made, Source* source) {
  source->handler = FindErrhandler(errhandler);
  if (source->handler == nullptr || !HandlerFits(*source->handler, Errhandler::Target::kComm))
    return BadErrhandler(entry, errhandler);
  source->members = FindGroup(group);
  REQUIRE_THROUGH(source->handler, source->members != nullptr, MPI_ERR_GROUP,
                  "the group is %p, which is not a group", static_cast<void*>(group));
  REQUIRE_THROUGH(source->handler, lamina::api::FindHints(info, &source->hints), MPI_ERR_INFO,
                  "info is %p, which is not an info object", static_cast<void*>(info));
  REQUIRE_THROUGH(source->handler, made != nullptr, MPI_ERR_ARG, "newcomm is a null pointer");
  return MPI_SUCCESS;
}

// Checks that the group has this process in it, and that the text is not too long.
int CheckSource(const Entry& entry, const Source& source, const char* stringtag) {
  REQUIRE_THROUGH(source.handler, source.members->self != MPI_UNDEFINED, MPI_ERR_GROUP,
                  "this process is not a member of the group");
  REQUIRE_THROUGH(source.handler, stringtag != nullptr, MPI_ERR_ARG, "stringtag is a null pointer");
  REQUIRE_THROUGH(source.handler, std::strlen(stringtag) <= MPI_MAX_STRINGTAG_LEN, MPI_ERR_ARG,
                  "stringtag has %zu characters, at most %d are allowed", std::strlen(stringtag),
                  MPI_MAX_STRINGTAG_LEN);
  return MPI_SUCCESS;
}

MPI_Comm GiveOut(Comm* made, Errhandler* handler, const Info* hints) {
  Retain(handler);
  Release(made->errhandler);
  made->errhandler = handler;
  lamina::api::TakeHints(made, hints);
  return made->handle;
}

}  // namespace

int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
  Wanted wanted;
  const int error = CheckInit(info, errhandler, session, &wanted);
  if (error != MPI_SUCCESS) return error;
  lamina::Status opened = lamina::assembly::OpenSession(wanted.level);
  if (lamina::trace::profile != nullptr) lamina::api::DescribeWaits();
  const core::Guard guard;
  if (opened.ok()) *session = core::MakeSession(wanted.handler, wanted.hints)->handle;
  Errhandler* handler = wanted.handler;
  int result = MPI_SUCCESS;
  if (!opened.ok()) {
    delete wanted.hints;
    result = core::RaiseThrough(handler, core::ClassOf(opened.code()), "MPI_Session_init", "%s",
                                std::string(opened.message()).c_str());
  }
  Release(handler);
  return result;
}
PROFILED(MPI_Session_init);

int PMPI_Session_finalize(MPI_Session* session) {
  {
    Entry entry(Call::MPI_Session_finalize);
    REQUIRE_POINTER(nullptr, session);
    Session* found = FindSession(*session);
    if (found == nullptr) return BadSession(entry, *session);
    void* address;
    std::int64_t bytes;
    if (found->send_buffer != nullptr)
      lamina::p2p::DetachBuffer(&found->send_buffer, &address, &bytes);
    found->kind = core::Kind::kFreed;  // groups that were not freed still refer to it
    Release(found);
    *session = MPI_SESSION_NULL;
  }
  if (lamina::Status left = lamina::assembly::CloseSession(); !left.ok())
    return core::Raise(nullptr, left, "MPI_Session_finalize");
  return MPI_SUCCESS;
}
PROFILED(MPI_Session_finalize);

int PMPI_Session_get_info(MPI_Session session, MPI_Info* info_used) {
  Entry entry(Call::MPI_Session_get_info);
  Session* found = FindSession(session);
  if (found == nullptr) return BadSession(entry, session);
  REQUIRE_ON(info_used != nullptr, found, MPI_ERR_ARG, "info_used is a null pointer");
  Info* copy = new Info;
  copy->entries = found->info->entries;
  *info_used = core::ToHandle<MPI_Info>(copy);
  return MPI_SUCCESS;
}
PROFILED(MPI_Session_get_info);

int PMPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int* npset_names) {
  Entry entry(Call::MPI_Session_get_num_psets);
  Session* found = FindSession(session);
  if (found == nullptr) return BadSession(entry, session);
  REQUIRE_ON(info == MPI_INFO_NULL || FindInfo(info) != nullptr, found, MPI_ERR_INFO,
             "info is %p, which is not an info object", static_cast<void*>(info));
  REQUIRE_ON(npset_names != nullptr, found, MPI_ERR_ARG, "npset_names is a null pointer");
  *npset_names = static_cast<int>(ProcessSets().size());
  return MPI_SUCCESS;
}
PROFILED(MPI_Session_get_num_psets);

// `pset_len` counts the end mark on the way in and out.
int PMPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int* pset_len,
                              char* pset_name) {
  Entry entry(Call::MPI_Session_get_nth_pset);
  Session* found = FindSession(session);
  if (found == nullptr) return BadSession(entry, session);
  REQUIRE_ON(info == MPI_INFO_NULL || FindInfo(info) != nullptr, found, MPI_ERR_INFO,
             "info is %p, which is not an info object", static_cast<void*>(info));
  const std::vector<ProcessSet> sets = ProcessSets();
  REQUIRE_ON(n >= 0 && n < static_cast<int>(sets.size()), found, MPI_ERR_ARG,
             "n is %d, must be 0..%d", n, static_cast<int>(sets.size()) - 1);
  REQUIRE_ON(pset_len != nullptr && *pset_len >= 0, found, MPI_ERR_ARG,
             "pset_len is a null pointer or negative");
  REQUIRE_ON(*pset_len == 0 || pset_name != nullptr, found, MPI_ERR_ARG,
             "pset_name is a null pointer");
  const std::string& name = sets[static_cast<std::size_t>(n)].name;
  int length;
  if (*pset_len > 0) CopyText(name.c_str(), pset_name, *pset_len, &length);
  *pset_len = static_cast<int>(name.size()) + 1;
  return MPI_SUCCESS;
}
PROFILED(MPI_Session_get_nth_pset);

int PMPI_Session_get_pset_info(MPI_Session session, const char* pset_name, MPI_Info* info) {
  Entry entry(Call::MPI_Session_get_pset_info);
  Session* found = FindSession(session);
  if (found == nullptr) return BadSession(entry, session);
  REQUIRE_ON(pset_name != nullptr, found, MPI_ERR_ARG, "pset_name is a null pointer");
  REQUIRE_ON(info != nullptr, found, MPI_ERR_ARG, "info is a null pointer");
  const std::vector<PeerId> peers = PeersInSet(pset_name);
  REQUIRE_ON(!peers.empty(), found, MPI_ERR_ARG, "there is no process set \"%s\"", pset_name);
  Info* made = new Info;
  made->Set("mpi_size", std::to_string(peers.size()));
  *info = core::ToHandle<MPI_Info>(made);
  return MPI_SUCCESS;
}
PROFILED(MPI_Session_get_pset_info);

int PMPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler) {
  Entry entry(Call::MPI_Session_set_errhandler);
  Session* found = FindSession(session);
  if (found == nullptr) return BadSession(entry, session);
  Errhandler* handler = FindErrhandler(errhandler);
  REQUIRE_ON(handler != nullptr && HandlerFits(*handler, Errhandler::Target::kSession), found,
             MPI_ERR_ERRHANDLER, "errhandler is %p, which is not an error handler for sessions",
             static_cast<void*>(errhandler));
  Retain(handler);
  Release(found->errhandler);
  found->errhandler = handler;
  return MPI_SUCCESS;
}
PROFILED(MPI_Session_set_errhandler);

int PMPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler* errhandler) {
  Entry entry(Call::MPI_Session_get_errhandler);
  Session* found = FindSession(session);
  if (found == nullptr) return BadSession(entry, session);
  REQUIRE_ON(errhandler != nullptr, found, MPI_ERR_ARG, "errhandler is a null pointer");
  Retain(found->errhandler);
  *errhandler = found->errhandler->handle;
  return MPI_SUCCESS;
}
PROFILED(MPI_Session_get_errhandler);

int PMPI_Session_call_errhandler(MPI_Session session, int errorcode) {
  Entry entry(Call::MPI_Session_call_errhandler);
  Session* found = FindSession(session);
  if (found == nullptr) return BadSession(entry, session);
  const char* text = core::ErrorText(errorcode);
  static_cast<void>(core::RaiseOn(found, errorcode, entry.name(), "raised by the application: %s",
                                  text != nullptr ? text : "unknown error code"));
  return MPI_SUCCESS;
}
PROFILED(MPI_Session_call_errhandler);

// A name that no set has gives MPI_GROUP_NULL, and is no error (section 7.3.2).
int PMPI_Group_from_session_pset(MPI_Session session, const char* pset_name, MPI_Group* newgroup) {
  Entry entry(Call::MPI_Group_from_session_pset);
  Session* found = FindSession(session);
  if (found == nullptr) return BadSession(entry, session);
  REQUIRE_ON(pset_name != nullptr, found, MPI_ERR_ARG, "pset_name is a null pointer");
  REQUIRE_ON(newgroup != nullptr, found, MPI_ERR_ARG, "newgroup is a null pointer");
  std::vector<PeerId> peers = PeersInSet(pset_name);
  *newgroup = MPI_GROUP_NULL;
  if (!peers.empty())
    *newgroup = HandleOf(core::MakeGroup(std::move(peers), core::process->self, found));
  return MPI_SUCCESS;
}
PROFILED(MPI_Group_from_session_pset);

int PMPI_Comm_create_from_group(MPI_Group group, const char* stringtag, MPI_Info info,
                                MPI_Errhandler errhandler, MPI_Comm* newcomm) {
  Entry entry(Call::MPI_Comm_create_from_group);
  REQUIRE_INITIALIZED(entry);
  Source source;
  if (const int error = TakeSource(entry, group, info, errhandler, newcomm, &source);
      error != MPI_SUCCESS)
    return error;
  const auto& [handler, members, hints] = source;
  if (members->size() == 0) {
    *newcomm = MPI_COMM_NULL;
    return MPI_SUCCESS;
  }
  if (const int error = CheckSource(entry, source, stringtag); error != MPI_SUCCESS) return error;
  ContextId context{};
  const agreement::Channel channel(agreement::KeyOf(std::string("group ") + stringtag, *members));
  const int error = AgreeContext(channel, agreement::MembersOf(*members), &context);
  REQUIRE_THROUGH(handler, error == MPI_SUCCESS, error, "the members of the group could not agree");
  *newcomm = GiveOut(agreement::Make(members, context, nullptr), handler, hints);
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_create_from_group);

// `remote_group` and `remote_leader` are significant at the local leader only.
int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader,
                                      MPI_Group remote_group, int remote_leader,
                                      const char* stringtag, MPI_Info info,
                                      MPI_Errhandler errhandler, MPI_Comm* newintercomm) {
  Entry entry(Call::MPI_Intercomm_create_from_groups);
  REQUIRE_INITIALIZED(entry);
  Source source;
  if (const int error = TakeSource(entry, local_group, info, errhandler, newintercomm, &source);
      error != MPI_SUCCESS)
    return error;
  const auto& [handler, members, hints] = source;
  if (members->size() == 0) {
    *newintercomm = MPI_COMM_NULL;
    return MPI_SUCCESS;
  }
  if (const int error = CheckSource(entry, source, stringtag); error != MPI_SUCCESS) return error;
  REQUIRE_THROUGH(handler, local_leader >= 0 && local_leader < members->size(), MPI_ERR_RANK,
                  "local_leader is %d, must be 0..%d", local_leader, members->size() - 1);
  const std::string tag(stringtag);
  agreement::Bridge bridge{agreement::Channel(agreement::KeyOf("half " + tag, *members)),
                           agreement::MembersOf(*members),
                           local_leader,
                           {},
                           MPI_PROC_NULL};
  if (members->self == local_leader) {
    const Group* others = FindGroup(remote_group);
    REQUIRE_THROUGH(handler, others != nullptr, MPI_ERR_GROUP,
                    "remote_group is %p, which is not a group", static_cast<void*>(remote_group));
    REQUIRE_THROUGH(handler, remote_leader >= 0 && remote_leader < others->size(), MPI_ERR_RANK,
                    "remote_leader is %d, must be 0..%d", remote_leader, others->size() - 1);
    REQUIRE_THROUGH(handler, agreement::AreDisjoint(*members, *others), MPI_ERR_GROUP,
                    "the two groups have common members");
    bridge.across.emplace("across " + tag);
    bridge.remote_leader =
        static_cast<Rank>(Index(others->peers[static_cast<std::size_t>(remote_leader)]));
  }
  agreement::Agreed agreed;
  const int error = AgreeAcross(bridge, agreement::AsBytes(members->peers), &agreed);
  REQUIRE_THROUGH(handler, error == MPI_SUCCESS, error, "the two groups could not agree");
  Group* remote = core::MakeGroup(agreement::FromBytes<PeerId>(agreed.theirs), core::process->self,
                                  members->session);
  Comm* made = agreement::MakeInter(members, remote, agreed.context, agreed.local_context, nullptr);
  Release(remote);
  *newintercomm = GiveOut(made, handler, hints);
  return MPI_SUCCESS;
}
PROFILED(MPI_Intercomm_create_from_groups);
