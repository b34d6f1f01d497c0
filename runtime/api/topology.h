// SPDX-License-Identifier: BSD-3-Clause
// What the functions of chapter 8 share: finding a topology, and making a communicator that has
// one. Making one is: who takes which place, MPI_Comm_split with the places as keys, and a
// description hung on the new communicator.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/api/arguments.h"
#include "runtime/core/topology.h"

namespace lamina::api {

// A communicator and its topology of the wanted kind, or the error that was raised.
struct WithTopology {
  core::Comm* comm;
  const core::Topology* topology;
  int error;
};
// `kind`: MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH.
WithTopology FindTopology(const Entry& entry, MPI_Comm handle, int kind);

// The communicator a topology is to be made over, checked like the place for the answer.
struct Parent {
  core::Comm* comm;
  int error;
};
Parent FindParent(const Entry& entry, MPI_Comm handle, const void* answer);

// A checked topology in the making; its first `members` ranks take part.
struct NewTopology {
  core::Topology topology;
  Rank members = 0;
};
// The rank of this process in `wanted`, near its neighbours; MPI_UNDEFINED if it has none. Local
// (section 8.5.8).
int PlaceIn(const core::Comm& comm, const NewTopology& wanted);
// A communicator of the processes with a place, `wanted`'s topology on it; the others get
// MPI_COMM_NULL. `reorder`: by PlaceIn, else nobody changes places.
int MakeOver(core::Comm* comm, NewTopology wanted, bool reorder, MPI_Comm* newcomm);
// The same, if each process knows its place.
int MakeAt(core::Comm* comm, int place, core::Topology topology, MPI_Comm* newcomm);

int CheckRank(const Entry& entry, core::Comm* comm, int rank);
// Copies `from` into `into`, which has room for `count_max`; an error if that is too little.
int GiveAll(const Entry& entry, core::Comm* comm, const char* name, const std::vector<int>& from,
            int count_max, int* into);
// Copies as many as there is room for.
void GiveFirst(const std::vector<int>& from, int count_max, int* into);

}  // namespace lamina::api
