// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/core/process.h"

namespace lamina::core {

constinit Process* process = nullptr;
constinit std::atomic<Process*> shared_process{nullptr};
constinit Life life = Life::kBefore;

void Guard::Enter(Process* process) { process->lock.Lock(); }

void Guard::Leave(Process* process) {
  if (process->before_unlock != nullptr) process->before_unlock();
  process->lock.Unlock();
}

}  // namespace lamina::core
