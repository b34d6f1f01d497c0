// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/debugger/process_table.h"

#include <atomic>
#include <cstring>

// The interface prescribes these names. Debuggers read and write them by their symbols.
extern "C" {

struct MPIR_PROCDESC {
  char* host_name;
  char* executable_name;
  int pid;
};

[[gnu::visibility("default"), gnu::used]] MPIR_PROCDESC* MPIR_proctable = nullptr;
[[gnu::visibility("default"), gnu::used]] int MPIR_proctable_size = 0;
[[gnu::visibility("default"), gnu::used]] std::atomic<int> MPIR_being_debugged{0};
[[gnu::visibility("default"), gnu::used]] std::atomic<int> MPIR_debug_state{0};
[[gnu::visibility("default"), gnu::used]] char* MPIR_debug_abort_string = nullptr;
// That these are there says that this process is no rank, and that a debugger need not attach to
// all ranks.
[[gnu::visibility("default"), gnu::used]] int MPIR_i_am_starter = 0;
[[gnu::visibility("default"), gnu::used]] int MPIR_partial_attach_ok = 0;

[[gnu::visibility("default"), gnu::used, gnu::noinline]] void MPIR_Breakpoint() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // extern "C"

namespace lamina::launcher {
namespace {

constexpr int kSpawned = 1;  // MPIR_DEBUG_SPAWNED

}  // namespace

bool IsBeingDebugged() { return MPIR_being_debugged.load() != 0; }

void PublishProcesses(const std::vector<DebuggedProcess>& processes) {
  // It lives as long as this process.
  auto* const table = new MPIR_PROCDESC[processes.size()];
  for (std::size_t i = 0; i < processes.size(); ++i)
    table[i] = {strdup(processes[i].host.c_str()), strdup(processes[i].program.c_str()),
                static_cast<int>(processes[i].process)};
  MPIR_proctable = table;
  MPIR_proctable_size = static_cast<int>(processes.size());
  MPIR_debug_state.store(kSpawned);
  MPIR_Breakpoint();
}

}  // namespace lamina::launcher
