// SPDX-License-Identifier: BSD-3-Clause
// Which CPUs each rank of a host may run on: a pure function over a topology, so that tests use
// machines that are not there.
//
// The default. Ranks are left to the operating system: threads have room, and two jobs on one
// machine do not pile up on its first cores. Where the machine has several NUMA domains, each gets
// at least one rank and no CPU more than one, each rank is kept within one domain with all its
// cores, neighbours in rank order together: memory stays near and threads still have room.
#pragma once

#include <cstdint>
#include <string>

#include "launcher/plan/machine.h"
#include "launcher/plan/place.h"
#include "launcher/plan/plan.h"
#include "launcher/plan/topology.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

struct Binding {
  BindTo to = BindTo::kNone;
  MapBy map_by = MapBy::kSlot;
  bool asked = false;  // by the user; otherwise our default
  std::string why;     // one sentence
};

// Decided without a topology, so that the common job loads none. `host`: index of this machine in
// the plan.
Binding ChooseBinding(const Request& request, const Plan& plan, std::uint32_t host,
                      const Machine& machine);

// Sets RankPlan::cpuset of the ranks on `host` and adds what happened to Plan::notes.
// Ranks are laid out in the order of their local rank:
//   map by slot or node:  in blocks, evenly by cores; cores and hardware threads one after another
//   map by numa ... hwthread: dealt out to these in turn; those that are full are passed over
// Several ranks share a place only when there are more ranks than places.
// kUnsupported: nothing of `allowed` is in the topology.
Status BindRanks(const Binding& binding, std::uint32_t host, hwloc_topology_t topology,
                 const CpuSet& allowed, Plan* plan);

}  // namespace lamina::launcher
