// SPDX-License-Identifier: BSD-3-Clause
// Slurm's variables, one a line, and behind a zero byte the file that SLURM_HOSTFILE names.
#include "launcher/spawn/slurm/slurm_allocation.h"
#include "launcher/spawn/slurm/srun.h"
#include "runtime/base/check.h"
#include "test/fuzz/input.h"

namespace lamina::launcher {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, std::min<std::size_t>(size, 600));
  const std::string_view lines = input.TakeUntil('\0');
  const Environment environment(
      fuzz::Input(reinterpret_cast<const std::uint8_t*>(lines.data()), lines.size()).Lines());
  static_cast<void>(slurm::UnderstandState(lines));
  const auto allocation = slurm::ReadAllocation(environment, input.Rest());
  if (!allocation.ok()) {
    CHECK(!allocation.status().message().empty());
    return 0;
  }
  CHECK(slurm::InAllocation(environment));
  CHECK(!allocation->hosts.empty());
  for (const Host& host : allocation->hosts) CHECK(!host.name.empty() && host.slots >= 1);
  return 0;
}

}  // namespace lamina::launcher
