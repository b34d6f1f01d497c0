// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/timeline/timeline.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "launcher/timeline/fields.h"
#include "runtime/base/call_names.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// The order is that of TimelineState::levels.
constexpr const char* kLevelNames[] = {"unexpected messages", "bytes of unexpected messages",
                                       "posted receives", "memory", "bytes in flight"};
constexpr std::size_t kMemoryLevel = 3, kInFlightLevel = 4;

class Message {
 public:
  Message& Number(std::uint32_t field, std::uint64_t value) {
    Varint(std::uint64_t{field} << 3);
    Varint(value);
    return *this;
  }
  Message& Fixed(std::uint32_t field, std::uint64_t value) {
    Varint(std::uint64_t{field} << 3 | 1);
    for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<char>(value >> shift));
    return *this;
  }
  Message& Bytes(std::uint32_t field, std::string_view bytes) {
    Varint(std::uint64_t{field} << 3 | 2);
    Varint(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  Message& Nested(std::uint32_t field, const Message& message) {
    return Bytes(field, message.bytes_);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void Varint(std::uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_.push_back(static_cast<char>(value | 128));
    bytes_.push_back(static_cast<char>(value));
  }
  std::string bytes_;
};

std::uint64_t RankTrack(std::uint32_t rank) { return (std::uint64_t{rank} + 1) << 32; }
std::uint64_t ThreadTrack(std::uint32_t rank, std::uint32_t thread) {
  return RankTrack(rank) + thread + 1;
}
// Behind all threads.
std::uint64_t LevelTrack(std::uint32_t rank, std::size_t level) {
  return RankTrack(rank) + UINT32_MAX - level;
}
// Processes of different hosts may have the same number, so ranks take their place.
std::uint64_t PidOf(std::uint32_t rank) { return std::uint64_t{rank} + 1; }
std::uint64_t TidOf(std::uint32_t rank, std::uint32_t thread) {
  constexpr std::uint64_t kThreadsMax = 1024;
  return PidOf(rank) * kThreadsMax + thread % kThreadsMax;
}

void Add(std::uint32_t rank, Message packet, std::string* bytes) {
  packet.Number(kSequence, PidOf(rank));
  *bytes += Message().Nested(kTracePacket, packet).bytes();
}

bool IsCall(std::uint32_t call) {
  return call > 0 && call < static_cast<std::uint32_t>(Call::kCount);
}

Message Annotation(std::string_view name, std::uint64_t value) {
  return Message().Bytes(kAnnotationName, name).Number(kUnsigned, value);
}

// Names of regions have numbers behind those of functions.
std::uint64_t RegionId(std::uint64_t place) {
  return static_cast<std::uint64_t>(Call::kCount) + place;
}

// A number that no other message of the job has, but by an unlikely chance.
std::uint64_t FlowOf(std::uint64_t sender, std::uint64_t receiver, std::uint64_t number) {
  std::uint64_t mixed = (sender << 32 | receiver) + number * 0x9e3779b97f4a7c15;
  for (const int shift : {30, 27}) mixed = (mixed ^ mixed >> shift) * 0xbf58476d1ce4e5b9;
  return mixed ^ mixed >> 31;
}

// Writes the packets of one rank.
class Writer {
 public:
  Writer(const TimelineRank& rank, TimelineState* state) : rank_(rank), state_(*state) {}

  void Take(const TraceRecord& record) {
    if (IsMark(record)) return TakeMark(record);
    if (IsCall(record.call) && record.thread != kNoThread && record.ended_ns >= record.began_ns)
      TakeCall(record);
  }
  void End() {
    for (const auto& [thread, open] : state_.regions)
      for (std::uint32_t i = 0; i < open; ++i)
        Event(state_.last_ns, EventOf(thread, kSliceEnd), kNeedsState);
  }
  std::string bytes() { return std::move(bytes_); }

 private:
  static constexpr std::uint32_t kOpenMax = 1024;  // regions of a thread, which a rank may make up

  Message EventOf(std::uint32_t thread, std::uint64_t type) const {
    return Message().Number(kType, type).Number(kTrackUuid, ThreadTrack(rank_.rank, thread));
  }
  void Event(std::uint64_t ns, const Message& event, std::uint64_t flags) {
    Message packet;
    packet.Number(kTimestamp, ns - static_cast<std::uint64_t>(rank_.clock_ahead_ns));
    if (flags != 0) packet.Number(kSequenceFlags, flags);
    Add(rank_.rank, packet.Nested(kTrackEvent, event), &bytes_);
    state_.last_ns = std::max(state_.last_ns, ns);
  }
  void SetLevel(std::uint64_t ns, std::size_t level, std::uint64_t value) {
    if (state_.levels[level] == value) return;
    state_.levels[level] = value;
    Event(ns,
          Message()
              .Number(kType, kCounterType)
              .Number(kTrackUuid, LevelTrack(rank_.rank, level))
              .Number(kCounterValue, value),
          0);
  }

  void TakeMark(const TraceRecord& mark) {
    const std::uint64_t peer = mark.sent_bytes;
    switch (static_cast<TraceMark>(mark.call)) {
      case TraceMark::kSent:
        if (peer < rank_.ranks)
          state_.flows[mark.thread].begin.push_back(FlowOf(rank_.rank, peer, mark.received_bytes));
        return;
      case TraceMark::kReceived:
        if (peer < rank_.ranks)
          state_.flows[mark.thread].end.push_back(FlowOf(peer, rank_.rank, mark.received_bytes));
        return;
      case TraceMark::kRegionBegin:
        if (mark.thread == kNoThread || mark.sent_bytes >= ProfileTable::kRegions ||
            state_.regions[mark.thread] >= kOpenMax)
          return;
        ++state_.regions[mark.thread];
        return Event(mark.began_ns,
                     EventOf(mark.thread, kSliceBegin).Number(kNameId, RegionId(mark.sent_bytes)),
                     kNeedsState);
      case TraceMark::kRegionEnd:
        // Its begin may have gone with the oldest records.
        if (mark.thread == kNoThread || state_.regions[mark.thread] == 0) return;
        --state_.regions[mark.thread];
        return Event(mark.began_ns, EventOf(mark.thread, kSliceEnd), kNeedsState);
      case TraceMark::kMemory:
        return SetLevel(mark.began_ns, kMemoryLevel, mark.sent_bytes);
      case TraceMark::kInFlight:
        return SetLevel(mark.began_ns, kInFlightLevel, mark.sent_bytes);
    }
  }

  void TakeCall(const TraceRecord& record) {
    Message begin = EventOf(record.thread, kSliceBegin);
    begin.Number(kNameId, record.call);
    if (record.sent_bytes > 0)
      begin.Nested(kAnnotations, Annotation("bytes sent", record.sent_bytes));
    if (record.received_bytes > 0)
      begin.Nested(kAnnotations, Annotation("bytes received", record.received_bytes));
    // A receive that waits begins before its message leaves, so viewers find the flow at its end.
    Message end = EventOf(record.thread, kSliceEnd);
    for (const std::uint32_t thread : {record.thread, kNoThread}) {
      const auto found = state_.flows.find(thread);
      if (found == state_.flows.end()) continue;
      for (const std::uint64_t flow : found->second.begin) begin.Fixed(kFlows, flow);
      for (const std::uint64_t flow : found->second.end) end.Fixed(kEndingFlows, flow);
      state_.flows.erase(found);
    }
    Event(record.began_ns, begin, kNeedsState);
    Event(record.ended_ns, end, kNeedsState);
    const std::uint64_t now[] = {record.unexpected, record.unexpected_bytes, record.posted};
    for (std::size_t level = 0; level < std::size(now); ++level)
      SetLevel(record.ended_ns, level, now[level]);
  }

  const TimelineRank& rank_;
  TimelineState& state_;
  std::string bytes_;
};

}  // namespace

std::string TimelineHead(const TimelineRank& rank, const TraceCopy& copy) {
  std::set<std::uint32_t> threads;
  std::set<std::uint32_t> calls;
  std::set<std::uint64_t> regions;
  for (const TraceRecord& record : copy.records) {
    if (record.thread != kNoThread) threads.insert(record.thread);
    if (IsCall(record.call)) calls.insert(record.call);
    if (record.call == static_cast<std::uint32_t>(TraceMark::kRegionBegin) &&
        record.sent_bytes < ProfileTable::kRegions)
      regions.insert(record.sent_bytes);
  }
  std::string name = Format("rank %u on %s", rank.rank, rank.host.c_str());
  if (copy.lost > 0)
    name += Format(" (%llu %s calls had no room)", static_cast<unsigned long long>(copy.lost),
                   copy.keeps_first ? "later" : "earlier");
  std::string bytes;
  Message names;
  for (const std::uint32_t call : calls)
    names.Nested(kEventNames,
                 Message().Number(kId, call).Bytes(kName, NameOf(static_cast<Call>(call))));
  for (const std::uint64_t place : regions)
    names.Nested(kEventNames,
                 Message()
                     .Number(kId, RegionId(place))
                     .Bytes(kName, place < copy.regions.size() ? copy.regions[place] : "region"));
  Add(rank.rank,
      Message()
          .Number(kSequenceFlags, kCleared)
          .Nested(kInternedData, names)
          .Nested(
              kTrackDescriptor,
              Message()
                  .Number(kUuid, RankTrack(rank.rank))
                  .Nested(
                      kProcess,
                      Message().Number(kProcessPid, PidOf(rank.rank)).Bytes(kProcessName, name))),
      &bytes);
  for (std::size_t level = 0; level < std::size(kLevelNames); ++level)
    Add(rank.rank,
        Message().Nested(kTrackDescriptor, Message()
                                               .Number(kUuid, LevelTrack(rank.rank, level))
                                               .Number(kParent, RankTrack(rank.rank))
                                               .Bytes(kTrackName, kLevelNames[level])
                                               .Nested(kCounter, Message())),
        &bytes);
  for (const std::uint32_t thread : threads)
    Add(rank.rank,
        Message().Nested(
            kTrackDescriptor,
            Message()
                .Number(kUuid, ThreadTrack(rank.rank, thread))
                .Number(kParent, RankTrack(rank.rank))
                .Nested(kThread, Message()
                                     .Number(kThreadPid, PidOf(rank.rank))
                                     .Number(kThreadTid, TidOf(rank.rank, thread))
                                     .Bytes(kThreadName, Format("thread %u in MPI", thread)))),
        &bytes);
  return bytes;
}

std::string TimelineSlices(const TimelineRank& rank, std::span<const TraceRecord> records,
                           TimelineState* state) {
  Writer writer(rank, state);
  for (const TraceRecord& record : records) writer.Take(record);
  return writer.bytes();
}

std::string TimelineEnd(const TimelineRank& rank, const TimelineState& state) {
  TimelineState last = state;
  Writer writer(rank, &last);
  writer.End();
  return writer.bytes();
}

}  // namespace lamina::launcher
