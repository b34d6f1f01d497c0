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
  std::uint64_t calls;
  std::uint64_t keeps_first;
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

bool SizeRingFile(int ring, bool profiled, std::uint64_t trace_bytes, bool keeps_first) {
  if (ftruncate(ring, static_cast<off_t>(RingFileBytes(profiled, trace_bytes))) != 0) return false;
  const TableHead head{
      TraceTable::kMagic, trace_bytes / sizeof(TraceRecord), 0, 0, keeps_first ? 1u : 0u, 0};
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
  copy.keeps_first = head.keeps_first != 0;
  copy.records.resize(kept);
  const std::uint64_t first = copy.keeps_first ? 0 : (head.next - kept) % head.capacity;
  const std::uint64_t straight = std::min(kept, head.capacity - first);
  if (!ReadRecords(ring, first, straight, copy.records.data()) ||
      !ReadRecords(ring, 0, kept - straight, copy.records.data() + straight))
    return {};
  const auto calls = static_cast<std::uint64_t>(
      std::ranges::count_if(copy.records, [](const TraceRecord& it) { return !IsMark(it); }));
  copy.lost = head.calls - std::min(head.calls, calls);
  const auto profile = std::make_unique<ProfileTable>();
  if (pread(ring, profile.get(), sizeof *profile, kEventRingBytes) !=
      static_cast<ssize_t>(sizeof *profile))
    return copy;
  for (const ProfileRegion& region : profile->regions) {
    copy.regions.emplace_back(region.name, strnlen(region.name, sizeof region.name));
  }
  while (!copy.regions.empty() && copy.regions.back().empty()) copy.regions.pop_back();
  if (profile->open_call == 0 || profile->finalized != 0 ||
      (copy.keeps_first && head.next > head.capacity))
    return copy;
  // How much there is now is not known, so nothing changes in that.
  TraceRecord open{profile->open_since_ns,
                   MonotonicNs(),
                   0,
                   0,
                   static_cast<std::uint32_t>(profile->open_call),
                   0,
                   0,
                   0,
                   0};
  const auto last = std::find_if(copy.records.rbegin(), copy.records.rend(),
                                 [](const TraceRecord& it) { return !IsMark(it); });
  if (last != copy.records.rend()) {
    open.unexpected = last->unexpected;
    open.posted = last->posted;
    open.unexpected_bytes = last->unexpected_bytes;
  }
  copy.records.push_back(open);
  return copy;
}

namespace {

// What comes before the names of the regions and the records.
struct CopyHead {
  std::uint64_t lost;
  std::uint32_t keeps_first;
  std::uint32_t regions;
};
using CopiedName = char[sizeof ProfileRegion::name];

}  // namespace

std::string Encode(const TraceCopy& copy) {
  const CopyHead head{copy.lost, copy.keeps_first ? 1u : 0u,
                      static_cast<std::uint32_t>(copy.regions.size())};
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  for (const std::string& region : copy.regions) {
    CopiedName name = {};
    region.copy(name, sizeof name - 1);
    bytes.append(name, sizeof name);
  }
  return bytes.append(reinterpret_cast<const char*>(copy.records.data()),
                      copy.records.size() * sizeof(TraceRecord));
}

TraceCopy DecodeTrace(std::string_view bytes) {
  TraceCopy copy;
  CopyHead head;
  if (bytes.size() < sizeof head) return copy;
  std::memcpy(&head, bytes.data(), sizeof head);
  bytes.remove_prefix(sizeof head);
  if (head.regions > bytes.size() / sizeof(CopiedName)) return copy;
  copy.lost = head.lost;
  copy.keeps_first = head.keeps_first != 0;
  for (std::uint32_t region = 0; region < head.regions; ++region) {
    copy.regions.emplace_back(bytes.data(), strnlen(bytes.data(), sizeof(CopiedName) - 1));
    bytes.remove_prefix(sizeof(CopiedName));
  }
  copy.records.resize(bytes.size() / sizeof(TraceRecord));
  if (!copy.records.empty())
    std::memcpy(copy.records.data(), bytes.data(), copy.records.size() * sizeof(TraceRecord));
  return copy;
}

}  // namespace lamina
