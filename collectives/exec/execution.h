// SPDX-License-Identifier: BSD-3-Clause
// One schedule being run without blocking: the activity of its request.
//
//   Start ──> round 0 ──> round 1 ──> ... ──> Finish(owner)
//              post all; when all have ended: copies and reductions, and on to the next
//
// Each strand goes through its rounds so; the last to end finishes. Advance moves them as far as
// they will go and never waits. The request of a persistent collective is
// started any number of times; a start allocates nothing.
//
// Ownership: it belongs to its request, which holds the communicator; it holds references to what
//            else the user may free meanwhile (datatypes, operation).
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

  // Memory for the plan's scratch; false: there is none.
  bool Prepare();
  // Instead of Prepare: works in the scratch of `binding`, which is of the same call and plan.
  void Use(const Binding& binding) { binding_ = binding; }

  int Start(core::Request* owner) override;
  void Advance() override;

 private:
  struct Strand {
    std::uint32_t round = 0;
    std::uint32_t end = 0;           // behind its last round
    std::uint32_t under_way = 0;     // transfers of this round
    std::uint32_t next_pending = 0;  // those before it are complete
    core::Request* transfers = nullptr;
  };
  // Posts the sends and receives of the current round, if there is one.
  void Post(Strand* strand);
  // Are those under way done? Notes errors.
  bool Arrived(Strand* strand);
  // Moves it as far as it will go. True if it has ended.
  bool Move(Strand* strand);
  template <class Visit>
  void EachType(Visit visit) const;

  Plan* const plan_;
  const Route route_;
  std::vector<const datatype::Datatype*> input_types_;  // of the w-forms
  std::vector<const datatype::Datatype*> output_types_;
  const Invocation held_;  // the arguments, without what only planning reads
  PackedBcast packed_;
  Binding binding_;
  std::unique_ptr<std::byte[]> scratch_;
  std::vector<core::Request> transfers_;

  core::Request* owner_ = nullptr;  // null while nothing is under way
  int error_ = MPI_SUCCESS;  // the first one; the schedule runs on, so that no peer is left waiting
  std::vector<Strand> strands_;
};

}  // namespace lamina::collective
