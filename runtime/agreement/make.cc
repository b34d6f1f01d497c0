// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/agreement/make.h"

#include <algorithm>
#include <vector>

#include "collectives/select/table.h"
#include "runtime/core/process.h"
#include "runtime/p2p/other_jobs.h"

namespace lamina::agreement {
namespace {

std::vector<PeerId> Sorted(const core::Group& group) {
  std::vector<PeerId> peers = group.peers;
  std::sort(peers.begin(), peers.end());
  return peers;
}

}  // namespace

// Everybody hears of the end of every job that has members here.
core::Comm* Make(core::Group* group, ContextId context, const core::Comm* parent) {
  p2p::Attend(group->peers, group->peers);
  core::Comm* comm = core::MakeComm(group, context, parent);
  collective::Attach(comm);
  return comm;
}

core::Comm* MakeInter(core::Group* group, core::Group* remote, ContextId context,
                      ContextId local_context, const core::Comm* parent) {
  p2p::Attend(group->peers, group->peers);
  p2p::Attend(group->peers, remote->peers);
  p2p::Attend(remote->peers, group->peers);
  core::Comm* comm = core::MakeInterComm(group, remote, context, local_context, parent);
  collective::Attach(comm->local);
  collective::Attach(comm);
  return comm;
}

core::Group* Subgroup(const core::Group& from, const std::vector<Rank>& ranks) {
  std::vector<PeerId> peers;
  peers.reserve(ranks.size());
  for (const Rank rank : ranks) peers.push_back(from.peers[static_cast<std::size_t>(rank)]);
  return core::MakeGroup(std::move(peers), core::process->self, from.session);
}

bool IsWithin(const core::Group& group, const core::Group& of) {
  const std::vector<PeerId> members = Sorted(of);
  return std::all_of(group.peers.begin(), group.peers.end(), [&members](PeerId peer) {
    return std::binary_search(members.begin(), members.end(), peer);
  });
}

bool AreDisjoint(const core::Group& one, const core::Group& two) {
  const std::vector<PeerId> members = Sorted(one);
  return std::none_of(two.peers.begin(), two.peers.end(), [&members](PeerId peer) {
    return std::binary_search(members.begin(), members.end(), peer);
  });
}

}  // namespace lamina::agreement
