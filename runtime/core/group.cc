// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/core/group.h"

#include <algorithm>

#include "runtime/base/check.h"
#include "runtime/core/session.h"

namespace lamina::core {
namespace {

// The empty group lives as long as the library, because its handle may be used before MPI_Init and
// after MPI_Finalize.
Group* EmptyGroup() {
  static Group* const empty = new Group;
  return empty;
}

}  // namespace

void (*on_members)(const std::vector<PeerId>& members, bool held) = nullptr;

Group* MakeGroup(std::vector<PeerId> peers, PeerId self, Session* session) {
  Group* group = new Group;
  group->session = session;
  if (session != nullptr) Retain(session);
  group->peers = std::move(peers);
  if (on_members != nullptr) on_members(group->peers, true);
  const auto found = std::find(group->peers.begin(), group->peers.end(), self);
  if (found != group->peers.end()) group->self = static_cast<Rank>(found - group->peers.begin());
  return group;
}

void Retain(Group* group) { ++group->references; }

void Release(Group* group) {
  CHECK(group->references > 0);
  if (group == EmptyGroup()) return;
  if (--group->references > 0) return;
  if (group->session != nullptr) Release(group->session);
  if (on_members != nullptr) on_members(group->peers, false);
  group->kind = Kind::kFreed;
  delete group;
}

Group* FindGroup(MPI_Group handle) {
  if (handle == MPI_GROUP_EMPTY) return EmptyGroup();
  return FromHandle<Group>(handle);
}

MPI_Group HandleOf(Group* group) {
  return group->peers.empty() ? MPI_GROUP_EMPTY : ToHandle<MPI_Group>(group);
}

}  // namespace lamina::core
