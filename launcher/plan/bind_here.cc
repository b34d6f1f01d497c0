// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/plan/bind_here.h"

#include <utility>

#include "launcher/plan/bind.h"
#include "launcher/plan/machine.h"
#include "launcher/plan/topology.h"

namespace lamina::launcher {

Status BindHere(std::uint32_t host, Plan* plan) {
  if (!plan->mapping.cpu_set.empty())
    if (Status status = KeepToCpus(plan->mapping.cpu_set); !status.ok())
      return std::move(status).Within("--cpu-set");
  const Binding binding = ChooseBinding(*plan, host, ThisMachine(false));
  if (binding.to == BindTo::kNone) return {};
  Result<Topology> topology = LoadTopology();
  if (!topology.ok()) return std::move(topology).status();
  return BindRanks(binding, host, topology->get(), AllowedCpus(topology->get()), plan);
}

}  // namespace lamina::launcher
