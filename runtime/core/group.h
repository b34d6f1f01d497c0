// SPDX-License-Identifier: BSD-3-Clause
// A group is an ordered set of processes (MPI-5.0, section 7.3). It is immutable once made and
// shared by reference.
#pragma once

#include <mpi.h>

#include <vector>

#include "runtime/base/ids.h"
#include "runtime/object/object.h"

namespace lamina::core {

struct Session;

struct Group : Object {
  static constexpr Kind kKind = Kind::kGroup;
  Group() : Object(kKind) {}

  int size() const { return static_cast<int>(peers.size()); }
  // This is the rank of this process in the group, or MPI_UNDEFINED.
  Rank self = MPI_UNDEFINED;
  std::vector<PeerId> peers;  // by rank
  // The group and communicators over it come from this session, which they hold by reference; null
  // means the world.
  Session* session = nullptr;
};

// Makes the group with these members and finds its `self`. The caller has the one reference.
Group* MakeGroup(std::vector<PeerId> peers, PeerId self, Session* session = nullptr);
// This function is told of the members of a group that is made, and of one that goes away. It is
// null until this process has met others than those of its job; runtime/p2p sets it.
extern void (*on_members)(const std::vector<PeerId>& members, bool held);
void Retain(Group* group);
void Release(Group* group);

// Finds MPI_GROUP_EMPTY or a handle of ours; returns null for MPI_GROUP_NULL and whatever is no
// group.
Group* FindGroup(MPI_Group handle);
// Returns the handle for `group`, which is MPI_GROUP_EMPTY if it has no members.
MPI_Group HandleOf(Group* group);

}  // namespace lamina::core
