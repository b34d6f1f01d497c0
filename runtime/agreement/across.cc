// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/agreement/across.h"

#include <cstdint>
#include <cstring>

#include "runtime/p2p/p2p.h"

namespace lamina::agreement {
namespace {

// This stands in front of what the leader tells its group.
struct Outcome {
  std::uint64_t error;
  std::uint64_t context;
  std::uint64_t local_context;
  std::uint64_t is_first;
};

// The leaders propose contexts that are all different, and the smaller one is taken.
Outcome Negotiate(const Bridge& bridge, std::span<const std::byte> mine,
                  std::vector<std::byte>* theirs) {
  const std::uint64_t own = Index(p2p::NewContext());
  std::vector<std::byte> proposal(sizeof own + mine.size());
  std::memcpy(proposal.data(), &own, sizeof own);
  if (!mine.empty()) std::memcpy(proposal.data() + sizeof own, mine.data(), mine.size());
  const int error = bridge.across->Swap(bridge.remote_leader, proposal, theirs);
  std::uint64_t other = 0;
  if (error != MPI_SUCCESS || theirs->size() < sizeof other)
    return {static_cast<std::uint64_t>(error != MPI_SUCCESS ? error : MPI_ERR_INTERN), 0, 0, 0};
  std::memcpy(&other, theirs->data(), sizeof other);
  theirs->erase(theirs->begin(), theirs->begin() + sizeof other);
  return {MPI_SUCCESS, std::min(own, other), Index(p2p::NewContext()), own < other};
}

}  // namespace

Bridge BridgeOf(core::Comm* inter) {
  core::Comm* local = inter->local;
  // Every member takes both tags, so that all members' tags stay in step.
  const int tag = inter->NextTag();
  return {Channel(local, local->CollectiveContext(), local->NextTag()), Everyone(*local), 0,
          Channel(inter, inter->CollectiveContext(), tag), 0};
}

int AgreeAcross(const Bridge& bridge, std::span<const std::byte> mine, Agreed* agreed) {
  std::vector<std::byte> told;
  if (bridge.members.self == bridge.leader) {
    std::vector<std::byte> theirs;
    const Outcome outcome = Negotiate(bridge, mine, &theirs);
    told.resize(sizeof outcome + theirs.size());
    std::memcpy(told.data(), &outcome, sizeof outcome);
    if (!theirs.empty()) std::memcpy(told.data() + sizeof outcome, theirs.data(), theirs.size());
  }
  const int error = Spread(bridge.inside, bridge.members, bridge.leader, &told);
  if (error != MPI_SUCCESS) return error;
  Outcome outcome;
  if (told.size() < sizeof outcome) return MPI_ERR_INTERN;
  std::memcpy(&outcome, told.data(), sizeof outcome);
  if (outcome.error != MPI_SUCCESS) return static_cast<int>(outcome.error);
  agreed->context = ContextId{outcome.context};
  agreed->local_context = ContextId{outcome.local_context};
  agreed->is_first = outcome.is_first != 0;
  agreed->theirs.assign(told.begin() + sizeof outcome, told.end());
  return MPI_SUCCESS;
}

}  // namespace lamina::agreement
