// SPDX-License-Identifier: BSD-3-Clause
// What every process counts of its own doings, and how the numbers lie in its memory.
//
// runtime/trace counts. The process notes in its event ring where the numbers are, and the launcher
// reads them there (launcher/top), so counting costs nothing more for being seen.
//
// Layout:  Two processes share it, so both must come from one version.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lamina::trace {

// Counters say how often something has happened since the process began. They are never reset,
// because handles of performance variables remember where they started.
enum class Counter : std::uint32_t {
  kEagerSent,
  kEagerSentBytes,
  kRendezvousSent,
  kRendezvousSentBytes,
  kZeroCopySent,
  kZeroCopySentBytes,
  kEagerReceived,
  kEagerReceivedBytes,
  kRendezvousReceived,
  kRendezvousReceivedBytes,
  kZeroCopyReceived,
  kZeroCopyReceivedBytes,
  kUnexpected,
  kPolls,
  kWaits,
  kYields,
  kSleeps,
  kSleptNs,
  kPlanHits,
  kPlanMisses,
  kMappedAccesses,
  kMappedBytes,
  kCopiedAccesses,
  kCopiedBytes,
  kFramedAccesses,
  kFramedBytes,
  kDeviceAccesses,
  kDeviceBytes,
  kRequestsServed,
  kLockWaits,
  kZoneWaits,
  kAgentTurns,
  kFileReads,
  kFileReadBytes,
  kFileWrites,
  kFileWrittenBytes,
  kFileExchanges,
  kFileWindows,
  kFilePatches,
  kCount
};

// Levels say how much there is of something now, and some of them also the most there was since
// somebody asked to watch.
enum class Level : std::uint32_t {
  kUnexpected,
  kUnexpectedBytes,
  kPosted,     // receives that wait
  kRequests,   // made and not yet freed
  kConnected,  // peers spoken with
  kCount
};

constexpr std::size_t Index(Counter counter) { return static_cast<std::size_t>(counter); }
constexpr std::size_t Index(Level level) { return static_cast<std::size_t>(level); }

struct Numbers {
  static constexpr std::uint64_t kMagic = 0x3163696e696d614c;

  std::uint64_t magic;
  std::uint64_t counters[Index(Counter::kCount)];
  std::uint64_t levels[Index(Level::kCount)];
  std::uint64_t marks[Index(Level::kCount)];  // high-water marks
};

}  // namespace lamina::trace
