// SPDX-License-Identifier: BSD-3-Clause
// A schedule that runs without blocking, as the activity of its request.
//
//   Start ──> round 0 ──> round 1 ──> ... ──> Finish(owner)
//              post all; when all have ended: copies and reductions, and on to the next
//
// Each strand goes through its rounds like that, and the last strand to end finishes the request.
// Advance moves the strands as far as they will go and never waits. The request of a persistent
// collective is started any number of times, and a start allocates nothing.
//
// Ownership: an execution belongs to its request, which holds the communicator. It holds references
//            to the datatypes and the operation, which the user may free meanwhile.
#pragma once

#include <memory>
#include <vector>

#include "collectives/call/invocation.h"
#include "collectives/call/route.h"
#include "collectives/exec/binding.h"
#include "collectives/exec/packed_bcast.h"
#include "collectives/select/plan_cache.h"
#include "runtime/core/activity.h"
#include "runtime/core/request.h"

namespace lamina::collective {

class Execution final : public core::Activity {
 public:
  // Takes over the caller's reference to `plan`.
  Execution(const Invocation& invocation, PackedBcast packed, Plan* plan, const Route& route);
  ~Execution() override;

  // Allocates the plan's scratch. False: there is not enough memory.
  bool Prepare();
  // Is called instead of Prepare to work in the scratch of `binding`, which is the same call's.
  void Use(const Binding& binding) { binding_ = binding; }

  int Start(core::Request* owner) override;
  void Advance() override;

  // How many there are with an operation of the application. The library lock guards it.
  static inline int with_users_operation = 0;

 private:
  struct Strand {
    std::uint32_t round = 0;
    std::uint32_t end = 0;           // the index behind its last round
    std::uint32_t under_way = 0;     // the number of transfers of this round
    std::uint32_t next_pending = 0;  // the transfers before this one are complete
    core::Request* transfers = nullptr;
  };
  // Posts the sends and receives of the strand's current round, if there is one.
  void Post(Strand* strand);
  // Have all transfers under way ended? Notes their errors.
  bool Arrived(Strand* strand);
  // Notes the first error.
  [[gnu::cold]] void Fail(int error);
  // Moves the strand as far as it will go. True if it has ended.
  bool Move(Strand* strand);
  template <class Visit>
  void EachType(Visit visit) const;

  Plan* const plan_;
  const Route route_;
  std::vector<const datatype::Datatype*> input_types_;  // w-forms
  std::vector<const datatype::Datatype*> output_types_;
  const Invocation held_;  // the arguments, without what only planning reads
  PackedBcast packed_;
  Binding binding_;
  std::unique_ptr<std::byte[]> scratch_;
  std::vector<core::Request> transfers_;

  core::Request* owner_ = nullptr;  // null while nothing is under way
  int error_ = MPI_SUCCESS;         // the first error
  std::vector<Strand> strands_;
};

}  // namespace lamina::collective
