// SPDX-License-Identifier: BSD-3-Clause
// Communicators (MPI-5.0, sections 7.4, 7.6.1 and 7.8). Making one is: agree on a context with the
// members of the parent, make a group, hang collectives on it.
#include <algorithm>
#include <cstring>
#include <vector>

#include "collectives/select/table.h"
#include "runtime/api/arguments.h"
#include "runtime/core/topology.h"
#include "runtime/p2p/engine.h"
#include "runtime/p2p/p2p.h"

using lamina::Call;
using lamina::ContextId;
using lamina::PeerId;
using lamina::Rank;
using lamina::api::CopyText;
using lamina::api::Entry;
using lamina::core::Comm;
using lamina::core::FindComm;
using lamina::core::FindGroup;
using lamina::core::FindInfo;
using lamina::core::Group;
using lamina::core::Info;

namespace core = lamina::core;

namespace {

// The communicator over `group`, whose context has been agreed. Takes over the group's reference.
Comm* Make(Group* group, ContextId context, const Comm* parent) {
  Comm* comm = core::MakeComm(group, context, parent);
  Release(group);
  lamina::collective::Attach(comm);
  return comm;
}

int AgreeContext(const Entry& entry, Comm* parent, ContextId* context) {
  const int error = lamina::p2p::AgreeContext(parent, context);
  REQUIRE(error == MPI_SUCCESS, parent, error,
          "no context could be agreed for the new communicator");
  return MPI_SUCCESS;
}

int RequireIntra(const Entry& entry, Comm* comm) {
  REQUIRE(!comm->is_inter(), comm, MPI_ERR_UNSUPPORTED_OPERATION,
          "this is not written yet for intercommunicators");
  return MPI_SUCCESS;
}

int Duplicate(const Entry& entry, Comm* parent, const Info* hints, MPI_Comm* newcomm) {
  if (const int error = RequireIntra(entry, parent); error != MPI_SUCCESS) return error;
  ContextId context{};
  if (const int error = AgreeContext(entry, parent, &context); error != MPI_SUCCESS) return error;
  Retain(parent->group);
  Comm* made = Make(parent->group, context, parent);
  const int error =
      CopyAttributes(core::Holder::kComm, parent->handle, parent->attributes, &made->attributes);
  if (error != MPI_SUCCESS) {
    static_cast<void>(Release(made));
    return core::Raise(parent, error, entry.name(), "an attribute's copy function returned %d",
                       error);
  }
  if (parent->topology != nullptr) made->topology = new core::Topology(*parent->topology);
  if (hints != nullptr) {
    made->info = new Info;
    made->info->entries = hints->entries;
  }
  *newcomm = made->handle;
  return MPI_SUCCESS;
}

struct Member {
  int color;
  int key;
  Rank rank;
};

// One Allgather of (color, key), then everybody sorts out their own group. Ties keep the old order.
int Split(const Entry& entry, Comm* parent, int color, int key, MPI_Comm* newcomm) {
  if (const int error = RequireIntra(entry, parent); error != MPI_SUCCESS) return error;
  const int mine[2] = {color, key};
  std::vector<int> all(2 * static_cast<std::size_t>(parent->size));
  int error = PMPI_Allgather(mine, 2, MPI_INT, all.data(), 2, MPI_INT, parent->handle);
  if (error != MPI_SUCCESS) return error;
  ContextId context{};
  if (error = AgreeContext(entry, parent, &context); error != MPI_SUCCESS) return error;
  if (color == MPI_UNDEFINED) {
    *newcomm = MPI_COMM_NULL;
    return MPI_SUCCESS;
  }
  std::vector<Member> members;
  for (Rank rank = 0; rank < parent->size; ++rank)
    if (all[2 * rank] == color) members.push_back({color, all[2 * rank + 1], rank});
  std::stable_sort(members.begin(), members.end(),
                   [](const Member& one, const Member& two) { return one.key < two.key; });
  std::vector<PeerId> peers;
  peers.reserve(members.size());
  for (const Member& member : members) peers.push_back(parent->peers[member.rank]);
  *newcomm = Make(core::MakeGroup(std::move(peers), core::process->self), context, parent)->handle;
  return MPI_SUCCESS;
}

// Every member of `group` must be one of `parent`'s.
bool IsWithin(const Group& group, const Comm& parent) {
  std::vector<PeerId> members = parent.group->peers;
  std::sort(members.begin(), members.end());
  return std::all_of(group.peers.begin(), group.peers.end(), [&members](PeerId peer) {
    return std::binary_search(members.begin(), members.end(), peer);
  });
}

int CheckSubgroup(const Entry& entry, const Group& group, Comm* parent) {
  REQUIRE(IsWithin(group, *parent), parent, MPI_ERR_GROUP,
          "the group has members that are not in the communicator");
  return MPI_SUCCESS;
}

// Agreement among the members of `group` alone: its rank 0 makes a context and tells the others,
// one message each. `tag` keeps concurrent calls apart (section 7.4.2); the messages travel in the
// parent's collective context under tags that collectives do not use.
int AgreeContextIn(const Group& group, Comm* parent, int tag, ContextId* context) {
  constexpr int kTagBase = 0x7f000000;
  const int message_tag = kTagBase | (tag & 0xffff);
  const auto rank_of = [parent](PeerId peer) {
    const auto& peers = parent->group->peers;
    return static_cast<Rank>(std::find(peers.begin(), peers.end(), peer) - peers.begin());
  };
  std::uint64_t word = 0;
  const lamina::datatype::Buffer data{&word, 1, lamina::datatype::FindDatatype(MPI_UINT64_T)};
  if (group.self == 0) {
    word = Index(lamina::p2p::TheEngine().NewContext());
    for (Rank rank = 1; rank < group.size(); ++rank) {
      const int error = lamina::p2p::Send(
          {parent, parent->CollectiveContext(), rank_of(group.peers[rank]), message_tag}, data,
          core::Request::Mode::kStandard);
      if (error != MPI_SUCCESS) return error;
    }
  } else {
    const int error = lamina::p2p::Receive(
        {parent, parent->CollectiveContext(), rank_of(group.peers[0]), message_tag}, data,
        MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
  }
  *context = ContextId{static_cast<std::underlying_type_t<ContextId>>(word)};
  return MPI_SUCCESS;
}

// Hints of the application, MPI_INFO_NULL: none. False if the handle is no info object.
bool FindHints(MPI_Info info, const Info** hints) {
  *hints = FindInfo(info);
  return *hints != nullptr || info == MPI_INFO_NULL;
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

int PMPI_Comm_test_inter(MPI_Comm comm, int* flag) {
  Entry entry(Call::MPI_Comm_test_inter);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  REQUIRE_POINTER(found, flag);
  *flag = found->is_inter();
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_test_inter);

int PMPI_Comm_remote_size(MPI_Comm comm, int* size) {
  Entry entry(Call::MPI_Comm_remote_size);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  REQUIRE(found->is_inter(), found, MPI_ERR_COMM, "the communicator is no intercommunicator");
  REQUIRE_POINTER(found, size);
  *size = found->remote->size();
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_remote_size);

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

int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group* group) {
  Entry entry(Call::MPI_Comm_remote_group);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  REQUIRE(found->is_inter(), found, MPI_ERR_COMM, "the communicator is no intercommunicator");
  REQUIRE_POINTER(found, group);
  Retain(found->remote);
  *group = HandleOf(found->remote);
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_remote_group);

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
  if (!FindHints(info, &hints)) return BadInfo(entry, info);
  REQUIRE_POINTER(found, newcomm);
  return Duplicate(entry, found, hints, newcomm);
}
PROFILED(MPI_Comm_dup_with_info);

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  Entry entry(Call::MPI_Comm_create);
  REQUIRE_INITIALIZED(entry);
  Comm* parent = FindComm(comm);
  if (parent == nullptr) return BadComm(entry, comm);
  Group* members = FindGroup(group);
  if (members == nullptr) return BadGroup(entry, group);
  REQUIRE_POINTER(parent, newcomm);
  if (const int error = RequireIntra(entry, parent); error != MPI_SUCCESS) return error;
  if (const int error = CheckSubgroup(entry, *members, parent); error != MPI_SUCCESS) return error;
  ContextId context{};
  if (const int error = AgreeContext(entry, parent, &context); error != MPI_SUCCESS) return error;
  *newcomm = MPI_COMM_NULL;
  if (members->self == MPI_UNDEFINED) return MPI_SUCCESS;
  Retain(members);
  *newcomm = Make(members, context, parent)->handle;
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
  const int error = AgreeContextIn(*members, parent, tag, &context);
  REQUIRE(error == MPI_SUCCESS, parent, error,
          "no context could be agreed for the new communicator");
  Retain(members);
  *newcomm = Make(members, context, parent)->handle;
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

// By node for MPI_COMM_TYPE_SHARED. No other kind of hardware is known here, and where none is the
// result is MPI_COMM_NULL (section 7.4.2).
int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  Entry entry(Call::MPI_Comm_split_type);
  REQUIRE_INITIALIZED(entry);
  Comm* parent = FindComm(comm);
  if (parent == nullptr) return BadComm(entry, comm);
  const Info* hints;
  if (!FindHints(info, &hints)) return BadInfo(entry, info);
  REQUIRE_POINTER(parent, newcomm);
  const std::string* wanted = hints != nullptr ? hints->Find("mpi_hw_resource_type") : nullptr;
  const bool by_node =
      split_type == MPI_COMM_TYPE_SHARED || (split_type == MPI_COMM_TYPE_HW_GUIDED &&
                                             wanted != nullptr && *wanted == "mpi_shared_memory");
  REQUIRE(by_node || split_type == MPI_UNDEFINED || split_type == MPI_COMM_TYPE_HW_GUIDED ||
              split_type == MPI_COMM_TYPE_HW_UNGUIDED ||
              split_type == MPI_COMM_TYPE_RESOURCE_GUIDED,
          parent, MPI_ERR_ARG, "split_type is %d, which is none of the MPI_COMM_TYPE_ constants",
          split_type);
  const int color = by_node ? static_cast<int>(core::process->identity.local_peers.front())
                            : static_cast<int>(MPI_UNDEFINED);
  return Split(entry, parent, color, key, newcomm);
}
PROFILED(MPI_Comm_split_type);

int PMPI_Comm_free(MPI_Comm* comm) {
  Entry entry(Call::MPI_Comm_free);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, comm);
  Comm* found = FindComm(*comm);
  if (found == nullptr) return BadComm(entry, *comm);
  REQUIRE(found != core::world && found != core::self_comm, found, MPI_ERR_COMM,
          "the communicator is %s, which cannot be freed", found->name.c_str());
  const int error = Release(found);
  REQUIRE(error == MPI_SUCCESS, nullptr, error, "an attribute's delete function returned %d",
          error);
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
  if (!FindHints(info, &hints)) return BadInfo(entry, info);
  if (hints == nullptr) return MPI_SUCCESS;
  if (found->info == nullptr) found->info = new Info;
  for (const auto& [key, value] : hints->entries) found->info->Set(key, value);
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_set_info);

int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info* info_used) {
  Entry entry(Call::MPI_Comm_get_info);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  REQUIRE_POINTER(found, info_used);
  Info* copy = new Info;
  if (found->info != nullptr) copy->entries = found->info->entries;
  *info_used = core::ToHandle<MPI_Info>(copy);
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_get_info);
