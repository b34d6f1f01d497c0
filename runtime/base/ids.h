// SPDX-License-Identifier: BSD-3-Clause
// Numbers that must not be mistaken for one another. They never convert silently.
#pragma once

#include <cstdint>

namespace lamina {

// A process of the job as this process knows it, 0-based; an index into the peer table, whatever
// communicators the process belongs to. In the first world it equals the rank in MPI_COMM_WORLD.
enum class PeerId : std::uint32_t {};
inline constexpr PeerId kNoPeer{0xffffffffu};

// One matching space, 56 bits. A communicator has four in a row, its planes: point-to-point,
// collectives, communicators in the making, and one in reserve. See runtime/p2p/context.cc for how
// they are made unique without a fixed limit.
enum class ContextId : std::uint64_t {};
inline constexpr std::uint64_t kPlanes = 4;
// Nobody's: of a communicator whose members have not agreed yet.
inline constexpr ContextId kNoContext{0xfffffffffffffcu};

constexpr std::uint32_t Index(PeerId id) { return static_cast<std::uint32_t>(id); }
constexpr std::uint64_t Index(ContextId id) { return static_cast<std::uint64_t>(id); }

// A rank within a communicator stays an int, as MPI has it: MPI_ANY_SOURCE and MPI_PROC_NULL are
// ranks too.
using Rank = int;

}  // namespace lamina
