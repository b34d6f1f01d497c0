// SPDX-License-Identifier: BSD-3-Clause
// The functions of chapter 8 share this: finding a topology, and making a communicator that has
// one. Making one takes three steps: decide which process takes which place, call MPI_Comm_split
// with the places as keys, and hang a description on the new communicator.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/api/arguments.h"
#include "runtime/core/topology.h"

namespace lamina::api {

// This is a communicator and its topology of the wanted kind, or the error that was raised.
struct WithTopology {
  core::Comm* comm;
  const core::Topology* topology;
  int error;
};
// `kind` is MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH.
WithTopology FindTopology(const Entry& entry, MPI_Comm handle, int kind);

// This is the communicator a topology is to be made over. It has been checked, and so has the
// pointer for the answer.
struct Parent {
  core::Comm* comm;
  int error;
};
Parent FindParent(const Entry& entry, MPI_Comm handle, const void* answer);

// This is a checked topology in the making; its first `members` ranks take part.
struct NewTopology {
  core::Topology topology;
  Rank members = 0;
};
// Returns the rank of this process in `wanted`, near its neighbours, or MPI_UNDEFINED if it has
// none. It is local (section 8.5.8).
int PlaceIn(const core::Comm& comm, const NewTopology& wanted);
// Makes a communicator of the processes with a place, with `wanted`'s topology on it; the others
// get MPI_COMM_NULL. With `reorder`, PlaceIn chooses the places; otherwise nobody changes places.
int MakeOver(core::Comm* comm, NewTopology wanted, bool reorder, MPI_Comm* newcomm);
// Does the same when each process knows its place.
int MakeAt(core::Comm* comm, int place, core::Topology topology, MPI_Comm* newcomm);

int CheckRank(const Entry& entry, core::Comm* comm, int rank);
// Copies `from` into `into`, which has room for `count_max`, or raises an error if that is too
// little.
int GiveAll(const Entry& entry, core::Comm* comm, const char* name, const std::vector<int>& from,
            int count_max, int* into);
// Copies as many as there is room for.
void GiveFirst(const std::vector<int>& from, int count_max, int* into);

}  // namespace lamina::api
