// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/core/process.h"

namespace lamina::core {

constinit Process* process = nullptr;
constinit std::atomic<Process*> shared_process{nullptr};
constinit Life life = Life::kBefore;

}  // namespace lamina::core
