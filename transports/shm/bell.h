// SPDX-License-Identifier: BSD-3-Clause
// How a sleeping process is woken, at no cost to senders while nobody sleeps.
//
// The sleeper publishes `sleeping`, looks once more for frames, then sleeps. The writer makes its
// frame visible, then reads `sleeping`. Both need their store to come before their load. A fence in
// every send would cost as much as the send, so the sleeper pays for both sides: it makes the
// kernel run a fence on every CPU that runs a registered process (membarrier,
// MEMBARRIER_CMD_GLOBAL_EXPEDITED). If the kernel or a filter refuses that, writers fence
// themselves.
#pragma once

#include <atomic>
#include <cstdint>

#include "transports/shm/segment.h"

namespace lamina::shm {

enum Sleeping : std::uint32_t { kAwake = 0, kOnWord = 1, kOnPipe = 2 };

// Orders a store before a later load. (TSan does not support std::atomic_thread_fence.)
inline void Fence() { __sync_synchronize(); }

// From now on this process takes part in the fences of others and may call FenceAll(). False: the
// kernel does not allow it.
bool RegisterForFences();
// Runs a fence in all registered processes: their earlier stores are visible, and their later loads
// are not done yet.
bool FenceAll();

// Called when the bell says that its owner sleeps. `owner_pid` is 0 if the owner has no number
// here. `pipe` is where the caller keeps the write end of the owner's pipe; it is -1 before its
// first use.
void WakeOwner(Doorbell& bell, std::int32_t owner_pid, int* pipe);

}  // namespace lamina::shm
