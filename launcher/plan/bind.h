// SPDX-License-Identifier: BSD-3-Clause
// Decides which CPUs each rank of a host may run on. It is a pure function over a topology, so that
// tests use machines that are not there. It is called on the host itself, with Plan::mapping.
//
// By default ranks are left to the operating system: threads have room, and two jobs on one machine
// do not pile up on its first cores. But if the machine has several NUMA domains, each gets at
// least one rank and no CPU gets more than one, then each rank is kept within one domain with all
// its cores, neighbours in rank order together: memory stays near and threads still have room.
#pragma once

#include <cstdint>
#include <string>

#include "launcher/plan/machine.h"
#include "launcher/plan/mapping.h"
#include "launcher/plan/plan.h"
#include "launcher/plan/topology.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

struct Binding {
  BindTo to = BindTo::kNone;
  Mapping mapping;
  bool asked = false;  // by the user; otherwise our default
  std::string why;     // one sentence
};

// Decides without a topology, so that the common job loads none. `host` is the index of this
// machine in the plan.
Binding ChooseBinding(const Plan& plan, std::uint32_t host, const Machine& machine);

// Sets RankPlan::cpuset of the ranks on `host` and adds what happened to Plan::notes.
// Ranks are laid out in the order of their local rank:
//   map by slot or node:  in blocks, evenly by cores; cores and hardware threads one after another
//   map by socket ... hwthread: dealt out to these in turn; those that are full are passed over
//   ppr:N:OBJECT:         N on the first object, N on the second
//   rankfile:             as each rank's `place` says
// With N CPUs per rank a rank gets N neighbouring cores, within one cache or NUMA domain where the
// ranks fit like that; hardware threads instead of cores where cores do not suffice. `rank_by` only
// changes which rank sits where. Several ranks share a place only when there are more ranks than
// places. kUnsupported: nothing of `allowed` is in the topology. kInvalid: a rank file's place is
// not.
Status BindRanks(const Binding& binding, std::uint32_t host, hwloc_topology_t topology,
                 const CpuSet& allowed, Plan* plan);

// Counts the objects of this kind that `allowed` reaches into; 1 for BindTo::kNone.
std::uint32_t CountObjects(hwloc_topology_t topology, const CpuSet& allowed, BindTo kind);

}  // namespace lamina::launcher
