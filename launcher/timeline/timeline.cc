// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/timeline/timeline.h"

#include <set>
#include <string_view>

#include "launcher/timeline/fields.h"
#include "runtime/base/call_names.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// The order is that of TimelineLevels.
constexpr const char* kLevelNames[] = {"unexpected messages", "bytes of unexpected messages",
                                       "posted receives"};

class Message {
 public:
  Message& Number(std::uint32_t field, std::uint64_t value) {
    Varint(std::uint64_t{field} << 3);
    Varint(value);
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

}  // namespace

std::string TimelineHead(const TimelineRank& rank, std::span<const TraceRecord> records) {
  std::set<std::uint32_t> threads;
  std::set<std::uint32_t> calls;
  for (const TraceRecord& record : records) {
    threads.insert(record.thread);
    if (IsCall(record.call)) calls.insert(record.call);
  }
  std::string name = Format("rank %u on %s", rank.rank, rank.host.c_str());
  if (rank.lost > 0)
    name += Format(" (%llu earlier calls had no room)", static_cast<unsigned long long>(rank.lost));
  std::string bytes;
  Message names;
  for (const std::uint32_t call : calls)
    names.Nested(kEventNames,
                 Message().Number(kId, call).Bytes(kName, NameOf(static_cast<Call>(call))));
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
                           TimelineLevels* levels) {
  std::string bytes;
  for (const TraceRecord& record : records) {
    if (!IsCall(record.call) || record.ended_ns < record.began_ns) continue;
    const auto ours = [&](std::uint64_t ns) {
      return ns - static_cast<std::uint64_t>(rank.clock_ahead_ns);
    };
    const std::uint64_t track = ThreadTrack(rank.rank, record.thread);
    Message begin;
    begin.Number(kType, kSliceBegin).Number(kTrackUuid, track).Number(kNameId, record.call);
    if (record.sent_bytes > 0)
      begin.Nested(kAnnotations, Annotation("bytes sent", record.sent_bytes));
    if (record.received_bytes > 0)
      begin.Nested(kAnnotations, Annotation("bytes received", record.received_bytes));
    Add(rank.rank,
        Message()
            .Number(kTimestamp, ours(record.began_ns))
            .Number(kSequenceFlags, kNeedsState)
            .Nested(kTrackEvent, begin),
        &bytes);
    Add(rank.rank,
        Message()
            .Number(kTimestamp, ours(record.ended_ns))
            .Number(kSequenceFlags, kNeedsState)
            .Nested(kTrackEvent, Message().Number(kType, kSliceEnd).Number(kTrackUuid, track)),
        &bytes);
    const TimelineLevels now = {record.unexpected, record.unexpected_bytes, record.posted};
    for (std::size_t level = 0; level < now.size(); ++level)
      if (now[level] != (*levels)[level])
        Add(rank.rank,
            Message()
                .Number(kTimestamp, ours(record.ended_ns))
                .Nested(kTrackEvent, Message()
                                         .Number(kType, kCounterType)
                                         .Number(kTrackUuid, LevelTrack(rank.rank, level))
                                         .Number(kCounterValue, now[level])),
            &bytes);
    *levels = now;
  }
  return bytes;
}

}  // namespace lamina::launcher
