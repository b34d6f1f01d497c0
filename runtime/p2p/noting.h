// SPDX-License-Identifier: BSD-3-Clause
// Writes the wait note of this process (runtime/base/wait_note.h): what is open, and what of it is
// waited for.
//
// Threads:    The caller holds the library lock.
// Allocation: Nothing is allocated.
#pragma once

#include "runtime/base/wait_note.h"
#include "runtime/core/request.h"

namespace lamina::p2p {

class Engine;

// Notes what is open in `engine`. `awaited` is the request that is waited for; null: it is all of
// them, or what AwaitedNow() says.
void NoteOpen(Engine& engine, WaitNote::State state, std::uint64_t since_ms,
              const core::Request* awaited);
}  // namespace lamina::p2p
