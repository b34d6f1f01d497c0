// SPDX-License-Identifier: BSD-3-Clause
// These types tell apart numbers that must not be mistaken for one another. They never convert
// silently.
#pragma once

#include <cstdint>

namespace lamina {

// A PeerId is a process of the job as this process knows it: a 0-based index into the peer table,
// whatever communicators the process belongs to. In the first world it equals the rank in
// MPI_COMM_WORLD.
enum class PeerId : std::uint32_t {};
inline constexpr PeerId kNoPeer{0xffffffffu};

// A ContextId names one matching space; it has 56 bits. A communicator owns kPlanes of them in a
// row: for point-to-point, for collectives, for communicators in the making, and for partitioned
// messages. runtime/p2p/context.cc makes them unique without a fixed limit.
enum class ContextId : std::uint64_t {};
inline constexpr std::uint64_t kPlanes = 4;
// A communicator has this context until its members have agreed on one.
inline constexpr ContextId kNoContext{0xfffffffffffffcu};

// An Epoch is the number of a saved state of a job, from 1 on; 0 is none.
enum class Epoch : std::uint32_t {};

constexpr std::uint32_t Index(PeerId id) { return static_cast<std::uint32_t>(id); }
constexpr std::uint32_t Index(Epoch epoch) { return static_cast<std::uint32_t>(epoch); }
constexpr std::uint64_t Index(ContextId id) { return static_cast<std::uint64_t>(id); }

// A rank within a communicator stays an int, as in MPI, because MPI_ANY_SOURCE and MPI_PROC_NULL
// are ranks too.
using Rank = int;

}  // namespace lamina
