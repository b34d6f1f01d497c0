// SPDX-License-Identifier: BSD-3-Clause
// Constants that nobody has to change.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lamina::rma {

// So many looks at a zone that is held come before the CPU is given up: a stripe takes its holder
// a few microseconds.
inline constexpr std::uint32_t kZoneLooksBeforeYield = 1000;
// One yield of so many looks whether the holder still lives, which takes a system call.
inline constexpr std::uint32_t kYieldsPerLookAround = 1024;
// So many looks at a lock come before its releaser is asked for a nudge.
inline constexpr std::uint32_t kLooksBeforeSleep = 64;
// A process that waits for a lock, or completes accesses to memory that needs nobody's help, looks
// so often whether the members of its node still live.
inline constexpr std::uint64_t kLookAroundMs = 100;

// A process that waits for long asks others so often whether those live whom only they know.
inline constexpr std::uint64_t kAskAroundMs = 500;

// A process that has some of the locks that it wants of all nodes waits so long for the rest before
// it gives them back for the first time. It doubles each time.
inline constexpr std::uint64_t kPatienceMs = 2;

// The agent looks so often whether the application calls MPI.
inline constexpr std::uint32_t kAgentTickMs = 5;

// Data that has to be packed, or copied between processes, goes in pieces of so many bytes. Two of
// them must fit on a stack of 64 KiB.
inline constexpr std::size_t kStagingBytes = std::size_t{16} << 10;
// Pieces of another process's memory that are moved by one call.
inline constexpr std::size_t kPiecesMax = 64;

// A request to a target that is reached by messages has at most so many bytes of data and so many
// runs, so that a target needs one buffer of that size.
inline constexpr std::size_t kRequestDataBytesMax = std::size_t{48} << 10;
inline constexpr std::size_t kRequestRunsMax = 256;
// An answer with data that is scattered in the window has at most so many bytes.
inline constexpr std::int64_t kAnswerBytesMax = std::int64_t{256} << 10;
// What a device says of a window has at most so many bytes.
inline constexpr std::size_t kDescriptionBytesMax = std::size_t{16} << 10;
// So many requests may be on their way before a process waits for room.
inline constexpr std::size_t kRequestsUnderWayMax = 64;

}  // namespace lamina::rma
