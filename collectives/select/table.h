// SPDX-License-Identifier: BSD-3-Clause
// What a communicator needs for its collectives: who chooses, what was chosen, memory to work in.
//
// Ownership: core::Comm owns its table; Free takes it down. The library outlives all tables.
// Threads:   the caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "collectives/select/library.h"
#include "collectives/select/plan_cache.h"
#include "runtime/core/comm.h"
#include "runtime/core/request.h"

namespace lamina::collective {

// Makes `registry`'s components the ones that communicators attached from now on choose from; once,
// before the first Attach. On failure nothing is installed.
Status Install(const Registry& registry, const param::Settings& settings);
// After the last Free.
void Uninstall();
// Null before Install.
const Library* Installed();

// A way of carrying out blocking calls that stands beside the plans (collectives/board).
struct Beside {
  virtual ~Beside() = default;
  bool Has(Operation operation) const {
    return (operations >> static_cast<std::uint32_t>(operation) & 1) != 0;
  }
  std::uint32_t operations = 0;  // what it may be asked for, as bits
};

// Of the last call that failed; what its error class does not say.
struct Failure {
  std::string text;     // empty: nothing
  bool is_news = true;  // if not, another rank says it as well, and sooner
};

struct Table {
  Table(const Library& library, const core::Comm& comm);

  // The plan for `call`, made if it is new. The caller gets a reference. Null: nobody can do it.
  Plan* Find(const Call& call);
  // Placement::Nodes; also null where nobody knows.
  const Partition* Nodes();
  // At least `bytes`, aligned to 64, until the next Scratch or Trim of this communicator; null if
  // there is no such memory.
  std::byte* Scratch(std::size_t bytes);
  // Gives back scratch beyond what a communicator may keep.
  void Trim();

  const Library& library;
  const core::Comm& comm;
  Shape shape;     // placement and neighbours are looked up when a plan first needs them
  LinkModel link;  // likewise
  PlanCache plans;
  Schedule schedule;                    // work space of planning
  std::vector<core::Request> requests;  // of the blocking collective that runs, if any
  std::uint32_t persistent_serial = 0;  // how many persistent collectives were made
  std::unique_ptr<Beside> beside;       // null until the first blocking collective
  Failure failure;

 private:
  // Where `call` takes place, as its plan is to see it.
  Shape ShapeOf(const Call& call);
  void ListNeighbours();
  // Fills in where the ranks are, as far as all of them know it. Once; no communication.
  void Settle();

  struct Unmap {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Unmap> scratch_;
  std::size_t scratch_bytes_ = 0;
  bool settled_ = false;
  Placement placement_;        // what `shape` refers to
  std::vector<Rank> sources_;  // likewise
  std::vector<Rank> destinations_;
};

// Gives `comm` its table. No communication.
void Attach(core::Comm* comm);
// Takes it down; harmless without one.
void Free(core::Comm* comm);

}  // namespace lamina::collective
