// SPDX-License-Identifier: BSD-3-Clause
// Numbers that must not be mistaken for one another. They never convert silently.
#pragma once

#include <cstdint>

namespace lamina {

// A process of the job as this process knows it, 0-based; an index into the peer table, whatever
// communicators the process belongs to. In the first world it equals the rank in MPI_COMM_WORLD.
enum class PeerId : std::uint32_t {};
inline constexpr PeerId kNoPeer{0xffffffffu};

// One matching space, 56 bits. Even: point-to-point of a communicator; the odd one above it: its
// collectives. See runtime/p2p/context.cc for how they are made unique without a fixed limit.
enum class ContextId : std::uint64_t {};

constexpr std::uint32_t Index(PeerId id) { return static_cast<std::uint32_t>(id); }
constexpr std::uint64_t Index(ContextId id) { return static_cast<std::uint64_t>(id); }

// A rank within a communicator stays an int, as MPI has it: MPI_ANY_SOURCE and MPI_PROC_NULL are
// ranks too.
using Rank = int;

}  // namespace lamina
