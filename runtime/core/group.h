// SPDX-License-Identifier: BSD-3-Clause
// An ordered set of processes (MPI-5.0, section 7.3). Immutable once made; shared by reference.
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
  // This process's rank, or MPI_UNDEFINED.
  Rank self = MPI_UNDEFINED;
  std::vector<PeerId> peers;  // by rank
  // The session it comes from, as do the communicators over it; held by reference. Null: the world.
  Session* session = nullptr;
};

// The group with these members; finds its `self`. References: one, the caller's.
Group* MakeGroup(std::vector<PeerId> peers, PeerId self, Session* session = nullptr);
void Retain(Group* group);
void Release(Group* group);

// MPI_GROUP_EMPTY, MPI_GROUP_NULL (null) or a handle of ours; null if it is no group.
Group* FindGroup(MPI_Group handle);
// The handle for `group`, MPI_GROUP_EMPTY if it has no members.
MPI_Group HandleOf(Group* group);

}  // namespace lamina::core
