// SPDX-License-Identifier: BSD-3-Clause
// A communicator: a group, a matching space, and what was hung on it.
#pragma once

#include <mpi.h>

#include <string>

#include "runtime/base/ids.h"
#include "runtime/core/group.h"
#include "runtime/object/attributes.h"
#include "runtime/object/object.h"

namespace lamina::collective {
struct Table;  // collectives/select: the algorithms chosen for one communicator
}

namespace lamina::p2p {
class SendBuffer;  // p2p/buffered.h: what MPI_Comm_attach_buffer attached
}

namespace lamina::core {

struct Errhandler;
struct Topology;

// What the application has promised about its use of one communicator (MPI-5.0, section 7.4.4).
struct Hints {
  bool no_any_tag = false;
  bool no_any_source = false;
  bool exact_length = false;
  bool allow_overtaking = false;
  bool strict_persistent_ordering = false;
  std::string memory_kinds;  // asserted; empty: nothing was
};

struct Comm : Object {
  static constexpr Kind kKind = Kind::kComm;
  Comm() : Object(kKind) {}

  // Read on the short path, so first.
  ContextId context{};        // point-to-point; the others are below
  Rank rank = MPI_UNDEFINED;  // of this process in `group`
  int size = 0;               // of `group`
  int destinations = 0;       // how many ranks one may send to: the remote group's size if inter
  const PeerId* peers = nullptr;  // by destination rank: group->peers, or remote->peers if inter
  Group* group = nullptr;
  Group* remote = nullptr;  // null unless an intercommunicator
  // Of an intercommunicator: a private intracommunicator over `group`; owned.
  Comm* local = nullptr;

  MPI_Comm handle = MPI_COMM_NULL;
  Errhandler* errhandler = nullptr;
  collective::Table* collectives = nullptr;  // owned; collective::Free
  Attributes attributes;
  Hints hints;
  Topology* topology = nullptr;            // owned; null unless made by a function of chapter 8
  p2p::SendBuffer* send_buffer = nullptr;  // owned; null unless one is attached
  std::string name;
  // Serial number of the collective operation on this communicator, for tags of collectives.
  std::uint32_t collective_serial = 0;

  Comm* next_free = nullptr;  // while it is freed

  bool is_inter() const { return remote != nullptr; }
  ContextId CollectiveContext() const { return ContextId{Index(context) + 1}; }
  // What is agreed about a communicator in the making under a tag the application chose.
  ContextId MakingContext() const { return ContextId{Index(context) + 2}; }
  ContextId PartitionedContext() const { return ContextId{Index(context) + 3}; }
  // Of the next collective operation; all members call it in the same order.
  int NextTag() { return static_cast<int>(collective_serial++ & 0x7fffffffu); }
};

// The predefined communicators; null before initialisation and after finalisation.
extern Comm* world;
extern Comm* self_comm;

// MPI_COMM_WORLD, MPI_COMM_SELF or one of ours; null for MPI_COMM_NULL and everything else.
inline Comm* FindComm(MPI_Comm handle) {
  if (handle == MPI_COMM_WORLD) return world;
  if (handle == MPI_COMM_SELF) return self_comm;
  return FromHandle<Comm>(handle);
}

// Every process of the job under its PeerId, whatever communicators there are: for agreements that
// have no parent communicator. Private, never seen by the application. Null while MPI is down.
extern Comm* everybody;

// A new intracommunicator over `group` (reference taken) with an agreed context; inherits
// `parent`'s error handler. The caller chooses its collectives (collective::Attach).
Comm* MakeComm(Group* group, ContextId context, const Comm* parent);
// A new intercommunicator (references taken). `local_context` is the one of its private
// intracommunicator and agreed within `group` alone.
Comm* MakeInterComm(Group* group, Group* remote, ContextId context, ContextId local_context,
                    const Comm* parent);
inline void Retain(Comm* comm) { ++comm->references; }
// Runs attribute delete functions and frees what nobody refers to any more.
[[gnu::cold]] int Bury(Comm* comm);
// Drops a reference; buries at zero. kOk or the MPI error class of a failing delete function.
inline int Release(Comm* comm) {
  return --comm->references > 0 ? static_cast<int>(MPI_SUCCESS) : Bury(comm);
}
// Returns the memory of freed communicators; at finalisation.
void DrainCommPool();
// What the rooms above hung on a communicator (matching spaces, collective tables) is taken down by
// this function, set once by runtime/assembly.
extern void (*on_last_release)(Comm* comm);

}  // namespace lamina::core
