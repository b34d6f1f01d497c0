// SPDX-License-Identifier: BSD-3-Clause
// These are communicators (MPI-5.0, sections 7.4, 7.6.1 and 7.8). Making one has three steps: agree
// on a context with the members of the parent (runtime/agreement), make a group, and hang
// collectives on it.
#include <algorithm>
#include <cstring>
#include <vector>

#include "collectives/select/table.h"
#include "runtime/agreement/across.h"
#include "runtime/agreement/channel.h"
#include "runtime/agreement/duplication.h"
#include "runtime/agreement/make.h"
#include "runtime/api/arguments.h"
#include "runtime/api/hints.h"
#include "runtime/core/topology.h"
#include "runtime/p2p/p2p.h"

using lamina::Call;
using lamina::ContextId;
using lamina::Rank;
using lamina::api::CopyText;
using lamina::api::Entry;
using lamina::api::FindHints;
using lamina::core::Comm;
using lamina::core::FindComm;
using lamina::core::FindGroup;
using lamina::core::Group;
using lamina::core::Info;

namespace core = lamina::core;

namespace {

namespace agreement = lamina::agreement;

int RaiseAgreement(const Entry& entry, Comm* parent, int error) {
  return core::Raise(parent, error, entry.name(),
                     "the processes could not agree on a context for the new communicator");
}

int AgreeContext(const Entry& entry, Comm* parent, ContextId* context) {
  const int error = lamina::p2p::AgreeContext(parent, context);
  return error == MPI_SUCCESS ? error : RaiseAgreement(entry, parent, error);
}

int RequireIntra(const Entry& entry, Comm* comm) {
  REQUIRE(!comm->is_inter(), comm, MPI_ERR_COMM, "the communicator is an intercommunicator");
  return MPI_SUCCESS;
}

// Makes a duplicate without contexts. `hints` may be null.
Comm* MakeTwin(Comm* parent, const Info* hints) {
  Comm* made = parent->is_inter() ? core::MakeInterComm(parent->group, parent->remote, ContextId{},
                                                        ContextId{}, parent)
                                  : core::MakeComm(parent->group, ContextId{}, parent);
  if (parent->topology != nullptr) made->topology = new core::Topology(*parent->topology);
  lamina::api::TakeHints(made, hints);
  return made;
}

// Copies attributes and gives out the twin, or frees it.
int Furnish(const Entry& entry, Comm* parent, Comm* twin) {
  const int error =
      CopyAttributes(core::Holder::kComm, parent->handle, parent->attributes, &twin->attributes);
  if (error == MPI_SUCCESS) return MPI_SUCCESS;
  static_cast<void>(Release(twin));
  return core::Raise(parent, error, entry.name(), "an attribute's copy function returned %d",
                     error);
}

int Duplicate(const Entry& entry, Comm* parent, const Info* hints, MPI_Comm* newcomm) {
  agreement::Agreed agreed;
  const int error = parent->is_inter()
                        ? agreement::AgreeAcross(agreement::BridgeOf(parent), {}, &agreed)
                        : lamina::p2p::AgreeContext(parent, &agreed.context);
  if (error != MPI_SUCCESS) return RaiseAgreement(entry, parent, error);
  Comm* twin = MakeTwin(parent, hints);
  twin->context = agreed.context;
  if (twin->local != nullptr) twin->local->context = agreed.local_context;
  if (twin->local != nullptr) lamina::collective::Attach(twin->local);
  lamina::collective::Attach(twin);
  if (const int failed = Furnish(entry, parent, twin); failed != MPI_SUCCESS) return failed;
  *newcomm = twin->handle;
  return MPI_SUCCESS;
}

// Attributes are copied now, because the duplicate is what MPI_Comm_dup would have made at this
// moment. A copy function that fails does so here alone, so the other processes are still served.
int BeginDuplicate(const Entry& entry, Comm* parent, const Info* hints, MPI_Comm* newcomm,
                   MPI_Request* request) {
  Comm* twin = MakeTwin(parent, hints);
  Retain(twin);
  const int failed = Furnish(entry, parent, twin);
  core::Request* started = agreement::StartDuplication(parent, twin);
  if (failed == MPI_SUCCESS) {
    *newcomm = twin->handle;
    *request = core::ToHandle<MPI_Request>(started);
  } else if (started->complete) {
    core::FreeRequest(started);
  } else {
    started->orphan = true;
  }
  static_cast<void>(Release(twin));
  return failed;
}

struct Choice {
  int color;
  int key;
};

// Returns the ranks that chose `color`, by key; equal keys keep the old order.
std::vector<Rank> WhoChose(int color, const std::vector<Choice>& choices) {
  std::vector<Rank> ranks;
  for (std::size_t rank = 0; rank < choices.size(); ++rank)
    if (choices[rank].color == color) ranks.push_back(static_cast<Rank>(rank));
  std::stable_sort(ranks.begin(), ranks.end(), [&choices](Rank one, Rank two) {
    return choices[static_cast<std::size_t>(one)].key < choices[static_cast<std::size_t>(two)].key;
  });
  return ranks;
}

// Splits with one Allgather of (color, key), and for an intercommunicator a swap of the tables;
// then everybody sorts out their own group. All colours share one context, because a process is
// never a member of two of them.
int Split(const Entry& entry, Comm* parent, int color, int key, MPI_Comm* newcomm) {
  Comm* local = parent->is_inter() ? parent->local : parent;
  const Choice mine{color, key};
  std::vector<Choice> all(static_cast<std::size_t>(local->size));
  const int gathered = PMPI_Allgather(&mine, 2, MPI_INT, all.data(), 2, MPI_INT, local->handle);
  agreement::Agreed agreed;
  const int error = parent->is_inter()
                        ? AgreeAcross(agreement::BridgeOf(parent), agreement::AsBytes(all), &agreed)
                        : lamina::p2p::AgreeContext(parent, &agreed.context);
  if (gathered != MPI_SUCCESS) return gathered;  // others may wait for this process above
  if (error != MPI_SUCCESS) return RaiseAgreement(entry, parent, error);
  *newcomm = MPI_COMM_NULL;
  if (color == MPI_UNDEFINED) return MPI_SUCCESS;
  Group* members = agreement::Subgroup(*parent->group, WhoChose(color, all));
  if (!parent->is_inter()) {
    *newcomm = agreement::Make(members, agreed.context, parent)->handle;
  } else if (const std::vector<Rank> others =
                 WhoChose(color, agreement::FromBytes<Choice>(agreed.theirs));
             !others.empty()) {
    Group* remote = agreement::Subgroup(*parent->remote, others);
    *newcomm =
        agreement::MakeInter(members, remote, agreed.context, agreed.local_context, parent)->handle;
    Release(remote);
  }
  Release(members);
  return MPI_SUCCESS;
}

int CheckSubgroup(const Entry& entry, const Group& group, Comm* parent) {
  REQUIRE(agreement::IsWithin(group, *parent->group), parent, MPI_ERR_GROUP,
          "the group has members that are not in the communicator");
  return MPI_SUCCESS;
}

// This is MPI_Comm_create on an intercommunicator: each side gives a subgroup of its own, and both
// must have members for anything to be made.
int CreateInter(const Entry& entry, Comm* parent, Group* members, MPI_Comm* newcomm) {
  std::vector<Rank> mine;
  for (Rank rank = 0; rank < members->size(); ++rank) {
    const auto& peers = parent->group->peers;
    mine.push_back(static_cast<Rank>(
        std::find(peers.begin(), peers.end(), members->peers[static_cast<std::size_t>(rank)]) -
        peers.begin()));
  }
  agreement::Agreed agreed;
  const int error = AgreeAcross(agreement::BridgeOf(parent), agreement::AsBytes(mine), &agreed);
  if (error != MPI_SUCCESS) return RaiseAgreement(entry, parent, error);
  *newcomm = MPI_COMM_NULL;
  const auto theirs = agreement::FromBytes<Rank>(agreed.theirs);
  if (members->self == MPI_UNDEFINED || theirs.empty()) return MPI_SUCCESS;
  Group* remote = agreement::Subgroup(*parent->remote, theirs);
  *newcomm =
      agreement::MakeInter(members, remote, agreed.context, agreed.local_context, parent)->handle;
  Release(remote);
  return MPI_SUCCESS;
}

}  // namespace

int PMPI_Comm_size(MPI_Comm comm, int* size) {
  Entry entry(Call::MPI_Comm_size);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  REQUIRE_POINTER(found, size);
  *size = found->size;
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_size);

int PMPI_Comm_rank(MPI_Comm comm, int* rank) {
  Entry entry(Call::MPI_Comm_rank);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  REQUIRE_POINTER(found, rank);
  *rank = found->rank;
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_rank);

int PMPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
  Entry entry(Call::MPI_Comm_group);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  REQUIRE_POINTER(found, group);
  Retain(found->group);
  *group = HandleOf(found->group);
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_group);

int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int* result) {
  Entry entry(Call::MPI_Comm_compare);
  REQUIRE_INITIALIZED(entry);
  Comm* one = FindComm(comm1);
  if (one == nullptr) return BadComm(entry, comm1);
  Comm* two = FindComm(comm2);
  if (two == nullptr) return BadComm(entry, comm2);
  REQUIRE_POINTER(one, result);
  if (one == two) {
    *result = MPI_IDENT;
    return MPI_SUCCESS;
  }
  if (one->is_inter() != two->is_inter()) {
    *result = MPI_UNEQUAL;
    return MPI_SUCCESS;
  }
  int groups;
  const int error = PMPI_Group_compare(HandleOf(one->group), HandleOf(two->group), &groups);
  if (error != MPI_SUCCESS) return error;
  int remotes = MPI_IDENT;
  if (one->is_inter())
    static_cast<void>(PMPI_Group_compare(HandleOf(one->remote), HandleOf(two->remote), &remotes));
  const int worse = std::max(groups, remotes);  // MPI_IDENT < MPI_SIMILAR < MPI_UNEQUAL
  *result = worse == MPI_IDENT ? MPI_CONGRUENT : worse;
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_compare);

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  Entry entry(Call::MPI_Comm_dup);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  REQUIRE_POINTER(found, newcomm);
  return Duplicate(entry, found, nullptr, newcomm);
}
PROFILED(MPI_Comm_dup);

int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  Entry entry(Call::MPI_Comm_dup_with_info);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const Info* hints;
  if (!FindHints(info, &hints)) return BadInfo(entry, info, found);
  REQUIRE_POINTER(found, newcomm);
  return Duplicate(entry, found, hints, newcomm);
}
PROFILED(MPI_Comm_dup_with_info);

int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  Entry entry(Call::MPI_Comm_idup);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  REQUIRE_POINTER(found, newcomm);
  REQUIRE_POINTER(found, request);
  return BeginDuplicate(entry, found, nullptr, newcomm, request);
}
PROFILED(MPI_Comm_idup);

int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm,
                             MPI_Request* request) {
  Entry entry(Call::MPI_Comm_idup_with_info);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const Info* hints;
  if (!FindHints(info, &hints)) return BadInfo(entry, info, found);
  REQUIRE_POINTER(found, newcomm);
  REQUIRE_POINTER(found, request);
  return BeginDuplicate(entry, found, hints, newcomm, request);
}
PROFILED(MPI_Comm_idup_with_info);

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  Entry entry(Call::MPI_Comm_create);
  REQUIRE_INITIALIZED(entry);
  Comm* parent = FindComm(comm);
  if (parent == nullptr) return BadComm(entry, comm);
  Group* members = FindGroup(group);
  if (members == nullptr) return BadGroup(entry, group);
  REQUIRE_POINTER(parent, newcomm);
  if (const int error = CheckSubgroup(entry, *members, parent); error != MPI_SUCCESS) return error;
  if (parent->is_inter()) return CreateInter(entry, parent, members, newcomm);
  ContextId context{};
  if (const int error = AgreeContext(entry, parent, &context); error != MPI_SUCCESS) return error;
  *newcomm = MPI_COMM_NULL;
  if (members->self == MPI_UNDEFINED) return MPI_SUCCESS;
  *newcomm = agreement::Make(members, context, parent)->handle;
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_create);

int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  Entry entry(Call::MPI_Comm_create_group);
  REQUIRE_INITIALIZED(entry);
  Comm* parent = FindComm(comm);
  if (parent == nullptr) return BadComm(entry, comm);
  Group* members = FindGroup(group);
  if (members == nullptr) return BadGroup(entry, group);
  REQUIRE(tag >= 0, parent, MPI_ERR_TAG, "tag is %d, must not be negative", tag);
  REQUIRE_POINTER(parent, newcomm);
  if (const int error = RequireIntra(entry, parent); error != MPI_SUCCESS) return error;
  if (const int error = CheckSubgroup(entry, *members, parent); error != MPI_SUCCESS) return error;
  *newcomm = MPI_COMM_NULL;
  if (members->self == MPI_UNDEFINED) return MPI_SUCCESS;
  ContextId context{};
  const int error = AgreeContext(agreement::Channel(parent, parent->MakingContext(), tag),
                                 agreement::MembersOf(*members, *parent), &context);
  if (error != MPI_SUCCESS) return RaiseAgreement(entry, parent, error);
  *newcomm = agreement::Make(members, context, parent)->handle;
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_create_group);

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  Entry entry(Call::MPI_Comm_split);
  REQUIRE_INITIALIZED(entry);
  Comm* parent = FindComm(comm);
  if (parent == nullptr) return BadComm(entry, comm);
  REQUIRE(color >= 0 || color == MPI_UNDEFINED, parent, MPI_ERR_ARG,
          "color is %d, must not be negative unless it is MPI_UNDEFINED", color);
  REQUIRE_POINTER(parent, newcomm);
  return Split(entry, parent, color, key, newcomm);
}
PROFILED(MPI_Comm_split);

int PMPI_Comm_free(MPI_Comm* comm) {
  Entry entry(Call::MPI_Comm_free);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, comm);
  Comm* found = FindComm(*comm);
  if (found == nullptr) return BadComm(entry, *comm);
  REQUIRE(found != core::world && found != core::self_comm, found, MPI_ERR_COMM,
          "the communicator is %s, which cannot be freed", found->name.c_str());
  // If a delete function fails, so does the call, and the communicator is still there (section
  // 7.7.2). Operations that are pending keep it, without its attributes.
  const int error = TryDeleteAllAttributes(core::Holder::kComm, found->handle, &found->attributes);
  REQUIRE(error == MPI_SUCCESS, found, error, "an attribute's delete function returned %d", error);
  if (found == core::parent) core::parent = nullptr;
  static_cast<void>(Release(found));
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_free);

int PMPI_Comm_set_name(MPI_Comm comm, const char* comm_name) {
  Entry entry(Call::MPI_Comm_set_name);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  REQUIRE_POINTER(found, comm_name);
  found->name.assign(comm_name, strnlen(comm_name, MPI_MAX_OBJECT_NAME - 1));
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_set_name);

int PMPI_Comm_get_name(MPI_Comm comm, char* comm_name, int* resultlen) {
  Entry entry(Call::MPI_Comm_get_name);
  REQUIRE_INITIALIZED(entry);
  if (comm == MPI_COMM_NULL) {
    CopyText("MPI_COMM_NULL", comm_name, MPI_MAX_OBJECT_NAME, resultlen);
    return MPI_SUCCESS;
  }
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  REQUIRE_POINTER(found, comm_name);
  REQUIRE_POINTER(found, resultlen);
  CopyText(found->name.c_str(), comm_name, MPI_MAX_OBJECT_NAME, resultlen);
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_get_name);

int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info) {
  Entry entry(Call::MPI_Comm_set_info);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  const Info* hints;
  if (!FindHints(info, &hints)) return BadInfo(entry, info, found);
  lamina::api::TakeHints(found, hints);
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_set_info);

int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info* info_used) {
  Entry entry(Call::MPI_Comm_get_info);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  REQUIRE_POINTER(found, info_used);
  Info* used = new Info;
  lamina::api::ListHints(*found, used);
  *info_used = core::ToHandle<MPI_Info>(used);
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_get_info);
