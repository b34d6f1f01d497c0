// SPDX-License-Identifier: BSD-3-Clause
// A communicator is a group, a matching space, and what was hung on it.
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

// These are the application's promises about its use of one communicator (MPI-5.0, section 7.4.4).
struct Hints {
  bool no_any_tag = false;
  bool no_any_source = false;
  bool exact_length = false;
  bool allow_overtaking = false;
  bool strict_persistent_ordering = false;
  std::string memory_kinds;  // asserted kinds; empty if none were
};

struct Comm : Object {
  static constexpr Kind kKind = Kind::kComm;
  Comm() : Object(kKind) {}

  // The short path reads the following members, so they come first.
  ContextId context{};        // point-to-point; the others are below
  Rank rank = MPI_UNDEFINED;  // of this process in `group`
  int size = 0;               // of `group`
  int destinations = 0;       // how many ranks one may send to: the remote group's size if inter
  const PeerId* peers = nullptr;  // by destination rank: group->peers, or remote->peers if inter
  Group* group = nullptr;
  Group* remote = nullptr;  // null unless an intercommunicator
  // An intercommunicator owns this private intracommunicator over `group`.
  Comm* local = nullptr;
  Comm* inter = nullptr;  // the intercommunicator whose `local` this is

  MPI_Comm handle = MPI_COMM_NULL;
  Errhandler* errhandler = nullptr;
  bool chose_errhandler = false;             // the application has set it
  collective::Table* collectives = nullptr;  // owned; collective::Free
  Attributes attributes;
  Hints hints;
  Topology* topology = nullptr;            // owned; null unless made by a function of chapter 8
  p2p::SendBuffer* send_buffer = nullptr;  // owned; null unless one is attached
  std::string name;
  // Collective operations on this communicator are numbered by these, for their tags. Blocking and
  // non-blocking ones are numbered apart, because the two kinds never match (MPI-5.0, 6.12).
  std::uint32_t collective_serial = 0;
  std::uint32_t nonblocking_serial = 0;

  Comm* next_free = nullptr;  // while it is freed

  bool is_inter() const { return remote != nullptr; }
  ContextId CollectiveContext() const { return ContextId{Index(context) + 1}; }
  // Members of a communicator in the making agree on things here, under a tag the application
  // chose.
  ContextId MakingContext() const { return ContextId{Index(context) + 2}; }
  ContextId PartitionedContext() const { return ContextId{Index(context) + 3}; }
  // Returns the tag of the next blocking collective operation; all members call it in the same
  // order.
  int NextTag() { return static_cast<int>(collective_serial++ & kSerialMask); }
  // The same for non-blocking ones.
  int NextNonblockingTag() {
    return static_cast<int>(kNonblockingBit | (nonblocking_serial++ & kSerialMask));
  }
  static constexpr std::uint32_t kSerialMask = 0x3fffffff;
  static constexpr std::uint32_t kNonblockingBit = 0x40000000;
};

// These are the predefined communicators; they are null before initialisation and after
// finalisation.
extern Comm* world;
extern Comm* self_comm;

// Finds MPI_COMM_WORLD, MPI_COMM_SELF or one of ours; returns null for MPI_COMM_NULL and everything
// else.
inline Comm* FindComm(MPI_Comm handle) {
  if (handle == MPI_COMM_WORLD) return world;
  if (handle == MPI_COMM_SELF) return self_comm;
  return FromHandle<Comm>(handle);
}

// This is the intercommunicator to the processes that have spawned this job; null if there are
// none, or it was freed.
extern Comm* parent;

// This holds every process of the job under its PeerId, whatever communicators there are, for
// agreements that have no parent communicator. The application never sees it. It is null while MPI
// is down.
extern Comm* everybody;

// Makes an intracommunicator over `group` (whose reference it takes) with an agreed context; it
// inherits `parent`'s error handler. The caller chooses its collectives (collective::Attach).
Comm* MakeComm(Group* group, ContextId context, const Comm* parent);
// Makes an intercommunicator and takes the references. `local_context` belongs to its private
// intracommunicator and was agreed within `group` alone.
Comm* MakeInterComm(Group* group, Group* remote, ContextId context, ContextId local_context,
                    const Comm* parent);
inline void Retain(Comm* comm) { ++comm->references; }
// Runs attribute delete functions and frees what nobody refers to any more.
[[gnu::cold]] int Bury(Comm* comm);
// Drops a reference and buries the communicator at zero. Returns MPI_SUCCESS or the error class of
// a failing delete function.
inline int Release(Comm* comm) {
  return --comm->references > 0 ? static_cast<int>(MPI_SUCCESS) : Bury(comm);
}
// Returns the memory of freed communicators, at finalisation.
void DrainCommPool();
// This function takes down what the rooms above hung on a communicator (matching spaces, collective
// tables). runtime/assembly sets it once.
extern void (*on_last_release)(Comm* comm);

}  // namespace lamina::core
