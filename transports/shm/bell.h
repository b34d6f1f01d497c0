// SPDX-License-Identifier: BSD-3-Clause
// Waking a process that sleeps, and not paying for it when nobody does.
//
// The sleeper publishes `sleeping`, looks once more for frames, then sleeps. The writer makes its
// frame visible, then reads `sleeping`. Both need their store to come before their load. A fence in
// every send would cost as much as the send, so the sleeper pays for both sides: it makes the
// kernel run a fence on every CPU that runs one of us (membarrier,
// MEMBARRIER_CMD_GLOBAL_EXPEDITED). Where the kernel or a filter refuses that, writers fence
// themselves.
#pragma once

#include <atomic>
#include <cstdint>

#include "transports/shm/segment.h"

namespace lamina::shm {

enum Sleeping : std::uint32_t { kAwake = 0, kOnWord = 1, kOnPipe = 2 };

// The one between a store and a later load. (TSan has no std::atomic_thread_fence.)
inline void Fence() { __sync_synchronize(); }

// Takes part in others' fences from now on, and may call FenceAll(). False: not possible here.
bool RegisterForFences();
// All registered processes' stores before this are visible, and none of their later loads is done.
bool FenceAll();

// The slow half of waking: the bell said that its owner sleeps. `pipe`: where the caller keeps the
// write end of the owner's pipe, -1 before its first use.
void WakeOwner(Doorbell& bell, std::int32_t owner_pid, int* pipe);

}  // namespace lamina::shm
