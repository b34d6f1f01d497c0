// SPDX-License-Identifier: BSD-3-Clause
// These are intercommunicators (MPI-5.0, section 7.6).
#include <cstddef>
#include <utility>
#include <vector>

#include "runtime/agreement/across.h"
#include "runtime/agreement/channel.h"
#include "runtime/agreement/make.h"
#include "runtime/agreement/roll.h"
#include "runtime/api/arguments.h"
#include "runtime/p2p/p2p.h"

using lamina::Call;
using lamina::PeerId;
using lamina::Rank;
using lamina::api::Entry;
using lamina::core::Comm;
using lamina::core::FindComm;
using lamina::core::Group;

namespace agreement = lamina::agreement;
namespace core = lamina::core;

namespace {

int RequireInter(const Entry& entry, Comm* comm) {
  REQUIRE(comm->is_inter(), comm, MPI_ERR_COMM, "the communicator is not an intercommunicator");
  return MPI_SUCCESS;
}

int CheckPeer(const Entry& entry, Comm* local, Comm* peer, MPI_Comm handle, int remote_leader,
              int tag) {
  if (peer == nullptr) return BadComm(entry, handle);
  REQUIRE(remote_leader >= 0 && remote_leader < peer->destinations, local, MPI_ERR_RANK,
          "remote_leader is %d, must be 0..%d", remote_leader, peer->destinations - 1);
  REQUIRE(tag >= 0, local, MPI_ERR_TAG, "tag is %d, must not be negative", tag);
  return MPI_SUCCESS;
}

}  // namespace

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
  REQUIRE(found->is_inter(), found, MPI_ERR_COMM, "the communicator is not an intercommunicator");
  REQUIRE_POINTER(found, size);
  *size = found->remote->size();
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_remote_size);

int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group* group) {
  Entry entry(Call::MPI_Comm_remote_group);
  REQUIRE_INITIALIZED(entry);
  Comm* found = FindComm(comm);
  if (found == nullptr) return BadComm(entry, comm);
  REQUIRE(found->is_inter(), found, MPI_ERR_COMM, "the communicator is not an intercommunicator");
  REQUIRE_POINTER(found, group);
  Retain(found->remote);
  *group = HandleOf(found->remote);
  return MPI_SUCCESS;
}
PROFILED(MPI_Comm_remote_group);

int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
                          int remote_leader, int tag, MPI_Comm* newintercomm) {
  Entry entry(Call::MPI_Intercomm_create);
  REQUIRE_INITIALIZED(entry);
  Comm* local = FindComm(local_comm);
  if (local == nullptr) return BadComm(entry, local_comm);
  REQUIRE(!local->is_inter(), local, MPI_ERR_COMM, "local_comm is an intercommunicator");
  REQUIRE(local_leader >= 0 && local_leader < local->size, local, MPI_ERR_RANK,
          "local_leader is %d, must be 0..%d", local_leader, local->size - 1);
  REQUIRE_POINTER(local, newintercomm);
  agreement::Bridge bridge{agreement::Channel(local, local->CollectiveContext(), local->NextTag()),
                           agreement::Everyone(*local),
                           local_leader,
                           {},
                           remote_leader};
  if (local->rank == local_leader) {
    Comm* peer = FindComm(peer_comm);
    if (const int error = CheckPeer(entry, local, peer, peer_comm, remote_leader, tag);
        error != MPI_SUCCESS)
      return error;
    bridge.across.emplace(peer, peer->MakingContext(), tag);
  }
  std::vector<std::byte> roll;
  if (local->rank == local_leader)
    if (lamina::Result<std::vector<std::byte>> made = agreement::RollOf(local->group->peers);
        made.ok())
      roll = *std::move(made);  // else the others find that it is cut short
  agreement::Agreed agreed;
  const int error = AgreeAcross(bridge, roll, &agreed);
  REQUIRE(error == MPI_SUCCESS, local, error, "the two groups could not agree");
  lamina::Result<std::vector<PeerId>> peers = agreement::MeetAll(agreed.theirs);
  if (!peers.ok()) return core::Raise(local, peers.status(), entry.name());
  Group* remote = core::MakeGroup(*std::move(peers), core::process->self, local->group->session);
  if (!agreement::AreDisjoint(*local->group, *remote)) {
    Release(remote);
    return core::Raise(local, MPI_ERR_COMM, entry.name(), "the two groups have common members");
  }
  *newintercomm =
      agreement::MakeInter(local->group, remote, agreed.context, agreed.local_context, local)
          ->handle;
  Release(remote);
  return MPI_SUCCESS;
}
PROFILED(MPI_Intercomm_create);

// The group that said `high` comes behind; if both said the same, we choose the order.
int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  Entry entry(Call::MPI_Intercomm_merge);
  REQUIRE_INITIALIZED(entry);
  Comm* inter = FindComm(intercomm);
  if (inter == nullptr) return BadComm(entry, intercomm);
  if (const int error = RequireInter(entry, inter); error != MPI_SUCCESS) return error;
  REQUIRE_POINTER(inter, newintracomm);
  const std::vector<int> mine{high != 0 ? 1 : 0};
  agreement::Agreed agreed;
  const int error = AgreeAcross(agreement::BridgeOf(inter), agreement::AsBytes(mine), &agreed);
  const std::vector<int> theirs = agreement::FromBytes<int>(agreed.theirs);
  REQUIRE(error == MPI_SUCCESS && theirs.size() == 1, inter, error != 0 ? error : MPI_ERR_INTERN,
          "the two groups could not agree");
  // Every member says the same as its leader (section 7.6.2), so this process's own value will do.
  const bool is_first = mine[0] != theirs[0] ? mine[0] == 0 : agreed.is_first;
  std::vector<PeerId> peers = is_first ? inter->group->peers : inter->remote->peers;
  const std::vector<PeerId>& rest = is_first ? inter->remote->peers : inter->group->peers;
  peers.insert(peers.end(), rest.begin(), rest.end());
  Group* members = core::MakeGroup(std::move(peers), core::process->self, inter->group->session);
  *newintracomm = agreement::Make(members, agreed.context, inter)->handle;
  Release(members);
  return MPI_SUCCESS;
}
PROFILED(MPI_Intercomm_merge);
