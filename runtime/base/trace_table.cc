// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/trace_table.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "runtime/base/clock.h"

namespace lamina {
namespace {

constexpr off_t kTablePlace = kProfiledRingBytes;
constexpr off_t kRecordsPlace = kTablePlace + static_cast<off_t>(sizeof(TraceTable));

// The numbers in front of the records, which a reader has to take at once.
struct TableHead {
  std::uint64_t magic;
  std::uint64_t capacity;
  std::uint64_t next;
  std::uint64_t unused;
};
static_assert(sizeof(TableHead) == sizeof(TraceTable));

bool ReadRecords(int ring, std::uint64_t first, std::size_t count, TraceRecord* records) {
  const std::size_t bytes = count * sizeof(TraceRecord);
  return pread(ring, records, bytes,
               kRecordsPlace + static_cast<off_t>(first * sizeof(TraceRecord))) ==
         static_cast<ssize_t>(bytes);
}

}  // namespace

std::size_t RingFileBytes(bool profiled, std::uint64_t trace_bytes) {
  if (trace_bytes == 0) return profiled ? kProfiledRingBytes : kEventRingBytes;
  return static_cast<std::size_t>(kRecordsPlace) +
         trace_bytes / sizeof(TraceRecord) * sizeof(TraceRecord);
}

bool SizeRingFile(int ring, bool profiled, std::uint64_t trace_bytes) {
  if (ftruncate(ring, static_cast<off_t>(RingFileBytes(profiled, trace_bytes))) != 0) return false;
  const TableHead head{TraceTable::kMagic, trace_bytes / sizeof(TraceRecord), 0, 0};
  return trace_bytes == 0 ||
         pwrite(ring, &head, sizeof head, kTablePlace) == static_cast<ssize_t>(sizeof head);
}

TraceCopy CopyTrace(int ring) {
  TraceCopy copy;
  TableHead head;
  if (pread(ring, &head, sizeof head, kTablePlace) != static_cast<ssize_t>(sizeof head) ||
      head.magic != TraceTable::kMagic || head.capacity == 0)
    return copy;
  const std::uint64_t kept = std::min(head.next, head.capacity);
  copy.lost = head.next - kept;
  copy.records.resize(kept);
  const std::uint64_t first = (head.next - kept) % head.capacity;
  const std::uint64_t straight = std::min(kept, head.capacity - first);
  if (!ReadRecords(ring, first, straight, copy.records.data()) ||
      !ReadRecords(ring, 0, kept - straight, copy.records.data() + straight))
    return {};
  const auto profile = std::make_unique<ProfileTable>();
  if (pread(ring, profile.get(), sizeof *profile, kEventRingBytes) ==
          static_cast<ssize_t>(sizeof *profile) &&
      profile->open_call != 0 && profile->finalized == 0)
    // How much there is now is not known, so nothing changes in that.
    copy.records.push_back({profile->open_since_ns, MonotonicNs(), 0, 0,
                            static_cast<std::uint32_t>(profile->open_call), 0,
                            kept > 0 ? copy.records[kept - 1].unexpected : 0,
                            kept > 0 ? copy.records[kept - 1].posted : 0,
                            kept > 0 ? copy.records[kept - 1].unexpected_bytes : 0});
  return copy;
}

std::string Encode(const TraceCopy& copy) {
  std::string bytes(reinterpret_cast<const char*>(&copy.lost), sizeof copy.lost);
  bytes.append(reinterpret_cast<const char*>(copy.records.data()),
               copy.records.size() * sizeof(TraceRecord));
  return bytes;
}

TraceCopy DecodeTrace(std::string_view bytes) {
  TraceCopy copy;
  if (bytes.size() < sizeof copy.lost) return copy;
  std::memcpy(&copy.lost, bytes.data(), sizeof copy.lost);
  bytes.remove_prefix(sizeof copy.lost);
  copy.records.resize(bytes.size() / sizeof(TraceRecord));
  if (!copy.records.empty())
    std::memcpy(copy.records.data(), bytes.data(), copy.records.size() * sizeof(TraceRecord));
  return copy;
}

}  // namespace lamina
