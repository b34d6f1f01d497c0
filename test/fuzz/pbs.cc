// SPDX-License-Identifier: BSD-3-Clause
// The node file of PBS, and what qstat answers.
#include "launcher/spawn/pbs/pbs_allocation.h"
#include "runtime/base/check.h"

namespace lamina::launcher {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(pbs::UnderstandState(text));
  static const Environment environment({"PBS_JOBID=1.head", "PBS_NODEFILE=/nodes"});
  const auto allocation = pbs::ReadAllocation(environment, text);
  if (!allocation.ok()) return 0;
  Plan plan;
  plan.hosts = allocation->hosts;
  std::vector<std::uint32_t> hosts;
  for (const Host& host : plan.hosts) {
    CHECK(!host.name.empty() && host.slots >= 1);
    hosts.push_back(static_cast<std::uint32_t>(hosts.size()));
  }
  CHECK(!hosts.empty());
  for (const std::int64_t line : pbs::LinesOf(plan, hosts, text)) CHECK(line >= 0);
  return 0;
}

}  // namespace lamina::launcher
