// SPDX-License-Identifier: BSD-3-Clause
// What a communicator needs for its collectives: the library that chooses, what was chosen, memory
// to work in, and its meeting.
//
// Ownership: core::Comm owns its table, and Free takes it down. The library outlives all tables.
// Threads:   the caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collectives/call/meeting.h"
#include "collectives/select/library.h"
#include "collectives/select/plan_cache.h"
#include "runtime/core/comm.h"
#include "runtime/core/request.h"

namespace lamina::collective {

// Makes a library of the registry's components, from which all communicators choose. Is called
// once, before the first Attach. On failure nothing is installed.
Status Install(const Registry& registry, const param::Settings& settings);
// Is called after the last Free.
void Uninstall();
// Null before Install.
const Library* Installed();

struct Table {
  Table(const Library& library, core::Comm* comm);

  // The plan for `call`, which is made if it is new. The caller gets a reference. Null: no
  // algorithm fits the call.
  Plan* Find(const Call& call);
  // Fills in `meeting` if a component convenes one here. All ranks call this at once. It
  // communicates only where the communicator spans jobs, whose ranks tell each other where they
  // are. Returns an MPI error class. After an error this rank does not know which way the others
  // take, so it takes part in nothing here any more, and each further call returns the same error.
  int Convene(int (*by_messages)(const Invocation& invocation));
  // At least `bytes` of memory, aligned to a cache line and valid until the next Scratch or Trim.
  // Null: there is not that much.
  std::byte* Scratch(std::size_t bytes);
  // Frees the scratch if it is more than a communicator may keep.
  void Trim();

  const Library& library;
  core::Comm& comm;
  // Placement and neighbours are looked up when a plan first needs them.
  Shape shape;
  LinkModel link;
  PlanCache plans;
  Schedule schedule;                    // the work space of planning
  std::vector<core::Request> requests;  // the transfers of a blocking collective
  std::uint32_t persistent_serial = 0;  // how many persistent collectives were made
  bool has_convened = false;            // is true from the first blocking collective that could
  std::unique_ptr<Meeting> meeting;     // null: every call goes by messages
  Failure failure;                      // of the last call that failed

 private:
  // The shape that the plan for `call` is to see.
  Shape ShapeOf(const Call& call);
  void ListNeighbours();
  // Fills in where the ranks are, as far as all of them know it. Is called once and does not
  // communicate.
  void Settle();
  void Use(Placement placement);
  // Has the ranks of several jobs tell each other where they are, and plans by that from now on.
  // Returns an MPI error class, and makes `*nodes` their partition by place.
  int SettleAcrossJobs(std::unique_ptr<const Partition>* nodes);

  struct Unmap {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Unmap> scratch_;
  std::size_t scratch_bytes_ = 0;
  bool settled_ = false;
  int convening_error_ = MPI_SUCCESS;
  // What `shape` refers to.
  Placement placement_;
  std::vector<Rank> sources_;
  std::vector<Rank> destinations_;
};

// Gives `comm` its table, without communication.
void Attach(core::Comm* comm);
// Takes the table down. Is harmless without one.
void Free(core::Comm* comm);

}  // namespace lamina::collective
