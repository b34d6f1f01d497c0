// SPDX-License-Identifier: BSD-3-Clause
// The field numbers of Perfetto's messages that traces consist of; README.md has them as a table.
#pragma once

#include <cstdint>

namespace lamina::launcher {

inline constexpr std::uint32_t kTracePacket = 1;  // Trace
inline constexpr std::uint32_t kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInternedData = 12,
                               kSequenceFlags = 13,
                               kTrackDescriptor = 60;  // TracePacket
inline constexpr std::uint32_t kUuid = 1, kTrackName = 2, kProcess = 3, kThread = 4, kParent = 5,
                               kCounter = 8;  // TrackDescriptor
inline constexpr std::uint32_t kProcessPid = 1, kProcessName = 6;
inline constexpr std::uint32_t kThreadPid = 1, kThreadTid = 2, kThreadName = 5;
inline constexpr std::uint32_t kAnnotations = 4, kType = 9, kNameId = 10, kTrackUuid = 11,
                               kCounterValue = 30, kFlows = 47, kEndingFlows = 48;  // TrackEvent
inline constexpr std::uint32_t kUnsigned = 3, kAnnotationName = 10;  // DebugAnnotation
inline constexpr std::uint32_t kEventNames = 2, kId = 1, kName = 2;  // InternedData, EventName
inline constexpr std::uint64_t kSliceBegin = 1, kSliceEnd = 2, kCounterType = 4;  // kType
inline constexpr std::uint64_t kCleared = 1, kNeedsState = 2;                     // SequenceFlags

}  // namespace lamina::launcher
